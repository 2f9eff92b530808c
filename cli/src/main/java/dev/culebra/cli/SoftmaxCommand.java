package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorFormatException;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.ops.Softmax;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code culebra softmax}: the softmax along the last axis of a tensor in a file. */
@Command(
    name = "softmax",
    description = {
      "Softmax along the last axis of a tensor of any rank; the result has its type and shape.",
      "A row with NaN or +inf, or of nothing but -inf, becomes NaN.",
      "Tensors and rows may be larger than the device's memory.",
      "With --gradient: the way back, from the result of a softmax to the gradient of its input."
    })
final class SoftmaxCommand implements Callable<Integer> {
  /** The algorithms, and the choice to leave the choice to Culebra. */
  enum Choice {
    NAIVE,
    SAFE,
    ONLINE,
    SPLIT,
    FUSED,
    AUTO;

    Softmax.Algorithm algorithm() {
      return switch (this) {
        case NAIVE -> Softmax.Algorithm.NAIVE;
        case SAFE -> Softmax.Algorithm.SAFE;
        case ONLINE -> Softmax.Algorithm.ONLINE;
        case SPLIT -> Softmax.Algorithm.SPLIT;
        case FUSED -> Softmax.Algorithm.FUSED;
        case AUTO -> Softmax.Algorithm.AUTO;
      };
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Surroundings surroundings;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "IN", description = "The logits: F16, BF16, F32 or F64.")
  private TensorLocation in = new TensorLocation("", null);

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "OUT",
      description = "Where the result goes; it appears when it is complete.")
  private TensorLocation out = new TensorLocation("", null);

  @Option(
      names = "--algorithm",
      paramLabel = "NAME",
      description = {
        "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.",
        "naive does not subtract the maximum. If exp of a scaled logit overflows (above 88; in F64"
            + " above 709), that entry becomes NaN and the finite others of its row 0, with --log"
            + " all of them -inf. If exp of all of a row underflows (below -104; in F64 below -745),"
            + " the row becomes NaN, with --log +inf. Close to that it loses digits."
      })
  private Choice algorithm = Choice.AUTO;

  @Option(names = "--log", description = "The logarithm of the softmax.")
  private boolean log;

  @Option(
      names = "--scale",
      paramLabel = "S",
      description = "Multiply the logits by S first. Default: 1.")
  private double scale = 1;

  @Option(
      names = "--zero-empty-rows",
      description = "Rows without elements, all masked or -inf, become 0 (--log: -inf), not NaN.")
  private boolean zeroEmptyRows;

  @Mixin private final SoftmaxMasks masks = new SoftmaxMasks();

  @Option(
      names = "--gradient",
      paramLabel = "FILE",
      description = {
        "Take IN as the result of a softmax (--log: of a log-softmax) with --scale, FILE as the"
            + " gradient with respect to it, of the same type and shape, and write the gradient with"
            + " respect to the input of that softmax. Masks are not needed: masked results are 0."
      })
  private @Nullable TensorLocation gradient;

  @Mixin private final DeviceOption device = new DeviceOption();

  @Option(names = "--json", description = "Print one JSON object instead of a line.")
  private boolean json;

  SoftmaxCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws IOException {
    TensorArguments arguments = new TensorArguments(surroundings, spec.commandLine());
    TensorLocation dy = gradient;
    List<TensorLocation> inputs = new ArrayList<>(masks.locations());
    inputs.add(in);
    if (dy != null) {
      inputs.add(dy);
    }
    inputs.forEach(input -> arguments.checkOutput(input, out, json));
    if (inputs.stream().filter(TensorLocation::isStream).count() > 1) {
      throw wrong("only one of the inputs can be - (standard input)");
    }
    checkOptions();
    try (TensorFile file = arguments.open(in)) {
      TensorData tensor = arguments.computable(file, in, true);
      checkScale(tensor.spec());
      TensorSpec result =
          new TensorSpec(
              TensorArguments.outputName(out, tensor.spec(), dy == null ? "softmax" : "gradient"),
              tensor.spec().dtype(),
              tensor.spec().shape());
      arguments.checkResult(out, result, file.metadata());
      Job job = new Job(arguments, file, tensor, result);
      ElementType<?> type = TensorArguments.elementType(result.dtype());
      RunReport report = dy == null ? softmax(job, type) : gradient(job, dy, type);
      report.printWritten(surroundings, out, json);
    }
    return ExitStatus.OK;
  }

  /** The input, and what comes of it. */
  private record Job(
      TensorArguments arguments, TensorFile file, TensorData tensor, TensorSpec result) {}

  private void checkOptions() {
    if (!Double.isFinite(scale)) {
      throw wrong("--scale " + scale + ": it must be a finite number");
    }
    boolean ladder =
        algorithm == Choice.NAIVE || algorithm == Choice.SAFE || algorithm == Choice.ONLINE;
    if (ladder && (!masks.locations().isEmpty() || zeroEmptyRows)) {
      throw wrong(
          "--algorithm %s takes no masks and has no --zero-empty-rows; use auto, split or fused"
              .formatted(algorithm));
    }
    if (gradient != null
        && (!masks.locations().isEmpty() || zeroEmptyRows || algorithm != Choice.AUTO)) {
      throw wrong(
          "--gradient takes no masks, no --zero-empty-rows and no --algorithm: the result of the"
              + " softmax says all that it needs");
    }
  }

  private void checkScale(TensorSpec input) {
    double maxScale = Softmax.maxScale(TensorArguments.elementType(input.dtype()));
    if (Math.abs(scale) > maxScale) {
      throw wrong(
          "--scale %s: for %s it may be at most %s".formatted(scale, input.dtype(), maxScale));
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  private <E extends ElementType<E>> RunReport softmax(Job job, ElementType<E> type)
      throws IOException {
    long startNanos = System.nanoTime();
    try (SoftmaxMasks.Opened opened = masks.open(job.arguments, job.tensor.spec());
        OpenDevice open = OpenDevice.open(surroundings, device)) {
      TensorSoftmax<E> softmax =
          new TensorSoftmax<>(
              surroundings,
              open,
              job.file,
              job.tensor,
              opened,
              type,
              new TensorSoftmax.Options(algorithm.algorithm(), log, scale, zeroEmptyRows));
      String kernel = kernelName(softmax);
      softmax.warmUp();
      write(job, softmax::run);
      return new RunReport(
          log ? "log-softmax" : "softmax",
          open.device(),
          kernel,
          job.tensor.spec(),
          softmax.accesses() * job.result.byteSize(),
          softmax.kernelSeconds(),
          (System.nanoTime() - startNanos) * 1e-9);
    }
  }

  private <E extends ElementType<E>> RunReport gradient(
      Job job, TensorLocation dy, ElementType<E> type) throws IOException {
    long startNanos = System.nanoTime();
    try (TensorFile dyFile = job.arguments.open(dy)) {
      TensorData dyTensor = dyFile.tensor(dy.tensor());
      requireLike(dy, dyTensor.spec(), job.tensor.spec());
      return gradient(job, new TensorSoftmaxGradient.Source(dyFile, dyTensor), type, startNanos);
    }
  }

  private <E extends ElementType<E>> RunReport gradient(
      Job job, TensorSoftmaxGradient.Source dy, ElementType<E> type, long startNanos)
      throws IOException {
    try (OpenDevice open = OpenDevice.open(surroundings, device)) {
      TensorSoftmaxGradient<E> run =
          new TensorSoftmaxGradient<>(
              surroundings,
              open,
              new TensorSoftmaxGradient.Source(job.file, job.tensor),
              dy,
              type,
              log,
              scale);
      String kernel = run.kernelName();
      run.warmUp();
      write(job, run::run);
      return new RunReport(
          log ? "gradient of log-softmax" : "gradient of softmax",
          open.device(),
          kernel,
          job.tensor.spec(),
          3 * job.result.byteSize(),
          run.kernelSeconds(),
          (System.nanoTime() - startNanos) * 1e-9);
    }
  }

  private static void requireLike(TensorLocation dy, TensorSpec is, TensorSpec y)
      throws TensorFormatException {
    if (is.dtype() != y.dtype() || !Arrays.equals(is.shape(), y.shape())) {
      throw TensorArguments.refuse(
          dy,
          is,
          "it is %s %s; a gradient has type and shape of the result, %s %s"
              .formatted(
                  is.dtype(),
                  Quantities.shape(is.shape()),
                  y.dtype(),
                  Quantities.shape(y.shape())));
    }
  }

  /** Gives the result piece by piece. */
  private interface Producing {
    void run(TensorReduction.ResultSink sink) throws IOException;
  }

  /** Not begun before the device has shown that it works: a driver that aborts deletes nothing. */
  private void write(Job job, Producing producing) throws IOException {
    try (TensorWriter writer = job.arguments.create(out, job.result, job.file.metadata())) {
      producing.run(bytes -> writer.append(job.result.name(), bytes));
      writer.commit();
    }
  }

  /** Found before the first row is read: whether rows fit on chip depends on the device. */
  private String kernelName(TensorSoftmax<?> softmax) throws IOException {
    try {
      return softmax.kernelName();
    } catch (IllegalArgumentException e) {
      throw wrong("--algorithm %s: %s".formatted(algorithm, e.getMessage()));
    }
  }
}

package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorFormatException;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.ops.Softmax;
import dev.culebra.ops.TopK;
import java.io.IOException;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code culebra topk}: the K most probable of each row of a tensor in a file. */
@Command(
    name = "topk",
    description = {
      "The K largest of each row of the last axis: their softmax probabilities, in the type of the"
          + " logits, and their places in the row.",
      "The largest comes first, of equal ones that with the lower index; NaN counts as the largest."
          + " A row with NaN or +inf, or of nothing but -inf, has NaN for its probabilities."
    })
final class TopKCommand implements Callable<Integer> {
  /** How softmax and top-k follow each other. */
  enum Choice {
    FUSED(TopK.Algorithm.FUSED),
    SAFE(TopK.Algorithm.SAFE_UNFUSED),
    ONLINE(TopK.Algorithm.ONLINE_UNFUSED);

    private final TopK.Algorithm algorithm;

    Choice(TopK.Algorithm algorithm) {
      this.algorithm = algorithm;
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final Set<DType> TYPES = EnumSet.of(DType.F16, DType.BF16, DType.F32);
  private static final String INDICES = "indices";

  private final Surroundings surroundings;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "IN", description = "The logits: F16, BF16 or F32.")
  private TensorLocation in = new TensorLocation("", null);

  @Option(
      names = "-k",
      required = true,
      paramLabel = "K",
      description = "How many of each row, from 1 to 1024.")
  private int k;

  @Option(
      names = {"-o", "--output"},
      required = true,
      paramLabel = "OUT",
      description = {
        "A .safetensors with two tensors: probabilities (log_probabilities, elements) and indices.",
        "It appears when it is complete."
      })
  private TensorLocation out = new TensorLocation("", null);

  @Option(
      names = "--algorithm",
      paramLabel = "NAME",
      description = {
        "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.",
        "fused reads the logits once. safe and online write the whole softmax first and choose among"
            + " its rounded probabilities; they are there to be compared with."
      })
  private Choice algorithm = Choice.FUSED;

  @Option(names = "--log", description = "The logarithms of the probabilities.")
  private boolean log;

  @Option(
      names = "--no-softmax",
      description = "The elements themselves; of a negative scale the smallest.")
  private boolean noSoftmax;

  @Option(
      names = "--scale",
      paramLabel = "S",
      description = "Multiply the logits by S first. Default: 1.")
  private double scale = 1;

  @Option(
      names = "--index-type",
      paramLabel = "TYPE",
      description = "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
  private IndexType indexType = IndexType.I32;

  @Mixin private final DeviceOption device = new DeviceOption();

  @Option(names = "--json", description = "Print one JSON object instead of a line.")
  private boolean json;

  TopKCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws IOException {
    TensorArguments arguments = new TensorArguments(surroundings, spec.commandLine());
    checkOptions();
    arguments.checkOutput(in, out, json);
    try (TensorFile file = arguments.open(in)) {
      TensorData tensor = arguments.computable(file, in, true, TYPES);
      checkAgainst(tensor.spec());
      Results results = resultsOf(tensor.spec());
      arguments.checkResults(out, results.specs(), file.metadata());
      RunReport report =
          compute(
              arguments,
              file,
              tensor,
              results,
              TensorArguments.elementType(tensor.spec().dtype()),
              TensorArguments.elementType(results.indices().dtype()));
      report.printWritten(surroundings, out, json);
    }
    return ExitStatus.OK;
  }

  private void checkOptions() {
    int most = TopK.mostK();
    if (k < 1 || k > most) {
      throw wrong("-k " + k + ": it must be from 1 to " + most);
    }
    if (!Double.isFinite(scale)) {
      throw wrong("--scale " + scale + ": it must be a finite number");
    }
    if (noSoftmax && log) {
      throw wrong("--log is about a softmax, and --no-softmax leaves it out; choose one");
    }
    if (noSoftmax && algorithm != Choice.FUSED) {
      throw wrong("--algorithm " + algorithm + " has a softmax, and --no-softmax leaves it out");
    }
    if (out.tensor() != null) {
      throw wrong(
          out + ": the result is two tensors, whose names are given; leave out #" + out.tensor());
    }
  }

  private void checkAgainst(TensorSpec input) throws TensorFormatException {
    long length = input.shape()[input.rank() - 1];
    if (length < k) {
      throw wrong("-k " + k + ": a row of the input has only " + length + " elements");
    }
    if (length > Integer.MAX_VALUE) {
      throw TensorArguments.refuse(
          in,
          input,
          "a row has %d elements, at most %d are taken".formatted(length, Integer.MAX_VALUE));
    }
    double maxScale = Softmax.maxScale(TensorArguments.elementType(input.dtype()));
    if (Math.abs(scale) > maxScale) {
      throw wrong(
          "--scale %s: for %s it may be at most %s".formatted(scale, input.dtype(), maxScale));
    }
  }

  private ParameterException wrong(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** The two tensors of the output. */
  private record Results(TensorSpec values, TensorSpec indices) {
    List<TensorSpec> specs() {
      return List.of(values, indices);
    }
  }

  private Results resultsOf(TensorSpec input) {
    long[] shape = input.shape();
    shape[shape.length - 1] = k;
    String values = content().name().toLowerCase(Locale.ROOT);
    return new Results(
        new TensorSpec(values, input.dtype(), shape),
        new TensorSpec(INDICES, DType.valueOf(indexType.name()), shape));
  }

  private TopK.Content content() {
    return noSoftmax
        ? TopK.Content.ELEMENTS
        : log ? TopK.Content.LOG_PROBABILITIES : TopK.Content.PROBABILITIES;
  }

  private <E extends ElementType<E>> RunReport compute(
      TensorArguments arguments,
      TensorFile file,
      TensorData tensor,
      Results results,
      ElementType<E> type,
      ElementType<?> placeType)
      throws IOException {
    long startNanos = System.nanoTime();
    try (OpenDevice open = OpenDevice.open(surroundings, device)) {
      TopK topK =
          TopK.of(open.context(), k)
              .withContent(content())
              .withAlgorithm(algorithm.algorithm)
              .withScale(scale);
      try (RowPassage<E> rows =
          new RowPassage<>(
              surroundings,
              open,
              file,
              tensor,
              type,
              List.of(new RowPassage.Result(type, k), new RowPassage.Result(placeType, k)),
              algorithm == Choice.FUSED ? 0 : 1,
              (logits, first, out, stream) ->
                  topK.forward(
                      logits,
                      TensorView.of(out.get(0).as(type), logits.length(0), k),
                      TensorView.of(out.get(1), logits.length(0), k),
                      stream))) {
        rows.warmUp();
        // Not begun before the device has shown that it works: a driver that aborts deletes
        // nothing.
        try (TensorWriter writer = arguments.createFile(out, results.specs(), file.metadata())) {
          rows.run((i, bytes) -> writer.append(results.specs().get(i).name(), bytes));
          writer.commit();
        }
        return report(open, topK.kernelName(type), tensor.spec(), results, rows, startNanos);
      }
    }
  }

  private RunReport report(
      OpenDevice open,
      String kernel,
      TensorSpec input,
      Results results,
      RowPassage<?> rows,
      long startNanos) {
    return new RunReport(
        "top-" + k,
        open.device(),
        kernel,
        input,
        input.byteSize() + results.values().byteSize() + results.indices().byteSize(),
        rows.kernelSeconds(),
        (System.nanoTime() - startNanos) * 1e-9);
  }
}

package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.ops.Softmax;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Locale;
import java.util.concurrent.Callable;
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
      "A row with NaN or +inf, or of nothing but -inf, becomes NaN."
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

  @Mixin private final DeviceOption device = new DeviceOption();

  @Option(names = "--json", description = "Print one JSON object instead of a line.")
  private boolean json;

  SoftmaxCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws IOException {
    TensorArguments arguments = new TensorArguments(surroundings, spec.commandLine());
    arguments.checkOutput(in, out, json);
    if (!Double.isFinite(scale)) {
      throw new ParameterException(
          spec.commandLine(), "--scale " + scale + ": it must be a finite number");
    }
    try (TensorFile file = arguments.open(in)) {
      TensorData tensor = arguments.computable(file, in, true);
      double maxScale = Softmax.maxScale(TensorArguments.elementType(tensor.spec().dtype()));
      if (Math.abs(scale) > maxScale) {
        throw new ParameterException(
            spec.commandLine(),
            "--scale %s: for %s it may be at most %s"
                .formatted(scale, tensor.spec().dtype(), maxScale));
      }
      TensorSpec result =
          new TensorSpec(
              TensorArguments.outputName(out, tensor.spec(), "softmax"),
              tensor.spec().dtype(),
              tensor.spec().shape());
      arguments.checkResult(out, result, file.metadata());
      RunReport report =
          compute(arguments, file, tensor, result, TensorArguments.elementType(result.dtype()));
      report.printWritten(surroundings, out, json);
    }
    return ExitStatus.OK;
  }

  private <E extends ElementType<E>> RunReport compute(
      TensorArguments arguments,
      TensorFile file,
      TensorData tensor,
      TensorSpec result,
      ElementType<E> type)
      throws IOException {
    long startNanos = System.nanoTime();
    RowChunks chunks = RowChunks.ofElements(result, surroundings.chunkBytes());
    long chunkElements = chunks.rowsPerChunk() * chunks.rowLength();
    try (OpenDevice open = OpenDevice.open(surroundings, device);
        Arena arena = Arena.ofConfined();
        DeviceBuffer<E> buffer = open.context().allocate(type, chunkElements, open.stream());
        KernelTimer timer = new KernelTimer(open.context(), open.stream());
        Progress progress = new Progress(surroundings, result.byteSize())) {
      Softmax softmax =
          Softmax.of(open.context(), algorithm.algorithm()).withLog(log).withScale(scale);
      String kernel = kernel(softmax, type, chunks);
      try (DeviceBuffer<E> scratch = open.context().allocate(type, 1, open.stream())) {
        scratch.zero(open.stream());
        TensorView<E> row = TensorView.of(scratch, 1);
        timer.warmUp(() -> softmax.forward(row, row, open.stream()));
      }
      MemorySegment host = arena.allocate(chunkElements * type.byteSize());
      // Not begun before the device has shown that it works: a driver that aborts deletes nothing.
      try (TensorWriter writer = arguments.create(out, result, file.metadata())) {
        for (RowChunks.Chunk chunk : chunks) {
          long elements = chunk.count() * chunks.rowLength();
          long bytes = elements * type.byteSize();
          MemorySegment source =
              tensor.bytes().asSlice(chunk.first() * chunks.rowLength() * type.byteSize(), bytes);
          DeviceView<E> part = buffer.view(0, elements);
          file.read(() -> part.copyFrom(source));
          // In place: an element is read for the last time before it is written.
          TensorView<E> rows = TensorView.of(part, chunk.count(), chunks.rowLength());
          timer.time(() -> softmax.forward(rows, rows, open.stream()));
          part.copyTo(host.asSlice(0, bytes));
          writer.append(result.name(), host.asSlice(0, bytes));
          progress.advance(bytes);
        }
        writer.commit();
      }
      return new RunReport(
          log ? "log-softmax" : "softmax",
          open.device(),
          kernel,
          tensor.spec(),
          2 * result.byteSize(),
          timer.seconds(),
          (System.nanoTime() - startNanos) * 1e-9);
    }
  }

  /** Found before the first row is read: whether rows fit on chip depends on the device. */
  private String kernel(Softmax softmax, ElementType<?> type, RowChunks chunks) {
    try {
      return softmax.kernelName(
          type, Math.min(chunks.rows(), chunks.rowsPerChunk()), chunks.rowLength());
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "--algorithm %s: %s".formatted(algorithm, e.getMessage()));
    }
  }
}

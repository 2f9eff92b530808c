package dev.culebra.cli;

import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.ops.Reduction;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
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

/**
 * {@code culebra reduce}: a reduction along the last axis of a tensor in a file, or of all of it.
 */
@Command(
    name = "reduce",
    description = {
      "Reduces the last axis of a tensor, or all of it. The result is F64 for F64, F32 otherwise.",
      "NaN in gives NaN out. Of nothing the sum is 0, the maximum -inf, the minimum +inf, the mean NaN."
    })
final class ReduceCommand implements Callable<Integer> {
  /** More is a file's business: nobody reads it in a terminal. */
  private static final long MAX_PRINTED_VALUES = 10_000;

  /** What is computed. */
  enum Operation {
    SUM,
    MAX,
    MIN,
    MEAN;

    Reduction.Op operation() {
      return Reduction.Op.valueOf(name());
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What goes away. */
  enum Axis {
    LAST,
    ALL;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private final Surroundings surroundings;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(index = "0", paramLabel = "IN", description = "The tensor: F16, BF16, F32 or F64.")
  private TensorLocation in = new TensorLocation("", null);

  @Option(
      names = "--op",
      required = true,
      paramLabel = "NAME",
      description = "${COMPLETION-CANDIDATES}.")
  private Operation operation = Operation.SUM;

  @Option(
      names = "--axis",
      paramLabel = "AXIS",
      description = "${COMPLETION-CANDIDATES}; default: ${DEFAULT-VALUE}.")
  private Axis axis = Axis.LAST;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "OUT",
      description = "Where the result goes. Default: its values are printed, one a line.")
  private @Nullable TensorLocation out;

  @Mixin private final DeviceOption device = new DeviceOption();

  @Option(
      names = "--json",
      description = "Print one JSON object, with the values if no OUT is given.")
  private boolean json;

  ReduceCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() throws IOException {
    TensorArguments arguments = new TensorArguments(surroundings, spec.commandLine());
    if (out != null) {
      arguments.checkOutput(in, out, json);
    }
    try (TensorFile file = arguments.open(in)) {
      TensorData tensor = arguments.computable(file, in, axis == Axis.LAST);
      TensorSpec result = resultOf(tensor.spec());
      if (out == null) {
        print(file, tensor, result);
      } else {
        arguments.checkResult(out, result, file.metadata());
        write(arguments, file, tensor, result, out);
      }
    }
    return ExitStatus.OK;
  }

  private TensorSpec resultOf(TensorSpec input) {
    DType type = input.dtype() == DType.F64 ? DType.F64 : DType.F32;
    long[] shape = axis == Axis.ALL ? new long[0] : Arrays.copyOf(input.shape(), input.rank() - 1);
    String name =
        out == null
            ? operation.toString()
            : TensorArguments.outputName(out, input, operation.toString());
    return new TensorSpec(name, type, shape);
  }

  private void write(
      TensorArguments arguments,
      TensorFile file,
      TensorData tensor,
      TensorSpec result,
      TensorLocation destination)
      throws IOException {
    RunReport report =
        compute(
            file,
            tensor,
            result,
            reduction -> {
              try (TensorWriter writer = arguments.create(destination, result, file.metadata())) {
                reduction.run(bytes -> writer.append(result.name(), bytes));
                writer.commit();
              }
            });
    report.printWritten(surroundings, destination, json);
  }

  /** The values go to standard output and nothing else does, so that they can be piped on. */
  private void print(TensorFile file, TensorData tensor, TensorSpec result) throws IOException {
    if (result.elementCount() > MAX_PRINTED_VALUES) {
      throw new ParameterException(
          spec.commandLine(),
          "the result has %d values, at most %d are printed; write them to a file with -o"
              .formatted(result.elementCount(), MAX_PRINTED_VALUES));
    }
    MemorySegment values = MemorySegment.ofArray(new byte[Math.toIntExact(result.byteSize())]);
    long[] filled = new long[1];
    RunReport report =
        compute(
            file,
            tensor,
            result,
            reduction ->
                reduction.run(
                    bytes -> {
                      values.asSlice(filled[0]).copyFrom(bytes);
                      filled[0] += bytes.byteSize();
                    }));
    if (json) {
      report.printJson(
          surroundings.out(),
          more -> {
            Json.numbers(more, "resultShape", result.shape());
            more.writeArrayPropertyStart("values");
            for (long i = 0; i < result.elementCount(); i++) {
              if (result.dtype() == DType.F64) {
                more.writeNumber(Scalars.getDouble(values, i));
              } else {
                more.writeNumber(Scalars.getFloat(values, i));
              }
            }
            more.writeEndArray();
          });
    } else {
      for (long i = 0; i < result.elementCount(); i++) {
        surroundings
            .out()
            .println(
                result.dtype() == DType.F64
                    ? Double.toString(Scalars.getDouble(values, i))
                    : Float.toString(Scalars.getFloat(values, i)));
      }
      surroundings.out().flush();
    }
  }

  /** What to do with a reduction that is ready to run. */
  private interface Use {
    void of(TensorReduction reduction) throws IOException;
  }

  private RunReport compute(TensorFile file, TensorData tensor, TensorSpec result, Use use)
      throws IOException {
    long startNanos = System.nanoTime();
    try (OpenDevice open = OpenDevice.open(surroundings, device);
        KernelTimer timer = new KernelTimer(open.context(), open.stream())) {
      TensorReduction reduction =
          new TensorReduction(surroundings, open, timer, operation.operation(), axis, file, tensor);
      use.of(reduction);
      return new RunReport(
          operation.toString(),
          open.device(),
          reduction.kernelName(),
          tensor.spec(),
          tensor.spec().byteSize() + result.byteSize(),
          timer.seconds(),
          (System.nanoTime() - startNanos) * 1e-9);
    }
  }
}

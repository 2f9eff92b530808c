package dev.culebra.cli;

import dev.culebra.ElementType;
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
import java.util.EnumSet;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code culebra reduce}: a reduction along an axis of a tensor in a file, of all of it, or of its
 * segments.
 */
@Command(
    name = "reduce",
    description = {
      "Reduces an axis of a tensor, all of it, or its segments. The result is F32 for F16 and BF16, else of the",
      "tensor's type; but I64 for the sum of integers and for indices, F64 for the mean of integers.",
      "NaN in gives NaN out, and its index. Of nothing the sum and the norm are 0, the mean is NaN, the maximum and",
      "logsumexp -inf, the minimum +inf (of integers the least and greatest number), an index of a segment -1."
    })
final class ReduceCommand implements Callable<Integer> {
  /** More is a file's business: nobody reads it in a terminal. */
  private static final long MAX_PRINTED_VALUES = 10_000;

  /** What is computed. */
  enum Operation {
    SUM,
    MAX,
    MIN,
    MEAN,
    ARGMAX,
    ARGMIN,
    LOGSUMEXP,
    L2_NORM;

    Reduction.Op operation() {
      return Reduction.Op.valueOf(name());
    }

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final Set<DType> FLOATING =
      EnumSet.of(DType.F16, DType.BF16, DType.F32, DType.F64);
  private static final Set<DType> INTEGERS = EnumSet.of(DType.I32, DType.I64);

  private final Surroundings surroundings;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(
      index = "0",
      paramLabel = "IN",
      description =
          "The tensor: F16, BF16, F32, F64, I32 or I64; no integers for logsumexp and l2_norm.")
  private TensorLocation in = new TensorLocation("", null);

  @Option(
      names = "--op",
      required = true,
      paramLabel = "NAME",
      description = "${COMPLETION-CANDIDATES}.")
  private Operation operation = Operation.SUM;

  /** What is reduced: one of them, the last axis if none is given. */
  static final class What {
    @Option(
        names = "--axis",
        paramLabel = "AXIS",
        description = "last, first, all or a number from 0, -1 being the last. Default: last.")
    private @Nullable ReducedAxis axis;

    @Option(
        names = "--segments",
        paramLabel = "OFFSETS",
        description =
            "I32 or I64, one more than segments, ascending: segment s is what lies from offset s up to offset s + 1.")
    private @Nullable TensorLocation segments;
  }

  @ArgGroup private What what = new What();

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
    TensorLocation segments = what.segments;
    if (out != null) {
      arguments.checkOutput(in, out, json);
      if (segments != null) {
        arguments.checkOutput(segments, out, json);
      }
    }
    if (segments != null && in.isStream() && segments.isStream()) {
      throw new ParameterException(
          spec.commandLine(), "only one of the inputs can be - (standard input)");
    }
    try (TensorFile file = arguments.open(in)) {
      TensorData tensor = arguments.computable(file, in, false, types());
      Way way = way(arguments, tensor.spec());
      TensorSpec result = resultOf(tensor.spec(), way);
      if (out == null) {
        print(file, tensor, way, result);
      } else {
        arguments.checkResult(out, result, file.metadata());
        write(arguments, file, tensor, way, result, out);
      }
    }
    return ExitStatus.OK;
  }

  private Set<DType> types() {
    Set<DType> types = EnumSet.copyOf(FLOATING);
    if (operation != Operation.LOGSUMEXP && operation != Operation.L2_NORM) {
      types.addAll(INTEGERS);
    }
    return types;
  }

  /**
   * How a tensor is reduced.
   *
   * @param shape that of the result
   * @param reduction makes it ready to run
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Way(
      long[] shape, Function<TensorReduction.Job<?>, TensorReduction<?>> reduction) {}

  private Way way(TensorArguments arguments, TensorSpec input) throws IOException {
    if (what.segments != null) {
      long[] offsets = SegmentOffsets.read(arguments, what.segments, input.elementCount());
      return new Way(new long[] {offsets.length - 1}, job -> new SegmentReduction<>(job, offsets));
    }
    ReducedAxis chosen = what.axis == null ? new ReducedAxis(false, -1) : what.axis;
    if (chosen.all()) {
      requireIndex(input, input.elementCount(), 1);
      return new Way(new long[0], job -> new WholeReduction<>(job));
    }
    if (input.rank() == 0) {
      throw TensorArguments.refuse(
          in, input, "it is a scalar and has no last axis; give it the shape [1]");
    }
    if (!chosen.isOf(input.rank())) {
      throw TensorArguments.refuse(
          in, input, "it has %d axes, there is no axis %d".formatted(input.rank(), chosen.axis()));
    }
    int axis = chosen.of(input.rank());
    long[] shape = Arrays.copyOf(input.shape(), input.rank() - 1);
    System.arraycopy(input.shape(), axis + 1, shape, axis, shape.length - axis);
    requireIndex(input, input.shape()[axis], Arrays.stream(shape).reduce(1, (a, b) -> a * b));
    return new Way(
        shape,
        axis == input.rank() - 1
            ? job -> new RowReduction<>(job)
            : job -> new ColumnReduction<>(job, axis));
  }

  private void requireIndex(TensorSpec input, long length, long results) throws IOException {
    boolean isIndex = operation == Operation.ARGMAX || operation == Operation.ARGMIN;
    if (isIndex && length == 0 && results > 0) {
      throw TensorArguments.refuse(in, input, "there is no " + operation + " of 0 elements");
    }
  }

  private TensorSpec resultOf(TensorSpec input, Way way) {
    ElementType<?> type =
        operation.operation().resultType(TensorArguments.elementType(input.dtype()));
    String name =
        out == null
            ? operation.toString()
            : TensorArguments.outputName(out, input, operation.toString());
    return new TensorSpec(name, DType.valueOf(type.toString()), way.shape());
  }

  private void write(
      TensorArguments arguments,
      TensorFile file,
      TensorData tensor,
      Way way,
      TensorSpec result,
      TensorLocation destination)
      throws IOException {
    RunReport report =
        compute(
            file,
            tensor,
            way,
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
  private void print(TensorFile file, TensorData tensor, Way way, TensorSpec result)
      throws IOException {
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
            way,
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
              switch (result.dtype()) {
                case F64 -> more.writeNumber(Scalars.getDouble(values, i));
                case F32 -> more.writeNumber(Scalars.getFloat(values, i));
                default -> more.writeNumber(Scalars.getInteger(values, result.dtype(), i));
              }
            }
            more.writeEndArray();
          });
    } else {
      for (long i = 0; i < result.elementCount(); i++) {
        surroundings
            .out()
            .println(
                switch (result.dtype()) {
                  case F64 -> Double.toString(Scalars.getDouble(values, i));
                  case F32 -> Float.toString(Scalars.getFloat(values, i));
                  default -> Long.toString(Scalars.getInteger(values, result.dtype(), i));
                });
      }
      surroundings.out().flush();
    }
  }

  /** What to do with a reduction that is ready to run. */
  private interface Use {
    void of(TensorReduction<?> reduction) throws IOException;
  }

  private RunReport compute(TensorFile file, TensorData tensor, Way way, TensorSpec result, Use use)
      throws IOException {
    long startNanos = System.nanoTime();
    try (OpenDevice open = OpenDevice.open(surroundings, device)) {
      TensorReduction<?> reduction =
          way.reduction.apply(
              new TensorReduction.Job<>(
                  surroundings,
                  open,
                  operation.operation(),
                  file,
                  tensor,
                  TensorArguments.elementType(tensor.spec().dtype())));
      reduction.warmUp();
      use.of(reduction);
      return new RunReport(
          operation.toString(),
          open.device(),
          reduction.kernelName(),
          tensor.spec(),
          tensor.spec().byteSize() + result.byteSize(),
          reduction.kernelSeconds(),
          (System.nanoTime() - startNanos) * 1e-9);
    }
  }
}

package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.Reduction;
import dev.culebra.ops.Reduction.Op;
import dev.culebra.testkit.ReductionReference;
import dev.culebra.testkit.StorageType;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** A reduction of a matrix: of all elements, of the last axis, of the first, or of segments. */
final class ReductionProblem {
  /** Columns that are compared: the first, the last, and some between. */
  private static final int COLUMNS = 4;

  /** What torch reduces segments by. */
  private static final Set<Op> SEGMENTS_OF_PEER = Set.of(Op.SUM, Op.MAX, Op.MIN, Op.MEAN);

  private ReductionProblem() {}

  /** What becomes one element. */
  private enum Axis {
    ALL,
    LAST,
    FIRST,
    SEGMENTS;

    String label() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * All elements.
   *
   * @param op a sum, a mean, the largest or its place: what float64 finds without holding them all
   */
  static Problem ofAll(Op op, ElementType<?> type, long length) {
    return problem(
        op,
        "%s %s of all %d".formatted(label(op), type.symbol(), length),
        Axis.ALL,
        TensorSpec.of(type, 1L, length),
        1,
        new long[0],
        context -> Reduction.of(context, op).kernelName(type, 1, length),
        context -> {
          Reduction reduction = Reduction.of(context, op);
          return (tensors, stream) ->
              reduction.all(tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream);
        },
        reader -> judgeAll(reader, op, length));
  }

  /** Each row. */
  static Problem ofRows(Op op, ElementType<?> type, long rows, long length) {
    return problem(
        op,
        "%s %s %d x %d".formatted(label(op), type.symbol(), rows, length),
        Axis.LAST,
        TensorSpec.of(type, rows, length),
        rows,
        RowCheck.sampled(rows, length),
        context -> Reduction.of(context, op).kernelName(type, rows, length),
        context -> {
          Reduction reduction = Reduction.of(context, op);
          return (tensors, stream) ->
              reduction.lastAxis(tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream);
        },
        reader ->
            RowCheck.judge(
                rows,
                Math.toIntExact(length),
                1,
                row -> {
                  reader.requireInput(0, row * length, Math.toIntExact(length));
                  return error(
                      op,
                      reader.output(0, row, 1)[0],
                      reader.input(0, row * length, Math.toIntExact(length)));
                }));
  }

  /** Each column. */
  static Problem ofColumns(Op op, ElementType<?> type, long rows, long columns) {
    long[] looked = new long[COLUMNS];
    Arrays.setAll(looked, i -> (columns - 1) * i / (COLUMNS - 1));
    return problem(
        op,
        "%s %s of columns, %d x %d".formatted(label(op), type.symbol(), rows, columns),
        Axis.FIRST,
        TensorSpec.of(type, rows, columns),
        columns,
        looked,
        context -> Reduction.of(context, op).columnKernelName(type),
        context -> {
          Reduction reduction = Reduction.of(context, op);
          return (tensors, stream) ->
              reduction.along(0, tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream);
        },
        reader -> {
          reader.requireInput(0, 0, Math.toIntExact(columns));
          // Math.max hands NaN on, which no bound allows.
          double worst =
              Arrays.stream(looked)
                  .mapToDouble(
                      place ->
                          error(
                              op,
                              reader.output(0, place, 1)[0],
                              reader.input(0, place, columns, Math.toIntExact(rows))))
                  .reduce(0, Math::max);
          return new Verdict(worst, looked.length);
        });
  }

  /**
   * Segments that lie one behind the other.
   *
   * @param average elements of a segment, which are from 1 to almost twice as many
   */
  static Problem ofSegments(Op op, ElementType<?> type, long segments, long average) {
    long[] offsets = new long[Math.toIntExact(segments) + 1];
    for (int i = 0; i < segments; i++) {
      offsets[i + 1] = offsets[i] + MaskedSoftmaxProblem.rowLength(i, 2 * average - 1);
    }
    long elements = offsets[offsets.length - 1];
    Problem problem =
        problem(
            op,
            "%s %s of %d segments, on average of %d"
                .formatted(label(op), type.symbol(), segments, average),
            Axis.SEGMENTS,
            TensorSpec.of(type, 1L, elements),
            segments,
            RowCheck.sampled(segments, average),
            context -> Reduction.of(context, op).segmentKernelName(type),
            context -> new OfSegments(context, op, offsets),
            reader ->
                RowCheck.judge(
                    segments,
                    Math.toIntExact(average),
                    1,
                    segment -> {
                      long from = offsets[(int) segment];
                      int count = Math.toIntExact(offsets[(int) segment + 1] - from);
                      reader.requireInput(0, from, count);
                      return error(
                          op, reader.output(0, segment, 1)[0], reader.input(0, from, count));
                    }));
    Map<String, Object> peer = new LinkedHashMap<>(problem.peer());
    if (SEGMENTS_OF_PEER.contains(op)) {
      peer.put("segments", segments);
      peer.put("average", average);
    } else {
      peer.remove("op");
    }
    return problem.with(
        problem.bytes() + (long) ElementType.I64.byteSize() * offsets.length,
        Map.of("type", type.symbol(), "rows", segments, "length", average),
        peer);
  }

  /** The call, which owns its offsets. */
  private static final class OfSegments implements Problem.Call {
    private final Reduction reduction;
    private final DeviceBuffer<ElementType.I64> memory;
    private final TensorView<?> offsets;

    OfSegments(Context context, Op op, long[] offsets) {
      this.reduction = Reduction.of(context, op);
      try (Stream stream = context.newStream()) {
        this.memory = context.allocate(ElementType.I64, offsets.length, stream);
        memory.copyFrom(offsets);
      }
      this.offsets = TensorView.of(memory, offsets.length);
    }

    @Override
    public void run(Tensors tensors, Stream stream) {
      reduction.segments(
          tensors.inputs().getFirst(), offsets, tensors.outputs().getFirst(), stream);
    }

    @Override
    public void close() {
      memory.close();
    }
  }

  private static String label(Op op) {
    return op.name().toLowerCase(Locale.ROOT);
  }

  private static Problem problem(
      Op op,
      String name,
      Axis axis,
      TensorSpec in,
      long results,
      long[] checked,
      Function<Context, String> kernel,
      Problem.Opener opener,
      Problem.Check check) {
    TensorSpec out = TensorSpec.of(op.resultType(in.type()), results);
    Map<String, Object> parameters =
        Map.of(
            "type", in.type().symbol(),
            "rows", in.shape().getFirst(),
            "length", in.shape().getLast());
    Map<String, Object> peer = new LinkedHashMap<>(parameters);
    peer.put("op", label(op));
    peer.put("axis", axis.label());
    peer.put("checked_rows", checked);
    return new Problem(
        label(op),
        name,
        parameters,
        List.of(in),
        List.of(out),
        in.bytes() + out.bytes(),
        in.elements(),
        Ceilings.READ,
        List.of(new Implementation("Culebra", kernel, opener)),
        check,
        allowed(op, in.type()),
        peer);
  }

  private static Verdict judgeAll(Reader reader, Op op, long length) {
    Reader.Totals totals = reader.totals(0, 0, length);
    double actual = reader.output(0, 0, 1)[0];
    double error =
        switch (op) {
          case SUM -> Math.abs(actual - totals.sum()) / totals.magnitudes();
          case MEAN -> Math.abs(actual * length - totals.sum()) / totals.magnitudes();
          case MAX -> Math.abs(actual - totals.largest());
          case ARGMAX ->
              actual >= 0 && actual < length
                  ? Math.abs(reader.input(0, (long) actual, 1)[0] - totals.largest())
                  : Double.POSITIVE_INFINITY;
          default -> throw new IllegalArgumentException(op + " of all is not judged");
        };
    return new Verdict(error, 1);
  }

  /**
   * How far a result is off. Of a place, how far its element is from the largest or smallest; of a
   * sum or a mean, as a part of the sum of magnitudes, which is what a summation's bound is of; of
   * the rest, relative.
   */
  static double error(Op op, double actual, double[] values) {
    ReductionReference reference = ReductionReference.valueOf(op.name());
    return switch (op) {
      case MAX, MIN -> Math.abs(actual - reference.of(values));
      case ARGMAX, ARGMIN -> {
        ReductionReference extreme =
            op == Op.ARGMAX ? ReductionReference.MAX : ReductionReference.MIN;
        yield actual >= 0 && actual < values.length
            ? Math.abs(values[(int) actual] - extreme.of(values))
            : Double.POSITIVE_INFINITY;
      }
      case SUM ->
          Math.abs(actual - reference.of(values)) / ReductionReference.sumOfMagnitudes(values);
      case MEAN ->
          Math.abs(actual - reference.of(values))
              * values.length
              / ReductionReference.sumOfMagnitudes(values);
      case LOGSUMEXP, L2_NORM -> {
        double truth = reference.of(values);
        yield Math.abs(actual - truth) / Math.abs(truth);
      }
    };
  }

  /**
   * An extreme and its place are exact. A compensated sum is off by its roundings to the type of
   * the result; of what torch rounds to the type of the input, by that.
   */
  static double allowed(Op op, ElementType<?> type) {
    return switch (op) {
      case MAX, MIN, ARGMAX, ARGMIN -> 0;
      case SUM, MEAN -> op.resultType(type) == ElementType.F32 ? 0x1p-23 : 0x1p-48;
      case LOGSUMEXP, L2_NORM -> {
        StorageType storage = TensorSpec.storage(type);
        yield switch (storage) {
          case F16, BF16 -> storage.unitRoundoff();
          case F32 -> 0x1p-21;
          case F64 -> 0x1p-48;
        };
      }
    };
  }
}

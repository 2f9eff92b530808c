package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.benchmarks.kernels.Problem.Implementation;
import dev.culebra.benchmarks.kernels.Problem.Verdict;
import dev.culebra.ops.Reduction;
import dev.culebra.ops.Reduction.Op;
import dev.culebra.testkit.ReductionReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Sum, maximum and mean, of all elements and of the last axis. */
final class ReductionOperation implements Operation {
  private static final List<Op> OPS = List.of(Op.SUM, Op.MAX, Op.MEAN);

  /** Lengths of what is reduced to one element. */
  private static final List<Long> ALL = List.of(1L << 30, 1L << 28, 1L << 24, 1L << 20);

  private static final List<List<Long>> LAST =
      List.of(List.of(4000L, 32000L), List.of(16384L, 8192L));

  @Override
  public List<Problem> problems(Extent extent) {
    boolean tiny = extent == Extent.TINY;
    List<ElementType<?>> types =
        extent == Extent.ALL ? List.of(F32, BF16, F16, F64) : List.of(F32, BF16);
    List<Problem> problems = new ArrayList<>();
    for (ElementType<?> type : types) {
      for (Op op : OPS) {
        for (long length : tiny ? List.of(100_000L) : ALL) {
          // A mean is a sum with another divisor: one length shows it.
          if (op != Op.MEAN || length == ALL.getFirst() || tiny) {
            problems.add(problem(op, type, 1, length, true));
          }
        }
        for (List<Long> shape : tiny ? List.of(List.of(37L, 1000L)) : LAST) {
          if (op != Op.MEAN || tiny) {
            problems.add(problem(op, type, shape.get(0), shape.get(1), false));
          }
        }
      }
    }
    return problems;
  }

  private static Problem problem(Op op, ElementType<?> type, long rows, long length, boolean all) {
    String name = op.name().toLowerCase(Locale.ROOT);
    TensorSpec in = TensorSpec.of(type, rows, length);
    ElementType<?> resultType = op.resultType(type);
    TensorSpec out = TensorSpec.of(resultType, rows);
    String axis = all ? "all" : "last";
    return new Problem(
        name,
        all
            ? "%s %s of all %d".formatted(name, type.symbol(), length)
            : "%s %s %d x %d".formatted(name, type.symbol(), rows, length),
        Map.of("type", type.symbol(), "rows", rows, "length", length),
        List.of(in),
        List.of(out),
        in.bytes() + out.bytes(),
        in.elements(),
        Ceilings.READ,
        List.of(
            new Implementation(
                "Culebra",
                context -> Reduction.of(context, op).kernelName(type, all ? 1 : rows, length),
                context -> open(context, op, all))),
        reader -> all ? judgeAll(reader, op, length) : judgeRows(reader, op, rows, length),
        allowed(op),
        Map.of(
            "op", name,
            "type", type.symbol(),
            "rows", rows,
            "length", length,
            "axis", axis,
            "checked_rows", all ? new long[0] : RowCheck.sampled(rows, length)));
  }

  private static Problem.Call open(Context context, Op op, boolean all) {
    Reduction reduction = Reduction.of(context, op);
    return all
        ? (tensors, stream) ->
            reduction.all(tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream)
        : (tensors, stream) ->
            reduction.lastAxis(tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream);
  }

  /** The error is a part of the sum of magnitudes, which is what a summation's bound is of. */
  private static Verdict judgeAll(Reader reader, Op op, long length) {
    Reader.Totals totals = reader.totals(0, 0, length);
    double actual = reader.output(0, 0, 1)[0];
    double error =
        switch (op) {
          case MAX -> Math.abs(actual - totals.largest());
          case MEAN -> Math.abs(actual * length - totals.sum()) / totals.magnitudes();
          default -> Math.abs(actual - totals.sum()) / totals.magnitudes();
        };
    return new Verdict(error, 1);
  }

  private static Verdict judgeRows(Reader reader, Op op, long rows, long length) {
    ReductionReference reference = ReductionReference.valueOf(op.name());
    return RowCheck.judge(
        reader,
        rows,
        Math.toIntExact(length),
        1,
        row -> new double[] {reference.of(row)},
        (actual, truth, row) -> {
          double error = Math.abs(actual[0] - truth[0]);
          double magnitudes = ReductionReference.sumOfMagnitudes(row);
          return switch (op) {
            case MAX -> error;
            case MEAN -> error * length / magnitudes;
            default -> error / magnitudes;
          };
        });
  }

  /** A maximum is exact; a compensated sum is off by its roundings to single precision. */
  private static double allowed(Op op) {
    return op == Op.MAX ? 0 : 0x1p-23;
  }
}

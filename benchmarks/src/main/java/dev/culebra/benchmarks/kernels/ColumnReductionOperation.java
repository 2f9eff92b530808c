package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F32;

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

/** Sum and maximum of the first axis: of every column. */
final class ColumnReductionOperation implements Operation {
  private static final List<Op> OPS = List.of(Op.SUM, Op.MAX);

  /** Square, and few long columns. */
  private static final List<List<Long>> SHAPES =
      List.of(List.of(32768L, 32768L), List.of(1L << 24, 64L));

  private static final int LOOKED_AT = 4;

  @Override
  public List<Problem> problems(Extent extent) {
    List<Problem> problems = new ArrayList<>();
    for (ElementType<?> type : List.of(F32, BF16)) {
      for (Op op : OPS) {
        for (List<Long> shape : extent == Extent.TINY ? List.of(List.of(1000L, 37L)) : SHAPES) {
          problems.add(problem(op, type, shape.get(0), shape.get(1)));
        }
      }
    }
    return problems;
  }

  private static Problem problem(Op op, ElementType<?> type, long rows, long columns) {
    String name = op.name().toLowerCase(Locale.ROOT);
    TensorSpec in = TensorSpec.of(type, rows, columns);
    TensorSpec out = TensorSpec.of(op.resultType(type), columns);
    return new Problem(
        name,
        "%s %s of columns, %d x %d".formatted(name, type.symbol(), rows, columns),
        Map.of("type", type.symbol(), "rows", rows, "length", columns),
        List.of(in),
        List.of(out),
        in.bytes() + out.bytes(),
        in.elements(),
        Ceilings.READ,
        List.of(
            new Implementation(
                "Culebra",
                context -> Reduction.of(context, op).columnKernelName(type),
                context -> {
                  Reduction reduction = Reduction.of(context, op);
                  return (tensors, stream) ->
                      reduction.along(
                          0, tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream);
                })),
        reader -> judge(reader, op, rows, columns),
        op == Op.MAX ? 0 : 0x1p-23,
        Map.of(
            "op",
            name,
            "type",
            type.symbol(),
            "rows",
            rows,
            "length",
            columns,
            "axis",
            "first",
            "checked_rows",
            lookedAt(columns)));
  }

  /** The first column, the last, and some between. */
  private static long[] lookedAt(long columns) {
    long[] looked = new long[LOOKED_AT];
    for (int i = 0; i < LOOKED_AT; i++) {
      looked[i] = (columns - 1) * i / (LOOKED_AT - 1);
    }
    return looked;
  }

  private static Verdict judge(Reader reader, Op op, long rows, long columns) {
    ReductionReference reference = ReductionReference.valueOf(op.name());
    reader.requireInput(0, 0, Math.toIntExact(columns));
    double worst = 0;
    for (long place : lookedAt(columns)) {
      double[] column = new double[Math.toIntExact(rows)];
      for (int row = 0; row < rows; row++) {
        column[row] = reader.input(0, row * columns + place, 1)[0];
      }
      double error = Math.abs(reader.output(0, place, 1)[0] - reference.of(column));
      worst =
          Math.max(
              worst, op == Op.MAX ? error : error / ReductionReference.sumOfMagnitudes(column));
    }
    return new Verdict(worst, LOOKED_AT);
  }
}

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

/** The place of the maximum, logsumexp and norm: of the last axis, and the place among all. */
final class RowReductionOperation implements Operation {
  private static final List<Op> OPS = List.of(Op.ARGMAX, Op.LOGSUMEXP, Op.L2_NORM);

  private static final List<List<Long>> SHAPES =
      List.of(List.of(4000L, 32000L), List.of(16384L, 8192L));

  private static final long ALL = 1L << 30;

  @Override
  public List<Problem> problems(Extent extent) {
    boolean tiny = extent == Extent.TINY;
    List<Problem> problems = new ArrayList<>();
    for (ElementType<?> type : List.of(F32, BF16)) {
      problems.add(argmaxOfAll(type, tiny ? 100_000 : ALL));
      for (Op op : OPS) {
        for (List<Long> shape : tiny ? List.of(List.of(37L, 1000L)) : SHAPES) {
          problems.add(ofRows(op, type, shape.get(0), shape.get(1)));
        }
      }
    }
    return problems;
  }

  private static Problem argmaxOfAll(ElementType<?> type, long length) {
    return problem(
        Op.ARGMAX,
        type,
        1,
        length,
        "argmax %s of all %d".formatted(type.symbol(), length),
        "all",
        context -> {
          Reduction reduction = Reduction.of(context, Op.ARGMAX);
          return (tensors, stream) ->
              reduction.all(tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream);
        },
        reader -> {
          long place = (long) reader.output(0, 0, 1)[0];
          double found = reader.input(0, place, 1)[0];
          return new Verdict(Math.abs(found - reader.totals(0, 0, length).largest()), 1);
        });
  }

  private static Problem ofRows(Op op, ElementType<?> type, long rows, long length) {
    return problem(
        op,
        type,
        rows,
        length,
        "%s %s %d x %d".formatted(op.name().toLowerCase(Locale.ROOT), type.symbol(), rows, length),
        "last",
        context -> {
          Reduction reduction = Reduction.of(context, op);
          return (tensors, stream) ->
              reduction.lastAxis(tensors.inputs().getFirst(), tensors.outputs().getFirst(), stream);
        },
        reader -> judgeRows(reader, op, rows, length));
  }

  private static Problem problem(
      Op op,
      ElementType<?> type,
      long rows,
      long length,
      String title,
      String axis,
      Problem.Opener opener,
      Problem.Check check) {
    String name = op.name().toLowerCase(Locale.ROOT);
    TensorSpec in = TensorSpec.of(type, rows, length);
    TensorSpec out = TensorSpec.of(op.resultType(type), rows);
    return new Problem(
        name,
        title,
        Map.of("type", type.symbol(), "rows", rows, "length", length),
        List.of(in),
        List.of(out),
        in.bytes() + out.bytes(),
        in.elements(),
        Ceilings.READ,
        List.of(
            new Implementation(
                "Culebra",
                context -> Reduction.of(context, op).kernelName(type, rows, length),
                opener)),
        check,
        // torch rounds the result to the input's type.
        op == Op.ARGMAX ? 0 : type == BF16 ? 0x1p-8 : 0x1p-21,
        Map.of(
            "op", name,
            "type", type.symbol(),
            "rows", rows,
            "length", length,
            "axis", axis,
            "checked_rows", axis.equals("all") ? new long[0] : RowCheck.sampled(rows, length)));
  }

  /** Of a place, how far its element is from the largest; else the relative error. */
  private static Verdict judgeRows(Reader reader, Op op, long rows, long length) {
    ReductionReference reference = ReductionReference.valueOf(op.name());
    return RowCheck.judge(
        reader,
        rows,
        Math.toIntExact(length),
        1,
        row -> new double[] {op == Op.ARGMAX ? ReductionReference.MAX.of(row) : reference.of(row)},
        (actual, truth, row) ->
            op == Op.ARGMAX
                ? Math.abs(row[(int) actual[0]] - truth[0])
                : Math.abs(actual[0] - truth[0]) / Math.abs(truth[0]));
  }
}

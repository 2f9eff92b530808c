package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F16;
import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;

import dev.culebra.ElementType;
import dev.culebra.ops.Reduction.Op;
import java.util.ArrayList;
import java.util.List;

/** Reductions of all elements, of the last axis, of the first, and of segments. */
final class ReductionOperation implements Operation {
  /** Lengths of what is reduced to one element. */
  private static final List<Long> ALL = List.of(1L << 30, 1L << 28, 1L << 24, 1L << 20);

  private static final List<List<Long>> ROWS =
      List.of(List.of(4000L, 32000L), List.of(16384L, 8192L));

  /** Square, and few long columns. */
  private static final List<List<Long>> COLUMNS =
      List.of(List.of(32768L, 32768L), List.of(1L << 24, 64L));

  /** Segments and their average length: such as a warp takes, and such as are cut into pieces. */
  private static final List<List<Long>> SEGMENTS =
      List.of(List.of(262_144L, 1000L), List.of(2_621L, 100_000L));

  @Override
  public List<Problem> problems(Extent extent) {
    boolean tiny = extent == Extent.TINY;
    List<Long> all = tiny ? List.of(100_000L) : ALL;
    List<List<Long>> rows = tiny ? List.of(List.of(37L, 1000L)) : ROWS;
    List<List<Long>> columns = tiny ? List.of(List.of(1000L, 37L)) : COLUMNS;
    List<List<Long>> segments = tiny ? List.of(List.of(37L, 100L)) : SEGMENTS;
    List<ElementType<?>> sixteenAndThirtyTwo = List.of(F32, BF16);
    List<ElementType<?>> types =
        extent == Extent.ALL ? List.of(F32, BF16, F16, F64) : sixteenAndThirtyTwo;
    List<Problem> problems = new ArrayList<>();
    for (ElementType<?> type : types) {
      for (Op op : List.of(Op.SUM, Op.MAX)) {
        all.forEach(length -> problems.add(ReductionProblem.ofAll(op, type, length)));
        rows.forEach(
            shape -> problems.add(ReductionProblem.ofRows(op, type, shape.get(0), shape.get(1))));
      }
      // A mean is a sum with another divisor: one length shows it.
      problems.add(ReductionProblem.ofAll(Op.MEAN, type, all.getFirst()));
    }
    for (ElementType<?> type : sixteenAndThirtyTwo) {
      for (Op op : List.of(Op.SUM, Op.MAX)) {
        columns.forEach(
            shape ->
                problems.add(ReductionProblem.ofColumns(op, type, shape.get(0), shape.get(1))));
      }
    }
    for (ElementType<?> type : sixteenAndThirtyTwo) {
      problems.add(ReductionProblem.ofAll(Op.ARGMAX, type, all.getFirst()));
      for (Op op : List.of(Op.ARGMAX, Op.LOGSUMEXP, Op.L2_NORM)) {
        rows.forEach(
            shape -> problems.add(ReductionProblem.ofRows(op, type, shape.get(0), shape.get(1))));
      }
    }
    for (ElementType<?> type : sixteenAndThirtyTwo) {
      for (Op op : List.of(Op.SUM, Op.MAX, Op.ARGMAX)) {
        segments.forEach(
            shape ->
                problems.add(ReductionProblem.ofSegments(op, type, shape.get(0), shape.get(1))));
      }
    }
    return problems;
  }
}

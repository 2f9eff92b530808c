package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F32;

import dev.culebra.ElementType;
import java.util.ArrayList;
import java.util.List;

/** Sampling at the shape that a goal is stated for, from one row to a batch. */
final class SamplingOperation implements Operation {
  private static final int TOP_K = 50;
  private static final double TOP_P = 0.9;

  @Override
  public List<Problem> problems(Extent extent) {
    long length = extent == Extent.TINY ? 1000 : 131072;
    List<Problem> problems = new ArrayList<>();
    for (ElementType<?> type : List.<ElementType<?>>of(F32, BF16)) {
      long rows = extent == Extent.TINY ? 3 : 64;
      problems.add(SamplingProblem.of(type, rows, length, TOP_K, TOP_P));
      problems.add(SamplingProblem.of(type, rows, length, 0, TOP_P));
    }
    for (long rows : extent == Extent.TINY ? List.of(2L) : List.of(1L, 64L, 256L)) {
      problems.add(SamplingProblem.of(F32, rows, length, 0, 1));
    }
    if (extent != Extent.TINY) {
      problems.add(SamplingProblem.of(F32, 1, length, TOP_K, TOP_P));
    }
    return problems;
  }
}

package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.F32;

import java.util.ArrayList;
import java.util.List;

/**
 * The other two figures of the online softmax paper: softmax and top-5, fused and one after the
 * other, over the length of a row.
 *
 * @see SoftmaxSweep
 */
final class TopKSweep implements Operation {
  private static final int K = 5;

  @Override
  public List<Problem> problems(Extent extent) {
    List<Problem> problems = new ArrayList<>();
    for (long batch : SoftmaxSweep.batches(extent)) {
      for (long length : SoftmaxSweep.lengths(extent)) {
        problems.add(TopKProblem.of(F32, batch, length, K));
      }
    }
    return problems;
  }
}

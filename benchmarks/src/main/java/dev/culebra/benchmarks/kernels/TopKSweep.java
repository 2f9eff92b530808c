package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.F32;

import java.util.ArrayList;
import java.util.List;

/**
 * The other two figures of the online softmax paper: softmax and top-5, fused and one after the
 * other, over the length of a row; and over K at one length.
 *
 * @see SoftmaxSweep
 */
final class TopKSweep implements Operation {
  private static final int K = 5;

  /** The lead of the fused form shrinks with them. */
  private static final List<Integer> MORE_K = List.of(10, 15, 20, 25, 30);

  private static final long LENGTH_OF_MORE_K = 32000;

  @Override
  public List<Problem> problems(Extent extent) {
    List<Problem> problems = new ArrayList<>();
    for (long batch : SoftmaxSweep.batches(extent)) {
      for (long length : SoftmaxSweep.lengths(extent)) {
        problems.add(TopKProblem.of(F32, batch, length, K));
      }
    }
    List<Long> lengths = SoftmaxSweep.lengths(extent);
    long length = lengths.contains(LENGTH_OF_MORE_K) ? LENGTH_OF_MORE_K : lengths.getLast();
    for (int k : MORE_K) {
      problems.add(TopKProblem.of(F32, SoftmaxSweep.batches(extent).getFirst(), length, k));
    }
    return problems;
  }
}

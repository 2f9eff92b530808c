package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.F32;

import java.util.ArrayList;
import java.util.List;

/**
 * The two figures of the online softmax paper: the algorithms over the length of a row, for a batch
 * that fills a device and for one that does not.
 *
 * @see <a href="https://arxiv.org/abs/1805.02867">Milakov, Gimelshein: Online normalizer
 *     calculation for softmax</a>
 */
final class SoftmaxSweep implements Operation {
  private static final List<Long> BATCHES = List.of(4000L, 10L);
  private static final List<Long> LENGTHS =
      List.of(10L, 100L, 1000L, 4000L, 16000L, 32000L, 64000L, 128000L, 256000L);

  @Override
  public List<Problem> problems(Extent extent) {
    List<Problem> problems = new ArrayList<>();
    for (long batch : batches(extent)) {
      for (long length : lengths(extent)) {
        problems.add(SoftmaxProblem.of(F32, batch, length, false));
      }
    }
    return problems;
  }

  static List<Long> batches(Extent extent) {
    return extent == Extent.TINY ? List.of(40L, 10L) : BATCHES;
  }

  static List<Long> lengths(Extent extent) {
    return extent == Extent.TINY ? LENGTHS.subList(0, 3) : LENGTHS;
  }
}

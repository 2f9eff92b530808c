package dev.culebra.benchmarks.kernels;

import dev.culebra.benchmarks.kernels.Problem.Verdict;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.stream.IntStream;

/** Compares rows of a result with float64: the first, the last, and some between. */
final class RowCheck {
  private static final int ROWS = 64;
  private static final long ELEMENTS = 1 << 22;

  private RowCheck() {}

  /**
   * The largest error over sampled rows.
   *
   * @param rows of the input
   * @param length elements of a row of the input
   * @param outLength elements of a row of the output
   * @param truth what a row of the input makes
   * @param error of a row: actual, truth
   */
  static Verdict judge(
      Reader reader,
      long rows,
      int length,
      int outLength,
      Function<double[], double[]> truth,
      RowError error) {
    long[] sampled = sampled(rows, length);
    double worst = 0;
    for (long row : sampled) {
      double[] input = reader.input(0, row * length, length);
      reader.requireInput(0, row * length, length);
      double[] actual = reader.output(0, row * outLength, outLength);
      worst = Math.max(worst, error.of(actual, truth.apply(input), input));
    }
    return new Verdict(worst, (long) sampled.length * outLength);
  }

  /**
   * The rows to look at: the first and the last, where a wrong bound shows, and some between.
   *
   * @param length elements of a row
   */
  static long[] sampled(long rows, long length) {
    int looked = (int) Math.min(rows, Math.clamp(ELEMENTS / length, 2, ROWS));
    long[] sampled =
        IntStream.range(0, looked)
            .mapToLong(i -> new SplittableRandom(i * 31L + rows).nextLong(rows))
            .toArray();
    sampled[0] = 0;
    sampled[looked - 1] = rows - 1;
    return sampled;
  }

  /** How far a row of a result is off. */
  @FunctionalInterface
  interface RowError {
    double of(double[] actual, double[] truth, double[] input);
  }
}

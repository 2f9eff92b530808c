package dev.culebra.benchmarks.kernels;

import dev.culebra.benchmarks.kernels.Problem.Verdict;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.Function;
import java.util.function.LongToDoubleFunction;
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
    return judge(
        rows,
        length,
        outLength,
        row -> {
          double[] input = reader.input(0, row * length, length);
          reader.requireInput(0, row * length, length);
          double[] actual = reader.output(0, row * outLength, outLength);
          return error.of(actual, truth.apply(input), input);
        });
  }

  /**
   * The same where a row is judged by more than one input, or by its number.
   *
   * @param error of the row of a number
   */
  static Verdict judge(long rows, int length, int outLength, LongToDoubleFunction error) {
    long[] sampled = sampled(rows, length);
    // Math.max hands NaN on, which no bound allows.
    double worst = Arrays.stream(sampled).mapToDouble(error).reduce(0, Math::max);
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

package dev.culebra.benchmarks.statistics;

import java.util.Arrays;

/** Times of one thing, in the order they were taken. */
public final class Samples {
  /** The part of the median that a 95 % interval may span before a result is called noisy. */
  public static final double NOISY_WIDTH = 0.10;

  private Samples() {}

  /** The median; of an even number of samples the mean of the middle two. */
  public static double median(double... samples) {
    double[] sorted = sorted(samples);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  /**
   * The median with the 95 % interval that order statistics give: whatever the distribution, the
   * true median lies between the k-th smallest and the k-th largest sample unless k samples or
   * fewer fell on one side of it, which is a matter of coin flips. Fewer than six samples cannot
   * promise 95 %; the interval is then all of their range.
   */
  public static Interval interval(double... samples) {
    double[] sorted = sorted(samples);
    int rank = rank(sorted.length);
    return new Interval(median(sorted), sorted[rank - 1], sorted[sorted.length - rank]);
  }

  /** The value that a fraction of the samples lies below, by the nearest rank. */
  public static double quantile(double fraction, double... samples) {
    double[] sorted = sorted(samples);
    int index = (int) Math.ceil(fraction * sorted.length) - 1;
    return sorted[Math.clamp(index, 0, sorted.length - 1)];
  }

  /**
   * The largest k for which {@code 2 * P(at most k - 1 of n coins show heads)} is at most 5 %; at
   * least 1.
   */
  static int rank(int n) {
    double probability = Math.pow(0.5, n);
    double below = probability;
    int k = 0;
    // After k steps, below = P(at most k heads).
    while (2 * below <= 0.05) {
      k++;
      probability *= (double) (n - k + 1) / k;
      below += probability;
    }
    return Math.max(1, k);
  }

  private static double[] sorted(double[] samples) {
    if (samples.length == 0) {
      throw new IllegalArgumentException("no samples");
    }
    double[] sorted = samples.clone();
    Arrays.sort(sorted);
    return sorted;
  }
}

package dev.culebra.benchmarks;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The ratio of two costs that were measured in interleaved pairs: the median of the pairs' ratios,
 * and a 95 % interval of that median by bootstrap (percentiles of 10,000 resamples of the pairs,
 * from a fixed seed, so that the same samples give the same interval).
 *
 * <p>The ratio is taken within each pair, because what disturbs a machine (clocks, other load)
 * lasts longer than a pair and mostly cancels there. The median is what one disturbed pair cannot
 * move.
 *
 * @param median the median ratio
 * @param low the interval's lower end
 * @param high the interval's upper end: a claim "within 3 %" holds if this is at most 1.03
 */
public record RatioInterval(double median, double low, double high) {
  private static final int RESAMPLES = 10_000;

  /**
   * The ratio of {@code costs} to {@code baseline}.
   *
   * @throws IllegalArgumentException if the two differ in length or there are none
   */
  public static RatioInterval of(double[] baseline, double[] costs) {
    if (baseline.length != costs.length || costs.length == 0) {
      throw new IllegalArgumentException(
          "need pairs, got " + baseline.length + " baseline samples and " + costs.length);
    }
    double[] ratios = new double[costs.length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = costs[i] / baseline[i];
    }
    SplittableRandom random = new SplittableRandom(0x43554c45425241L);
    double[] medians = new double[RESAMPLES];
    double[] resample = new double[ratios.length];
    for (int i = 0; i < RESAMPLES; i++) {
      for (int j = 0; j < resample.length; j++) {
        resample[j] = ratios[random.nextInt(ratios.length)];
      }
      medians[i] = median(resample);
    }
    Arrays.sort(medians);
    return new RatioInterval(
        median(ratios),
        medians[(int) (0.025 * (RESAMPLES - 1))],
        medians[(int) Math.ceil(0.975 * (RESAMPLES - 1))]);
  }

  /** The median; of an even number of samples the mean of the middle two. */
  public static double median(double[] samples) {
    double[] sorted = samples.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }
}

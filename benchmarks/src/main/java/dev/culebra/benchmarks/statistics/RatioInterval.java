package dev.culebra.benchmarks.statistics;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.ToDoubleFunction;

/**
 * Medians of ratios with a 95 % interval by bootstrap: percentiles of 10,000 resamples, from a
 * fixed seed, so that the same samples give the same interval.
 */
public final class RatioInterval {
  private static final int RESAMPLES = 10_000;
  private static final long SEED = 0x43554c45425241L;

  private RatioInterval() {}

  /**
   * The ratio of two costs that were measured in interleaved pairs: the median of the pairs'
   * ratios. It is taken within each pair, because what disturbs a machine (clocks, other load)
   * lasts longer than a pair and mostly cancels there. The median is what one disturbed pair cannot
   * move.
   *
   * @return a claim "within 3 %" holds if its upper end is at most 1.03
   * @throws IllegalArgumentException if the two differ in length or there are none
   */
  public static Interval ofPairs(double[] baseline, double[] costs) {
    double[] ratios = ratios(baseline, costs);
    return interval(Samples.median(ratios), random -> resampledMedian(ratios, random));
  }

  /**
   * The ratio of the medians of two runs that know nothing of each other.
   *
   * @throws IllegalArgumentException if one has no samples
   */
  public static Interval ofRuns(double[] before, double[] after) {
    return interval(
        Samples.median(after) / Samples.median(before),
        random -> resampledMedian(after, random) / resampledMedian(before, random));
  }

  /** The ratio of each pair. */
  public static double[] ratios(double[] baseline, double[] costs) {
    if (baseline.length != costs.length || costs.length == 0) {
      throw new IllegalArgumentException(
          "need pairs, got " + baseline.length + " baseline samples and " + costs.length);
    }
    double[] ratios = new double[costs.length];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = costs[i] / baseline[i];
    }
    return ratios;
  }

  private static Interval interval(double median, ToDoubleFunction<SplittableRandom> resample) {
    SplittableRandom random = new SplittableRandom(SEED);
    double[] medians = new double[RESAMPLES];
    for (int i = 0; i < RESAMPLES; i++) {
      medians[i] = resample.applyAsDouble(random);
    }
    Arrays.sort(medians);
    return new Interval(
        median,
        medians[(int) (0.025 * (RESAMPLES - 1))],
        medians[(int) Math.ceil(0.975 * (RESAMPLES - 1))]);
  }

  private static double resampledMedian(double[] samples, SplittableRandom random) {
    double[] resample = new double[samples.length];
    for (int i = 0; i < resample.length; i++) {
      resample[i] = samples[random.nextInt(samples.length)];
    }
    return Samples.median(resample);
  }
}

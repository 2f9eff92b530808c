package dev.culebra.benchmarks.statistics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RatioIntervalTest {
  @Test
  void medianOfOddAndEven() {
    assertEquals(2, Samples.median(new double[] {3, 1, 2}));
    assertEquals(2.5, Samples.median(new double[] {4, 1, 3, 2}));
  }

  @Test
  void constantRatioHasAnIntervalOfNoWidth() {
    double[] baseline = {3, 5, 4, 9};
    double[] costs = Arrays.stream(baseline).map(c -> 2 * c).toArray();
    assertEquals(new Interval(2, 2, 2), RatioInterval.ofPairs(baseline, costs));
  }

  @Test
  void drift_that_hits_both_of_a_pair_cancels() {
    double[] baseline = new double[40];
    double[] costs = new double[40];
    for (int i = 0; i < 40; i++) {
      baseline[i] = 100 + 10 * i;
      costs[i] = baseline[i] * 1.01;
    }
    Interval ratio = RatioInterval.ofPairs(baseline, costs);
    assertEquals(1.01, ratio.median(), 1e-9);
    assertEquals(1.01, ratio.high(), 1e-9);
  }

  /**
   * The interval is a 95 % one: over many experiments it misses the true median in about 5 of 100.
   */
  @Test
  void intervalCoversTheTruthAboutAsOftenAsItSays() {
    SplittableRandom random = new SplittableRandom(7);
    int covered = 0;
    int experiments = 200;
    for (int e = 0; e < experiments; e++) {
      double[] baseline = new double[31];
      double[] costs = new double[31];
      for (int i = 0; i < 31; i++) {
        baseline[i] = 1;
        costs[i] = 1.02 + 0.05 * random.nextGaussian();
      }
      Interval ratio = RatioInterval.ofPairs(baseline, costs);
      if (ratio.low() <= 1.02 && 1.02 <= ratio.high()) {
        covered++;
      }
    }
    assertTrue(
        covered >= 180 && covered < experiments, "covered " + covered + " of " + experiments);
  }

  @Test
  void unpairedSamplesAreRefused() {
    assertThrows(
        IllegalArgumentException.class, () -> RatioInterval.ofPairs(new double[2], new double[3]));
    assertThrows(
        IllegalArgumentException.class, () -> RatioInterval.ofPairs(new double[0], new double[0]));
  }
}

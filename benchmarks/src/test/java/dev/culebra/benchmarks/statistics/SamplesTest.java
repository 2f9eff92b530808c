package dev.culebra.benchmarks.statistics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class SamplesTest {
  @Test
  void ranksAreThoseOfTheBinomialDistribution() {
    // Of 6 samples all lie on one side of the median once in 32 times; of 5 once in 16.
    assertEquals(1, Samples.rank(5));
    assertEquals(1, Samples.rank(6));
    assertEquals(1, Samples.rank(8));
    assertEquals(2, Samples.rank(9));
    assertEquals(10, Samples.rank(30));
    assertEquals(22, Samples.rank(60));
    assertEquals(40, Samples.rank(100));
  }

  @Test
  void intervalIsAPairOfSamplesAroundTheMedian() {
    assertEquals(new Interval(5, 2, 8), Samples.interval(9, 1, 8, 2, 7, 3, 6, 4, 5));
    assertEquals(new Interval(2, 1, 3), Samples.interval(3, 1, 2));
    assertEquals(new Interval(7, 7, 7), Samples.interval(7));
  }

  /** Also of a distribution with a long tail, which times have. */
  @Test
  void intervalCoversTheTruthAtLeastAsOftenAsItSays() {
    SplittableRandom random = new SplittableRandom(3);
    int covered = 0;
    int experiments = 400;
    for (int e = 0; e < experiments; e++) {
      double[] samples = new double[36];
      for (int i = 0; i < samples.length; i++) {
        samples[i] = Math.exp(random.nextGaussian()); // the median is 1
      }
      Interval interval = Samples.interval(samples);
      if (interval.low() <= 1 && 1 <= interval.high()) {
        covered++;
      }
    }
    assertTrue(covered >= 372 && covered < experiments, "covered " + covered);
  }

  @Test
  void quantilesAreSamples() {
    double[] samples = {5, 1, 4, 2, 3, 10, 9, 8, 7, 6};
    assertEquals(9, Samples.quantile(0.9, samples));
    assertEquals(1, Samples.quantile(0, samples));
    assertEquals(10, Samples.quantile(1, samples));
  }

  @Test
  void nothingHasNoMedian() {
    assertThrows(IllegalArgumentException.class, () -> Samples.median());
  }

  @Test
  void aMachineIsNoisyIfItsSlowestTenthIsSlow() {
    double[] quiet = new double[100];
    Arrays.fill(quiet, 10);
    assertFalse(Spin.isNoisy(quiet));
    double[] disturbed = quiet.clone();
    Arrays.fill(disturbed, 0, 11, 12);
    assertTrue(Spin.isNoisy(disturbed));
    Arrays.fill(disturbed, 0, 11, 10);
    disturbed[0] = 1000; // one hiccup is none
    assertFalse(Spin.isNoisy(disturbed));
  }

  @Test
  void theFixedLoopTakesTime() {
    for (double nanos : Spin.nanos(3)) {
      assertTrue(nanos > 1000, "took " + nanos);
    }
  }
}

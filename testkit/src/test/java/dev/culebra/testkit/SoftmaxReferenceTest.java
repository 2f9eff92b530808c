package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class SoftmaxReferenceTest {
  private static final double INF = Double.POSITIVE_INFINITY;

  @Test
  void knownValues() {
    // exp(ln k) = k, so the softmax of logarithms is the list of shares.
    double[] logits = {0, Math.log(2), Math.log(3), Math.log(4)};
    assertArrayEquals(
        new double[] {0.1, 0.2, 0.3, 0.4}, SoftmaxReference.rows(logits, 4, 1, false), 1e-15);
    assertArrayEquals(
        new double[] {Math.log(0.1), Math.log(0.2), Math.log(0.3), Math.log(0.4)},
        SoftmaxReference.rows(logits, 4, 1, true),
        1e-15);
  }

  @Test
  void scaleIsAFactorOfTheLogits() {
    assertArrayEquals(
        SoftmaxReference.rows(new double[] {2, -6, 1}, 3, 1, false),
        SoftmaxReference.rows(new double[] {4, -12, 2}, 3, 0.5, false),
        1e-16);
    // A negative scale turns the order: the maximum must be that of the scaled values.
    assertArrayEquals(
        SoftmaxReference.rows(new double[] {-2000, 2000}, 2, 1, false),
        SoftmaxReference.rows(new double[] {2000, -2000}, 2, -1, false));
  }

  @ParameterizedTest
  @EnumSource
  void finiteRowsSumToOne(HardInput input) {
    double[] result = SoftmaxReference.rows(input.rows(3, 57, StorageType.F32, 1), 57, 1, false);
    double[] sums = ReductionReference.SUM.rows(result, 3, 57);
    for (double sum : sums) {
      if (input.isFinite() || input.name().matches("(SOME|LEADING)_NEG.*")) {
        assertEquals(1, sum, 1e-12);
      } else {
        assertTrue(Double.isNaN(sum));
      }
    }
  }

  @Test
  void edges() {
    assertArrayEquals(
        new double[] {Double.NaN, Double.NaN},
        SoftmaxReference.rows(new double[] {-INF, -INF}, 2, 1, false));
    assertArrayEquals(
        new double[] {Double.NaN, Double.NaN},
        SoftmaxReference.rows(new double[] {1, INF}, 2, 1, true));
    assertArrayEquals(
        new double[] {0, 1}, SoftmaxReference.rows(new double[] {-INF, 7}, 2, 1, false));
    assertArrayEquals(
        new double[] {-INF, 0}, SoftmaxReference.rows(new double[] {-INF, 7}, 2, 1, true));
    assertArrayEquals(new double[] {1}, SoftmaxReference.rows(new double[] {1e300}, 1, 1, false));
    assertArrayEquals(new double[0], SoftmaxReference.rows(new double[0], 0, 1, false));
    assertThrows(
        IllegalArgumentException.class, () -> SoftmaxReference.rows(new double[5], 3, 1, false));
  }

  @Test
  void lowPrecisionIsWorseThanTruthButNotByMuch() {
    double[] logits = HardInput.NORMAL.row(200, StorageType.BF16, 5);
    double error =
        Judgement.maxError(
            SoftmaxReference.rows(logits, 200, 1, false),
            SoftmaxReference.rows(logits, 200, 1, false, StorageType.BF16));
    assertTrue(error > 0 && error < 1e-2, () -> "error " + error);
  }
}

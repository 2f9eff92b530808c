package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class TopKReferenceTest {
  private static final double INF = Double.POSITIVE_INFINITY;
  private static final double NAN = Double.NaN;

  @Test
  void largerFirstAndOfEqualOnesTheLowerIndex() {
    double[] rows = {1, 5, 3, 5, 2, 2, 2, 2};
    assertArrayEquals(new int[] {1, 3, 2, 0, 1, 2}, TopKReference.indices(rows, 4, 3, false));
    assertArrayEquals(new int[] {0, 2, 1, 0, 1, 2}, TopKReference.indices(rows, 4, 3, true));
  }

  @Test
  void zerosAreEqualAndNaNIsFirst() {
    assertArrayEquals(
        new int[] {0, 1, 2}, TopKReference.indices(new double[] {-0.0, 0.0, -0.0}, 3, 3, false));
    double[] row = {INF, NAN, -INF, NAN, 0};
    assertArrayEquals(new int[] {1, 3, 0, 4, 2}, TopKReference.indices(row, 5, 5, false));
    assertArrayEquals(new int[] {1, 3, 2, 4, 0}, TopKReference.indices(row, 5, 5, true));
  }

  @Test
  void picks() {
    assertArrayEquals(
        new double[] {30, 10, 60},
        TopKReference.pick(new double[] {10, 20, 30, 40, 50, 60}, 3, new int[] {2, 0, 2}, 2),
        0.0);
  }

  @Test
  void moreThanThereAreIsRefused() {
    assertThrows(
        IllegalArgumentException.class, () -> TopKReference.indices(new double[4], 4, 5, false));
    assertThrows(
        IllegalArgumentException.class, () -> TopKReference.indices(new double[5], 4, 1, false));
  }
}

package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SoftmaxBackwardReferenceTest {
  private static final double INF = Double.POSITIVE_INFINITY;
  private static final double NAN = Double.NaN;

  @ParameterizedTest
  @CsvSource({"1, false", "1, true", "-0.5, false", "-0.5, true", "0, false", "3, true"})
  @DisplayName("it is the derivative of the softmax")
  void isTheDerivative(double scale, boolean log) {
    double[] x = {0.3, -1.25, 2, 0.5, -3};
    double[] dy = {1, -2, 0.5, 3, 0.25};
    double[] y = SoftmaxReference.rows(x, 5, scale, log);
    double[] dx = SoftmaxBackwardReference.rows(y, dy, 5, scale, log);
    double step = 0x1p-20;
    for (int i = 0; i < x.length; i++) {
      double slope =
          (weighted(x, i, step, dy, scale, log) - weighted(x, i, -step, dy, scale, log))
              / (2 * step);
      assertEquals(slope, dx[i], 1e-8, "element " + i);
    }
  }

  private static double weighted(
      double[] x, int at, double step, double[] dy, double scale, boolean log) {
    double[] moved = x.clone();
    moved[at] += step;
    double[] y = SoftmaxReference.rows(moved, moved.length, scale, log);
    double sum = 0;
    for (int i = 0; i < y.length; i++) {
      sum += dy[i] * y[i];
    }
    return sum;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  @DisplayName("what weighs nothing takes no part, whatever its gradient is")
  void withoutPart(boolean log) {
    double out = log ? -INF : 0;
    double half = log ? Math.log(0.5) : 0.5;
    double[] y = {half, out, half, out, out, out};
    double[] dy = {3, NAN, 1, INF, -INF, NAN};
    double[] dx = SoftmaxBackwardReference.rows(y, dy, 3, 2, log);
    assertArrayEquals(
        log ? new double[] {2, 0, -2, 0, 0, 0} : new double[] {1, 0, -1, 0, 0, 0}, dx, 1e-15);
    dy[0] = NAN;
    dx = SoftmaxBackwardReference.rows(y, dy, 3, 2, log);
    assertArrayEquals(new double[] {NAN, 0, NAN, 0, 0, 0}, dx);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void unequalLengthsAreRefused(int rowLength) {
    assertThrows(
        IllegalArgumentException.class,
        () -> SoftmaxBackwardReference.rows(new double[4], new double[4], rowLength, 1, false));
    assertThrows(
        IllegalArgumentException.class,
        () -> SoftmaxBackwardReference.rows(new double[4], new double[5], 4, 1, false));
  }
}

package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A judge is worth something only if it also condemns. */
class JudgementTest {
  @ParameterizedTest
  @EnumSource(names = {"F16", "BF16"})
  void correctlyRoundedTruthPassesAndAVisibleErrorDoesNot(StorageType type) {
    double[] logits = HardInput.NORMAL.row(64, type, 3);
    double[] truth = SoftmaxReference.rows(logits, 64, 1, false);
    double[] yardstick = SoftmaxReference.rows(logits, 64, 1, false, type);
    double[] actual = truth.clone();
    for (int i = 0; i < actual.length; i++) {
      actual[i] = type.round(actual[i]);
    }
    Judgement.assertAsGoodAsStraightforward(type, truth, yardstick, actual);

    actual[17] += 40 * type.unitRoundoff();
    AssertionError error =
        assertThrows(
            AssertionError.class,
            () -> Judgement.assertAsGoodAsStraightforward(type, truth, yardstick, actual));
    assertTrue(String.valueOf(error.getMessage()).startsWith("element 17 "), error::getMessage);
  }

  @Test
  void nanNeverPassesForANumber() {
    double[] truth = {0.5, 0.5};
    double[] actual = {0.5, Double.NaN};
    assertThrows(AssertionError.class, () -> Judgement.assertClose(truth, actual, 1, 1));
    assertThrows(
        AssertionError.class,
        () -> Judgement.assertAsGoodAsStraightforward(StorageType.F16, truth, truth, actual));
  }

  @Test
  void specialsMustBeTheSame() {
    double[] truth = {Double.NaN, Double.NEGATIVE_INFINITY, 0};
    Judgement.assertClose(truth, truth.clone(), 0, 0);
    assertThrows(
        AssertionError.class,
        () ->
            Judgement.assertClose(
                truth, new double[] {Double.NaN, Double.POSITIVE_INFINITY, 0}, 1, 1));
    assertThrows(
        AssertionError.class, () -> Judgement.assertClose(truth, new double[] {0, 0, 0}, 1, 1));
    assertThrows(
        AssertionError.class, () -> Judgement.assertClose(truth, new double[] {Double.NaN}, 1, 1));
  }

  @Test
  void relativeOrAbsolute() {
    double[] truth = {1000, 1e-40};
    Judgement.assertClose(truth, new double[] {1000.5, 0}, 1e-3, 1e-38);
    assertThrows(
        AssertionError.class,
        () -> Judgement.assertClose(truth, new double[] {1000.5, 0}, 1e-4, 1e-38));
    assertThrows(
        AssertionError.class, () -> Judgement.assertClose(truth, new double[] {1000, 0}, 1e-3, 0));
    assertEquals(0.5, Judgement.maxError(truth, new double[] {1000.5, 0}));
  }
}

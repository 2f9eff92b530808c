package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ReductionReferenceTest {
  @Test
  void values() {
    assertEquals(6, ReductionReference.SUM.of(1, 2, 3));
    assertEquals(2, ReductionReference.MEAN.of(1, 2, 3));
    assertEquals(3, ReductionReference.MAX.of(1, 3, 2));
    assertEquals(-3, ReductionReference.MIN.of(1, -3, 2));
    assertArrayEquals(
        new double[] {3, 7}, ReductionReference.SUM.rows(new double[] {1, 2, 3, 4}, 2, 2));
  }

  @Test
  void sumKeepsWhatCancellationHides() {
    assertEquals(2, ReductionReference.SUM.of(1, 1e100, 1, -1e100));
    assertEquals(2e100, ReductionReference.sumOfMagnitudes(1e100, -1e100));
  }

  @Test
  void emptyInputsGiveTheIdentity() {
    assertEquals(0, ReductionReference.SUM.of());
    assertEquals(Double.NEGATIVE_INFINITY, ReductionReference.MAX.of());
    assertEquals(Double.POSITIVE_INFINITY, ReductionReference.MIN.of());
    assertEquals(Double.NaN, ReductionReference.MEAN.of());
    assertArrayEquals(new double[] {0, 0}, ReductionReference.SUM.rows(new double[0], 2, 0));
  }

  @ParameterizedTest
  @EnumSource
  void nanInGivesNanOut(ReductionReference reduction) {
    assertEquals(reduction.isIndex() ? 1 : Double.NaN, reduction.of(1, Double.NaN, 2));
    assertEquals(
        reduction.isIndex() ? 1 : Double.NaN, reduction.of(Double.POSITIVE_INFINITY, Double.NaN));
  }

  @Test
  void infinitiesAdd() {
    assertEquals(
        Double.POSITIVE_INFINITY, ReductionReference.SUM.of(1, Double.POSITIVE_INFINITY, 2));
    assertEquals(
        Double.NaN, ReductionReference.SUM.of(Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY));
  }

  @Test
  void indicesAreThoseOfTheFirst() {
    assertEquals(1, ReductionReference.ARGMAX.of(1, 3, 3, 2));
    assertEquals(0, ReductionReference.ARGMIN.of(-0.0, 0.0, 1));
    assertEquals(0, ReductionReference.ARGMAX.of(-0.0, 0.0, -1));
    assertEquals(0, ReductionReference.ARGMAX.of(Double.NEGATIVE_INFINITY));
    assertEquals(-1, ReductionReference.ARGMIN.of());
    assertEquals(2, ReductionReference.ARGMIN.of(4, 3, Double.NaN, Double.NaN));
  }

  @Test
  void normsAndLogarithmsStayInRange() {
    assertEquals(5e200, ReductionReference.L2_NORM.of(3e200, -4e200), 1e186);
    assertEquals(5e-200, ReductionReference.L2_NORM.of(3e-200, 4e-200), 1e-214);
    assertEquals(1000 + Math.log(2), ReductionReference.LOGSUMEXP.of(1000, 1000), 1e-12);
    assertEquals(Double.NEGATIVE_INFINITY, ReductionReference.LOGSUMEXP.of());
    assertEquals(
        Double.NEGATIVE_INFINITY, ReductionReference.LOGSUMEXP.of(Double.NEGATIVE_INFINITY));
    assertEquals(
        Double.POSITIVE_INFINITY, ReductionReference.LOGSUMEXP.of(1, Double.POSITIVE_INFINITY));
  }

  @Test
  void integersAreExact() {
    assertEquals(Long.MIN_VALUE, ReductionReference.SUM.ofIntegers(Long.MAX_VALUE, 1));
    assertEquals(1, ReductionReference.ARGMAX.ofIntegers(1, Long.MAX_VALUE, Long.MAX_VALUE));
    assertEquals(-3, ReductionReference.MIN.ofIntegers(1, -3, 2));
    assertEquals(Long.MAX_VALUE, ReductionReference.meanOfIntegers(Long.MAX_VALUE, Long.MAX_VALUE));
  }
}

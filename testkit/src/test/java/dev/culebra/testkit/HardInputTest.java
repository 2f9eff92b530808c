package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class HardInputTest {
  @ParameterizedTest
  @EnumSource
  void repeatableExactInTheTypeAndAsFiniteAsItSays(HardInput input) {
    for (StorageType type : StorageType.values()) {
      double[] row = input.row(33, type, 11);
      assertArrayEquals(row, input.row(33, type, 11));
      assertArrayEquals(row, Arrays.stream(row).map(type::round).toArray());
      assertEquals(input.isFinite(), Arrays.stream(row).allMatch(Double::isFinite));
      assertEquals(1, input.row(1, type, 11).length);
      assertEquals(0, input.row(0, type, 11).length);
    }
  }

  @Test
  void rowsDiffer() {
    double[] two = HardInput.NORMAL.rows(2, 8, StorageType.F32, 1);
    assertFalse(Arrays.equals(two, 0, 8, two, 8, 16));
  }

  @Test
  void denormalsAreDenormal() {
    for (double value : HardInput.DENORMAL.row(50, StorageType.F16, 2)) {
      assertFalse(Math.abs(value) >= StorageType.F16.minNormal());
    }
  }
}

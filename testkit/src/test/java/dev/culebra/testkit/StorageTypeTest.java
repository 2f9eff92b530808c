package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.MemorySegment;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StorageTypeTest {
  @Test
  void everyF16PatternSurvivesRoundingAndStorage() {
    MemorySegment cell = MemorySegment.ofArray(new byte[2]);
    for (int bits = 0; bits < 1 << 16; bits++) {
      double value = Float.float16ToFloat((short) bits);
      assertEquals(value, StorageType.F16.round(value));
      StorageType.F16.set(cell, 0, value);
      assertEquals(value, StorageType.F16.get(cell, 0));
    }
  }

  @Test
  void everyBf16PatternSurvivesRoundingAndStorage() {
    MemorySegment cell = MemorySegment.ofArray(new byte[2]);
    for (int bits = 0; bits < 1 << 16; bits++) {
      double value = Float.intBitsToFloat(bits << 16);
      assertEquals(value, StorageType.BF16.round(value));
      StorageType.BF16.set(cell, 0, value);
      assertEquals(value, StorageType.BF16.get(cell, 0));
    }
  }

  @Property
  void f16AgreesWithTheJdkOnFloats(@ForAll float value) {
    assertEquals(
        (double) Float.float16ToFloat(Float.floatToFloat16(value)), StorageType.F16.round(value));
  }

  @Property
  void f32AgreesWithTheCast(@ForAll double value) {
    assertEquals((double) (float) value, StorageType.F32.round(value));
  }

  @Property
  void bf16TakesTheNearerNeighbour(@ForAll float value) {
    double rounded = StorageType.BF16.round(value);
    float below = Float.intBitsToFloat(Float.floatToRawIntBits(value) & 0xFFFF0000);
    float beyond = Float.intBitsToFloat((Float.floatToRawIntBits(value) & 0xFFFF0000) + 0x10000);
    assertTrue(rounded == below || rounded == beyond);
    if (Float.isFinite(beyond)) {
      double error = Math.abs(rounded - (double) value);
      assertTrue(error <= Math.abs((double) below - value));
      assertTrue(error <= Math.abs((double) beyond - value));
    }
  }

  @Test
  void tiesGoToEven() {
    assertEquals(1.0, StorageType.BF16.round(1 + 0x1p-8));
    assertEquals(1 + 0x1p-6, StorageType.BF16.round(1 + 3 * 0x1p-8));
    assertEquals(1.0, StorageType.F16.round(1 + 0x1p-11));
  }

  @Test
  void roundsOnceNotTwice() {
    // Through float this becomes the tie 1 + 2^-11 and falls to 1; it is above the tie.
    assertEquals(1 + 0x1p-10, StorageType.F16.round(1 + 0x1p-11 + 0x1p-40));
  }

  @Test
  void overflowIsInfinityAndUnderflowKeepsItsSign() {
    assertEquals(65504.0, StorageType.F16.round(65519.9));
    assertEquals(Double.POSITIVE_INFINITY, StorageType.F16.round(65520));
    assertEquals(Double.NEGATIVE_INFINITY, StorageType.BF16.round(-3.4e38));
    assertEquals(-0.0, StorageType.F16.round(-1e-9));
    assertEquals(Double.NaN, StorageType.BF16.round(Double.NaN));
  }

  @ParameterizedTest
  @EnumSource
  void encodesAndDecodes(StorageType type) {
    double[] values = {
      0,
      -0.0,
      1,
      -2.5,
      type.maxValue(),
      type.minNormal(),
      type.minValue(),
      Double.NaN,
      Double.POSITIVE_INFINITY,
      Double.NEGATIVE_INFINITY
    };
    byte[] encoded = type.encode(values);
    assertEquals(values.length * type.bytes(), encoded.length);
    assertArrayEquals(values, type.decode(MemorySegment.ofArray(encoded)));
  }
}

package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.testkit.StorageType;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

class SixteenBitTest {

  @Test
  void everyPatternComesBackFromItsFloat() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      for (SixteenBit type : SixteenBit.values()) {
        float value = type.widen((short) bits);
        short back = type.round(value);
        if (Float.isNaN(value)) {
          assertTrue(Float.isNaN(type.widen(back)));
        } else {
          assertEquals((short) bits, back);
        }
      }
    }
  }

  @Property
  void roundsAsTheTruthDoes(@ForAll float value) {
    assertEquals(
        (float) StorageType.BF16.round(value), SixteenBit.BF16.widen(SixteenBit.BF16.round(value)));
    assertEquals(
        (float) StorageType.F16.round(value), SixteenBit.F16.widen(SixteenBit.F16.round(value)));
  }

  @Property
  void aDoubleIsRoundedOnce(@ForAll double value) {
    short f16 = (short) DeviceFill.bitsOf(ElementType.F16, value);
    short bf16 = (short) DeviceFill.bitsOf(ElementType.BF16, value);
    assertEquals((float) StorageType.F16.round(value), SixteenBit.F16.widen(f16));
    assertEquals((float) StorageType.BF16.round(value), SixteenBit.BF16.widen(bf16));
  }

  @Test
  void aDoubleJustAboveATieIsRoundedUp() {
    // 1 + 2^-11 is the tie between two halves; the float nearest to a little more is the tie
    // itself.
    double aboveTie = 1 + 0x1p-11 + 0x1p-40;
    assertEquals(0x3c01, DeviceFill.bitsOf(ElementType.F16, aboveTie));
    assertEquals(0x3c00, DeviceFill.bitsOf(ElementType.F16, 1 + 0x1p-11));
  }
}

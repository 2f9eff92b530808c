package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class QuantitiesTest {
  @Test
  void threeDigitsAndAUnit() {
    assertEquals("0 B", Quantities.bytes(0));
    assertEquals("1023 B", Quantities.bytes(1023));
    assertEquals("1.50 KiB", Quantities.bytes(1536));
    assertEquals("141 GiB", Quantities.bytes(141L << 30));
    assertEquals("8.00 EiB", Quantities.bytes(Long.MAX_VALUE));
    assertEquals("4.27 TB/s", Quantities.bytesPerSecond(4.27e12));
    assertEquals("12.3 ms", Quantities.seconds(0.0123));
    assertEquals("1.50 s", Quantities.seconds(1.5));
    assertEquals("0.50 us", Quantities.seconds(5e-7));
    assertEquals("4000 x 32000", Quantities.shape(new long[] {4000, 32000}));
    assertEquals("scalar", Quantities.shape(new long[0]));
  }
}

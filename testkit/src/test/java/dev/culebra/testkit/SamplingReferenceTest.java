package dev.culebra.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SamplingReferenceTest {

  @Test
  @DisplayName("the answers that the authors of Philox publish with it (kat_vectors)")
  void philox() {
    assertArrayEquals(
        new int[] {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        PhiloxReference.block(new int[4], new int[2]));
    assertArrayEquals(
        new int[] {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd},
        PhiloxReference.block(new int[] {-1, -1, -1, -1}, new int[] {-1, -1}));
    assertArrayEquals(
        new int[] {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1},
        PhiloxReference.block(
            new int[] {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
            new int[] {0xa4093822, 0x299f31d0}));
    assertEquals(0xe169c58d6627e8d5L, PhiloxReference.bits(0, 0, 0));
  }

  /** Probabilities of 1/8, 1/2, 1/8 and 1/4. */
  private static final double[] ROW = {0, Math.log(4), 0, Math.log(2)};

  @Test
  void filtersKeepPrefixes() {
    assertEquals(4, new SamplingReference(ROW, 1, 0, 1, 0, 1e-9).left());
    assertEquals(3, new SamplingReference(ROW, 1, 3, 1, 0, 1e-9).left());
    assertEquals(1, new SamplingReference(ROW, 1, 0, 0.4, 0, 1e-9).left());
    assertEquals(2, new SamplingReference(ROW, 1, 0, 0.6, 0, 1e-9).left());
    assertEquals(2, new SamplingReference(ROW, 1, 0, 1, 0.4, 1e-9).left());
    assertEquals(1, new SamplingReference(ROW, 1, 0, 1, 1, 1e-9).left());
    // Of 3/4 that top-k leaves, 0.6 is the first; of the whole it would not be.
    assertEquals(1, new SamplingReference(ROW, 1, 2, 0.6, 0, 1e-9).left());
    assertEquals(2.0 / 3, new SamplingReference(ROW, 1, 2, 1, 0, 1e-9).probability(1), 1e-15);
    assertEquals(0, new SamplingReference(ROW, 1, 2, 1, 0, 1e-9).probability(0));
  }

  @Test
  void bitsFallOnOneElement() {
    SamplingReference all = new SamplingReference(ROW, 1, 0, 1, 0, 1e-9);
    all.judge(0, 0, 0.125);
    all.judge(0x3000000000000000L, 1, 0.5);
    all.judge(0xb000000000000000L, 2, 0.125);
    all.judge(-1, 3, 0.25);
    assertThrows(AssertionError.class, () -> all.judge(0, 1, 0.5));
    assertThrows(AssertionError.class, () -> all.judge(-1, 2, 0.125));
    assertThrows(AssertionError.class, () -> all.judge(0, 0, 0.126));
    assertThrows(AssertionError.class, () -> all.judge(0, 0, Double.NaN));
    assertThrows(AssertionError.class, () -> all.judge(0, -1, Double.NaN));
    // The half and the quarter are left, with 2/3 and 1/3.
    SamplingReference two = new SamplingReference(ROW, 1, 2, 1, 0, 1e-9);
    two.judge(0xa000000000000000L, 1, 2.0 / 3);
    two.judge(0xb000000000000000L, 3, 1.0 / 3);
    assertThrows(AssertionError.class, () -> two.judge(0, 0, 0.125));
  }
}

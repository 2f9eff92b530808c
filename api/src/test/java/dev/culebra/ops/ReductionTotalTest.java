package dev.culebra.ops;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.culebra.ElementType;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ReductionTotalTest {

  /** What the kernels write for the place of nothing. */
  private static final long NOWHERE = Long.MAX_VALUE;

  @Test
  @DisplayName("the place of an empty piece is no place, wherever the piece comes")
  void emptyPiecesHaveNoPlace() {
    long least = Double.doubleToRawLongBits(Double.NEGATIVE_INFINITY);
    assertPlaces(ReductionTotal.of(Reduction.Op.ARGMAX, ElementType.F32), least);
    assertPlaces(ReductionTotal.of(Reduction.Op.ARGMAX, ElementType.I32), Long.MIN_VALUE);
  }

  private static void assertPlaces(ReductionTotal total, long least) {
    total.add(MemorySegment.ofArray(new long[] {least, NOWHERE}), 0);
    assertEquals(-1, total.longValue());
    total.add(MemorySegment.ofArray(new long[] {least, 2}), 5);
    assertEquals(2, total.longValue());
    total.add(MemorySegment.ofArray(new long[] {least, NOWHERE}), 0);
    assertEquals(2, total.longValue());
    assertEquals(5, total.elements());
  }
}

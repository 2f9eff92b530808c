package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class SlotRingTest {
  private final List<String> told = new ArrayList<>();
  private int made;

  private final class NumberedSlot implements SlotRing.Slot {
    private final int number = made++;

    @Override
    public void close() {
      told.add("closed " + number);
      if (number == 1) {
        throw new IllegalStateException("slot 1");
      }
    }
  }

  @Test
  @DisplayName("a slot is emptied when its turn comes again, and the rest in the order of filling")
  void inTurn() throws IOException {
    SlotRing<NumberedSlot> ring = new SlotRing<>(3, NumberedSlot::new);
    for (int piece = 0; piece < 5; piece++) {
      NumberedSlot slot = ring.next();
      assertEquals(piece % 3, slot.number);
      int filled = piece;
      ring.inFlight(10 + piece, () -> told.add("emptied " + filled));
      assertEquals(Math.max(0, piece - 2), told.size(), "three are in flight at a time");
    }
    ring.drain();
    assertEquals(List.of("emptied 0", "emptied 1", "emptied 2", "emptied 3", "emptied 4"), told);
    ring.drain();
    assertEquals(5, told.size(), "each is emptied once");
    assertEquals(12 + 13 + 14, ring.mostInFlightBytes(), "of the last three together");
  }

  @Test
  @DisplayName("asking again before anything is in flight gives the same slot")
  void unusedSlotStaysNext() throws IOException {
    SlotRing<NumberedSlot> ring = new SlotRing<>(2, NumberedSlot::new);
    NumberedSlot first = ring.next();
    assertSame(first, ring.next());
    ring.inFlight(1, () -> {});
    assertNotSame(first, ring.next());
  }

  @Test
  @DisplayName("what fails while a slot is emptied comes out, and the slot is not emptied again")
  void failures() throws IOException {
    SlotRing<NumberedSlot> ring = new SlotRing<>(1, NumberedSlot::new);
    ring.next();
    ring.inFlight(
        1,
        () -> {
          throw new IOException("full");
        });
    assertEquals("full", assertThrows(IOException.class, ring::next).getMessage());
    ring.drain();
  }

  @Test
  @DisplayName("all slots are closed, the last first, though one fails; those of a failed ring too")
  void closesAll() {
    SlotRing<NumberedSlot> ring = new SlotRing<>(3, NumberedSlot::new);
    assertThrows(IllegalStateException.class, ring::close);
    assertEquals(List.of("closed 2", "closed 1", "closed 0"), told);
    ring.close();
    assertEquals(3, told.size());

    told.clear();
    made = 5;
    assertThrows(
        ArithmeticException.class,
        () ->
            new SlotRing<>(
                3,
                () -> {
                  if (made == 7) {
                    throw new ArithmeticException();
                  }
                  return new NumberedSlot();
                }));
    assertEquals(List.of("closed 6", "closed 5"), told);
  }

  @Test
  @DisplayName("slots share the budget; one may be larger, and there is always one")
  void sizes() {
    assertEquals(25, SlotRing.slotBytes(100, 10));
    assertEquals(4, SlotRing.count(100, 25, 1000));
    assertEquals(2, SlotRing.count(100, 25, 2));
    assertEquals(60, SlotRing.slotBytes(100, 60));
    assertEquals(1, SlotRing.count(100, 60, 1000));
    assertEquals(500, SlotRing.slotBytes(100, 500));
    assertEquals(1, SlotRing.count(100, 500, 1000));
    assertEquals(1, SlotRing.slotBytes(1, 0));
    assertEquals(4, SlotRing.count(1L << 40, 1, Long.MAX_VALUE));
  }
}

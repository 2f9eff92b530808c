package dev.culebra.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Slots that pieces of a tensor go through in turn: while the device copies and computes what is in
 * some, the host empties the oldest and fills it again. Confined to a thread.
 *
 * @param <S> what a piece takes: its stream and its memory
 */
final class SlotRing<S extends SlotRing.Slot> implements AutoCloseable {
  /** What closes without a checked exception. */
  interface Slot extends AutoCloseable {
    @Override
    void close();
  }

  /** Empties a slot: waits for its results and takes them away. */
  interface Emptying {
    void run() throws IOException;
  }

  /**
   * One is copied to the device, one computed, one copied back, and one filled or emptied by the
   * host.
   */
  static final int MOST_SLOTS = 4;

  private final ClosingStack closing = new ClosingStack();
  private final List<S> slots = new ArrayList<>();
  private final @Nullable Emptying[] inFlight;
  private final long[] bytes;
  private int next;
  private long inFlightBytes;
  private long mostInFlightBytes;

  /** Makes the slots; if one cannot be made, those that were are closed. */
  SlotRing(int count, Supplier<S> make) {
    inFlight = new Emptying[count];
    bytes = new long[count];
    try {
      for (int i = 0; i < count; i++) {
        S slot = make.get();
        slots.add(slot);
        closing.push(slot::close);
      }
    } catch (Throwable t) {
      close();
      throw t;
    }
  }

  /**
   * How large slots are that together take at most so much.
   *
   * @param budgetBytes of all together
   * @param leastBytes of one, which may be more than the budget
   */
  static long slotBytes(long budgetBytes, long leastBytes) {
    return Math.max(1, Math.max(leastBytes, budgetBytes / MOST_SLOTS));
  }

  /** How many slots of that size there are within the budget, and pieces to fill them. */
  static int count(long budgetBytes, long slotBytes, long pieces) {
    return Math.clamp(Math.min(budgetBytes / slotBytes, pieces), 1, MOST_SLOTS);
  }

  /** The slot for the next piece: empty, after what was in it has been taken away. */
  S next() throws IOException {
    empty(next);
    return slots.get(next);
  }

  /**
   * Says that the work of the slot given last has been enqueued.
   *
   * @param pieceBytes of the piece that is in it
   * @param emptying takes its results away
   */
  void inFlight(long pieceBytes, Emptying emptying) {
    inFlight[next] = emptying;
    bytes[next] = pieceBytes;
    inFlightBytes += pieceBytes;
    mostInFlightBytes = Math.max(mostInFlightBytes, inFlightBytes);
    next = (next + 1) % slots.size();
  }

  /** {@return of how many bytes the work was enqueued and not yet waited for, at most} */
  long mostInFlightBytes() {
    return mostInFlightBytes;
  }

  /** Empties all slots, in the order in which they were filled. */
  void drain() throws IOException {
    for (int i = 0; i < slots.size(); i++) {
      empty((next + i) % slots.size());
    }
  }

  private void empty(int slot) throws IOException {
    Emptying emptying = inFlight[slot];
    if (emptying != null) {
      inFlight[slot] = null;
      inFlightBytes -= bytes[slot];
      emptying.run();
    }
  }

  /** Closes the slots, whatever is in them. */
  @Override
  public void close() {
    closing.close();
  }
}

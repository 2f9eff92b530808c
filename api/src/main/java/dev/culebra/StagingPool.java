package dev.culebra;

import dev.culebra.bindings.Driver;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.ConcurrentLinkedDeque;

/**
 * Pinned memory for synchronous copies, one slab for each copy that runs at once. Allocating pinned
 * memory takes most of a millisecond, so slabs are kept until the context closes.
 */
final class StagingPool {

  /**
   * Large enough that a piece takes longer than the calls around it, small enough to stay in the
   * host's cache.
   */
  static final long HALF_BYTES = 2L << 20;

  private final Context context;
  private final ConcurrentLinkedDeque<Slab> idle = new ConcurrentLinkedDeque<>();

  StagingPool(Context context) {
    this.context = context;
  }

  /** A slab of which no half is in use. Inside {@link Context#guarded}. */
  Slab borrow() {
    Slab slab = idle.pollFirst();
    return slab != null ? slab : Slab.allocate(context);
  }

  /** Takes a slab back that the device does not use any more. */
  void giveBack(Slab slab) {
    idle.addFirst(slab);
  }

  /** Two halves, each with an event that says when the device is done with it. */
  static final class Slab extends Owned {

    private final PinnedMemory memory;
    private final MemorySegment[] halves;
    private final NativeEvent[] passed;
    private final boolean[] inFlight = new boolean[2];

    private Slab(Context context, PinnedMemory memory, NativeEvent[] passed) {
      super(context, "staging memory");
      this.memory = memory;
      MemorySegment whole = memory.segment();
      halves = new MemorySegment[] {whole.asSlice(0, HALF_BYTES), whole.asSlice(HALF_BYTES)};
      this.passed = passed;
    }

    static Slab allocate(Context context) {
      // The events first: they belong to the pool also if something fails, the memory would leak.
      NativeEvent[] passed = {context.events().borrow(false), context.events().borrow(false)};
      Slab slab = new Slab(context, PinnedMemory.allocate(context, 2 * HALF_BYTES), passed);
      context.own(slab);
      return slab;
    }

    MemorySegment half(int half) {
      return halves[half];
    }

    void enqueued(int half, NativeStream stream) {
      Driver.eventRecord(passed[half].handle(), stream.handle());
      inFlight[half] = true;
    }

    void await(int half) {
      if (inFlight[half]) {
        Driver.eventSynchronize(passed[half].handle());
        inFlight[half] = false;
      }
    }

    @Override
    void free() {
      memory.free(context);
    }
  }
}

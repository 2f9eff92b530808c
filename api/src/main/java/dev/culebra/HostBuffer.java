package dev.culebra;

import dev.culebra.bindings.Driver;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Pinned host memory, which the device reads and writes by itself while the host goes on: what
 * asynchronous copies need.
 *
 * <p>The memory is held while a copy is in flight: {@link #segment} and {@link #close} wait until
 * it has passed. So ask for the segment each time before touching the memory, and do not touch a
 * segment asked for earlier while a copy may run.
 *
 * <p>Any thread may use and close it.
 */
public final class HostBuffer implements AutoCloseable {

  private final Pinned pinned;

  HostBuffer(Context context, long byteSize) {
    if (byteSize < 1) {
      throw new IllegalArgumentException(
          "pinned memory of " + byteSize + " bytes cannot be allocated");
    }
    pinned =
        context.guarded(
            "cuMemHostAlloc",
            () -> {
              Pinned made = new Pinned(context, PinnedMemory.allocate(context, byteSize));
              context.own(made);
              return made;
            });
    pinned.handOut(this);
  }

  private static final class Pinned extends Owned {

    private final PinnedMemory memory;
    private final List<InFlight> inFlight = new ArrayList<>();

    Pinned(Context context, PinnedMemory memory) {
      super(context, "HostBuffer of " + memory.segment().byteSize() + " bytes");
      this.memory = memory;
    }

    /**
     * A stream's last copy. A later copy of the same stream takes its place, for it passes later.
     */
    private static final class InFlight {
      private final NativeStream stream;
      private final NativeEvent event;
      private long copies;

      InFlight(NativeStream stream, NativeEvent event) {
        this.stream = stream;
        this.event = event;
      }
    }

    synchronized void enqueue(NativeStream stream, Runnable copy) {
      InFlight entry = null;
      for (InFlight other : inFlight) {
        if (other.stream == stream) {
          entry = other;
        }
      }
      if (entry == null) {
        entry = new InFlight(stream, context.events().borrow(false));
        inFlight.add(entry);
      }
      long event = entry.event.handle();
      entry.copies++;
      try {
        copy.run();
      } finally {
        // Also when the copy failed: how far the driver came with it is not known.
        Driver.eventRecord(event, stream.handle());
      }
    }

    /** No lock is held while waiting; an entry that was used again meanwhile stays. */
    void awaitIdle() {
      record Seen(InFlight entry, long copies) {}
      List<Seen> seen = new ArrayList<>();
      synchronized (this) {
        inFlight.forEach(entry -> seen.add(new Seen(entry, entry.copies)));
      }
      for (Seen one : seen) {
        Driver.eventSynchronize(one.entry.event.handle());
        synchronized (this) {
          if (one.entry.copies == one.copies && inFlight.remove(one.entry)) {
            context.events().giveBack(one.entry.event);
          }
        }
      }
    }

    @Override
    void free() {
      awaitIdle();
      memory.free(context);
    }
  }

  /**
   * The memory, when no copy uses it any more: waits until those in flight have passed.
   *
   * @return a segment of {@link #byteSize} bytes that any thread may use until this buffer is
   *     closed
   * @throws dev.culebra.bindings.KernelFaultException if a kernel broke a rule; the context is
   *     poisoned then
   */
  public MemorySegment segment() {
    pinned.requireOpen();
    context().call("cuEventSynchronize", pinned::awaitIdle);
    return pinned.memory.segment();
  }

  /** {@return the size in bytes} */
  public long byteSize() {
    return pinned.memory.segment().byteSize();
  }

  /** {@return the context in which it was allocated} */
  public Context context() {
    return pinned.context;
  }

  /** {@return whether {@link #close} was called} */
  public boolean isClosed() {
    return pinned.isClosed();
  }

  /**
   * Waits for copies in flight and frees the memory; its segments cannot be used any more. Closing
   * again does nothing.
   *
   * @throws IllegalStateException if another thread is touching a segment right now; the buffer
   *     stays open, and can be closed again
   */
  @Override
  public void close() {
    pinned.close();
  }

  /** A part for a copy, without waiting. */
  MemorySegment part(long offsetBytes, long bytes) {
    pinned.requireOpen();
    if (offsetBytes < 0 || offsetBytes > byteSize() - bytes) {
      throw new IndexOutOfBoundsException(
          "bytes " + offsetBytes + " to " + (offsetBytes + bytes) + " do not lie in " + this);
    }
    return pinned.memory.segment().asSlice(offsetBytes, bytes);
  }

  /**
   * Calls what enqueues a copy, with the context current, and remembers that the memory is in use
   * until the copy has passed.
   */
  void enqueue(String function, NativeStream stream, Runnable copy) {
    context().call(function, () -> pinned.enqueue(stream, () -> context().withCurrent(copy)));
  }

  /** {@return size and state} */
  @Override
  public String toString() {
    return pinned + (isClosed() ? ", closed" : "");
  }
}

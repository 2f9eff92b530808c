package dev.culebra.bindings;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.WeakReference;
import org.jspecify.annotations.Nullable;

/**
 * Eight bytes for the result of a call so short that the atomic operation of {@link Scratch} would
 * double its time. A slab belongs to one platform thread for as long as that lives, so using it
 * needs no more than a comparison. Virtual threads get none: they are too many.
 */
final class ThreadSlab {
  private static final int SLABS = 256;
  private static final ThreadSlab[] TABLE = new ThreadSlab[SLABS];
  private static final VarHandle OWNER;

  // Thread ids are positive and never used again.
  private static final long NOBODY = 0;
  private static final long CHANGING_HANDS = -1;

  static {
    try {
      OWNER = MethodHandles.lookup().findVarHandle(ThreadSlab.class, "owner", long.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("ThreadSlab.owner", e);
    }
    // A cache line each: neighbours belong to other threads.
    MemorySegment all = Arena.global().allocate(SLABS * 64L, 64);
    for (int i = 0; i < SLABS; i++) TABLE[i] = new ThreadSlab(all.asSlice(i * 64L, Long.BYTES));
  }

  private final MemorySegment memory;
  private final long address;
  private long owner = NOBODY;
  private @Nullable WeakReference<Thread> ownerThread;

  private ThreadSlab(MemorySegment memory) {
    this.memory = memory;
    this.address = memory.address();
  }

  /** The calling thread's slab; null if it has none and cannot get one. */
  static @Nullable ThreadSlab ofCurrentThread() {
    Thread thread = Thread.currentThread();
    long id = thread.threadId();
    ThreadSlab slab = TABLE[(int) id & (SLABS - 1)];
    // A plain read suffices: nobody but this thread ever writes its id.
    return slab.owner == id || slab.claim(thread, id) ? slab : null;
  }

  /** Takes the slab for a thread if it has no owner, or a dead one. */
  private boolean claim(Thread thread, long id) {
    if (thread.isVirtual()) return false;
    long before = (long) OWNER.getAcquire(this);
    if (before == CHANGING_HANDS || (before != NOBODY && ownerIsAlive())) return false;
    if (!OWNER.compareAndSet(this, before, CHANGING_HANDS)) return false;
    ownerThread = new WeakReference<>(thread);
    OWNER.setRelease(this, id);
    return true;
  }

  private boolean ownerIsAlive() {
    WeakReference<Thread> reference = ownerThread;
    Thread thread = reference == null ? null : reference.get();
    return thread != null && thread.isAlive();
  }

  long address() {
    return address;
  }

  long getLong() {
    return memory.get(ValueLayout.JAVA_LONG, 0);
  }
}

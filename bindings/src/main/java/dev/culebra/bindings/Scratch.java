package dev.culebra.bindings;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A little native memory for a function's results, borrowed for one call. The slabs are shared by
 * all threads: a thread-local would be one slab for each of a million virtual threads. Borrowing
 * costs one atomic operation and, unless more threads call at once than there are slabs, no
 * allocation.
 */
final class Scratch implements AutoCloseable {
  static final int BYTES = 64;

  private static final int SLABS = 64;
  private static final Scratch[] POOL = new Scratch[SLABS];
  private static final VarHandle BORROWED;

  static {
    try {
      BORROWED = MethodHandles.lookup().findVarHandle(Scratch.class, "borrowed", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("Scratch.borrowed", e);
    }
    MemorySegment all = Arena.global().allocate((long) SLABS * BYTES, BYTES);
    for (int i = 0; i < SLABS; i++) {
      POOL[i] = new Scratch(all.asSlice((long) i * BYTES, BYTES));
    }
  }

  private final MemorySegment memory;
  private final long address;

  @SuppressWarnings("unused") // through BORROWED
  private boolean borrowed;

  private Scratch(MemorySegment memory) {
    this.memory = memory;
    this.address = memory.address();
  }

  /** Borrows a slab; its content is what the last borrower left. */
  static Scratch borrow() {
    int start = (int) Thread.currentThread().threadId();
    for (int i = 0; i < SLABS; i++) {
      Scratch scratch = POOL[(start + i) & (SLABS - 1)];
      if (BORROWED.compareAndSet(scratch, false, true)) return scratch;
    }
    return new Scratch(Arena.ofAuto().allocate(BYTES, BYTES));
  }

  /** Gives the slab back. */
  @Override
  public void close() {
    BORROWED.setRelease(this, false);
  }

  long address() {
    return address;
  }

  /** Address of the second 8-byte slot. */
  long second() {
    return address + 8;
  }

  int getInt() {
    return memory.get(ValueLayout.JAVA_INT, 0);
  }

  int getSecondInt() {
    return memory.get(ValueLayout.JAVA_INT, 8);
  }

  float getFloat() {
    return memory.get(ValueLayout.JAVA_FLOAT, 0);
  }

  long getLong() {
    return memory.get(ValueLayout.JAVA_LONG, 0);
  }

  long getSecondLong() {
    return memory.get(ValueLayout.JAVA_LONG, 8);
  }

  void setLong(long value) {
    memory.set(ValueLayout.JAVA_LONG, 0, value);
  }

  byte[] getBytes(int count) {
    return memory.asSlice(0, count).toArray(ValueLayout.JAVA_BYTE);
  }
}

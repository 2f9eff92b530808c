package dev.culebra;

import dev.culebra.bindings.Driver;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Pinned host memory that Java cannot touch any more once it is freed. */
record PinnedMemory(Arena scope, MemorySegment segment) {

  @SuppressWarnings("MustBeClosedChecker") // closed by free(), from any thread
  static PinnedMemory allocate(Context context, long byteSize) {
    Arena scope = Arena.ofShared();
    try {
      return new PinnedMemory(
          scope, context.withCurrent(() -> Driver.memHostAlloc(byteSize, 0, scope)));
    } catch (RuntimeException e) {
      scope.close();
      throw e;
    }
  }

  /**
   * Ends the access of Java, then frees.
   *
   * @throws IllegalStateException if another thread is touching the memory; nothing has happened
   *     then
   */
  void free(Context context) {
    long address = segment.address();
    scope.close();
    context.withCurrent(() -> Driver.memFreeHost(address));
  }
}

package dev.culebra;

import dev.culebra.bindings.Driver;

/**
 * A {@code CUstream}; one stream, one object. It lives as long as its context: closing a {@link
 * Stream} puts it back for the next one, so that a use racing with the close never reaches a dead
 * handle, which would crash the process.
 */
final class NativeStream {

  private static final int NON_BLOCKING = 1;

  private final long handle;
  private final int priority;

  private NativeStream(long handle, int priority) {
    this.handle = handle;
    this.priority = priority;
  }

  /** Needs the context to be current. */
  static NativeStream create(int priority) {
    return new NativeStream(Driver.streamCreateWithPriority(NON_BLOCKING, priority), priority);
  }

  long handle() {
    return handle;
  }

  int priority() {
    return priority;
  }

  /** Lets later work of this stream wait for what is in {@code earlier} now. */
  void waitFor(NativeStream earlier, Context context) {
    NativeEvent event = context.events().borrow(false);
    try {
      Driver.eventRecord(event.handle(), earlier.handle);
      Driver.streamWaitEvent(handle, event.handle(), 0);
    } finally {
      // The wait refers to what was recorded when it was called: the event can be recorded anew.
      context.events().giveBack(event);
    }
  }
}

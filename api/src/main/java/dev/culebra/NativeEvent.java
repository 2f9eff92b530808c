package dev.culebra;

import dev.culebra.bindings.Driver;

/** A {@code CUevent}; like a {@link NativeStream} it lives as long as its context. */
record NativeEvent(long handle, boolean timed) {

  private static final int DISABLE_TIMING = 2;

  /** Needs the context to be current. */
  static NativeEvent create(boolean timed) {
    return new NativeEvent(Driver.eventCreate(timed ? 0 : DISABLE_TIMING), timed);
  }
}

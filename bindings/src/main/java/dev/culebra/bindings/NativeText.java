package dev.culebra.bindings;

import java.lang.foreign.MemorySegment;

/** C strings. */
final class NativeText {
  // No text of a driver or a loader is longer; a missing terminator must not read on for ever.
  private static final long MAX_BYTES = 1 << 16;

  private NativeText() {}

  /** Reads the C string at an address; an empty one for the null address. */
  static String read(long address) {
    if (address == 0) return "";
    return MemorySegment.ofAddress(address).reinterpret(MAX_BYTES).getString(0);
  }
}

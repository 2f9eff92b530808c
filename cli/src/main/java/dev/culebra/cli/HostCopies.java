package dev.culebra.cli;

import dev.culebra.DeviceRange;
import java.lang.foreign.MemorySegment;

/** Brings results to the host, each over the one before. */
record HostCopies(MemorySegment host) {
  MemorySegment of(DeviceRange<?> range) {
    MemorySegment copy = host.asSlice(0, range.byteSize());
    range.copyTo(copy);
    return copy;
  }
}

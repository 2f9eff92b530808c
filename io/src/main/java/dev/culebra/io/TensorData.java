package dev.culebra.io;

import java.lang.foreign.MemorySegment;

/**
 * A tensor in memory.
 *
 * @param spec its name, type and shape
 * @param bytes exactly {@code spec.byteSize()} bytes, dense and little-endian, aligned to nothing
 *     in particular: read them with unaligned layouts
 */
public record TensorData(TensorSpec spec, MemorySegment bytes) {
  /** Checks that the bytes are as many as the shape needs. */
  public TensorData {
    if (bytes.byteSize() != spec.byteSize()) {
      throw new IllegalArgumentException(
          spec + " takes " + spec.byteSize() + " bytes, not " + bytes.byteSize());
    }
  }
}

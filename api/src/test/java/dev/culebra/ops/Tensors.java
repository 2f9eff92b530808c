package dev.culebra.ops;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.testkit.StorageType;
import java.lang.foreign.MemorySegment;

/** Moves float64 numbers to device memory of any floating type and back. */
final class Tensors {

  private Tensors() {}

  static StorageType storage(ElementType<?> type) {
    return StorageType.valueOf(type.toString());
  }

  /** The values have to be exact in the type. */
  static void write(DeviceRange<?> range, double[] values) {
    range.copyFrom(MemorySegment.ofArray(storage(range.type()).encode(values)));
  }

  static double[] read(DeviceRange<?> range) {
    MemorySegment bytes = MemorySegment.ofArray(new byte[Math.toIntExact(range.byteSize())]);
    range.copyTo(bytes);
    return storage(range.type()).decode(bytes);
  }

  /** Fills with a pattern that shows what an operation did not write. */
  static void poison(DeviceBuffer<?> buffer, dev.culebra.Stream stream) {
    buffer.as(ElementType.U8).fill(0x5a, stream);
  }
}

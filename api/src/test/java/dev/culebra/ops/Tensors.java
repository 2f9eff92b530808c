package dev.culebra.ops;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.testkit.StorageType;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

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

  /** Of I32 or I64. */
  static void writeIntegers(DeviceRange<?> range, long... values) {
    if (range.type() == ElementType.I64) {
      range.copyFrom(values);
    } else {
      range.copyFrom(Arrays.stream(values).mapToInt(Math::toIntExact).toArray());
    }
  }

  /** Of I32 or I64. */
  static long[] readIntegers(DeviceRange<?> range) {
    if (range.type() == ElementType.I64) {
      long[] values = new long[Math.toIntExact(range.length())];
      range.copyTo(values);
      return values;
    }
    int[] values = new int[Math.toIntExact(range.length())];
    range.copyTo(values);
    return Arrays.stream(values).asLongStream().toArray();
  }

  /** Of any type that a result has; an index or integer has to be exact in float64. */
  static double[] readAny(DeviceRange<?> range) {
    return range.type().isFloating()
        ? read(range)
        : Arrays.stream(readIntegers(range)).asDoubleStream().toArray();
  }

  /** Fills with a pattern that shows what an operation did not write. */
  static void poison(DeviceBuffer<?> buffer, dev.culebra.Stream stream) {
    buffer.as(ElementType.U8).fill(0x5a, stream);
  }
}

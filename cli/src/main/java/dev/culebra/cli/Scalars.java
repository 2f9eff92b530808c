package dev.culebra.cli;

import dev.culebra.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Single elements of results, which are F32 or F64, little-endian. */
final class Scalars {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Scalars() {}

  static float getFloat(MemorySegment values, long index) {
    return values.getAtIndex(FLOAT, index);
  }

  static double getDouble(MemorySegment values, long index) {
    return values.getAtIndex(DOUBLE, index);
  }

  static void set(MemorySegment scalar, ElementType<?> type, double value) {
    if (type == ElementType.F64) {
      scalar.set(DOUBLE, 0, value);
    } else {
      scalar.set(FLOAT, 0, (float) value);
    }
  }
}

package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.io.DType;
import dev.culebra.ops.ReductionTotal;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/** Single elements of results, which are F32, F64, I32 or I64, little-endian. */
final class Scalars {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfLong LONG =
      ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private Scalars() {}

  /** An element of I32 or I64. */
  static long getInteger(MemorySegment values, DType type, long index) {
    return type == DType.I64 ? values.getAtIndex(LONG, index) : values.getAtIndex(INT, index);
  }

  static float getFloat(MemorySegment values, long index) {
    return values.getAtIndex(FLOAT, index);
  }

  static double getDouble(MemorySegment values, long index) {
    return values.getAtIndex(DOUBLE, index);
  }

  /** A total, rounded to its type. */
  static MemorySegment of(ElementType<?> type, ReductionTotal total) {
    MemorySegment value = MemorySegment.ofArray(new byte[type.byteSize()]);
    set(value, 0, type, total);
    return value;
  }

  /** Rounds a total to its type. */
  static void set(MemorySegment values, long index, ElementType<?> type, ReductionTotal total) {
    if (type == ElementType.F64) {
      values.setAtIndex(DOUBLE, index, total.doubleValue());
    } else if (type == ElementType.F32) {
      values.setAtIndex(FLOAT, index, (float) total.doubleValue());
    } else if (type == ElementType.I64) {
      values.setAtIndex(LONG, index, total.longValue());
    } else {
      values.setAtIndex(INT, index, Math.toIntExact(total.longValue()));
    }
  }
}

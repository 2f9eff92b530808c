package dev.culebra.testkit;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * A floating-point format in which tensors are stored, and exact rounding into it.
 *
 * <p>Everything is stated in terms of {@code double}, which represents every value of every format
 * here. Rounding is to nearest, ties to even, straight from {@code double}: going through {@code
 * float} first would round twice.
 */
public enum StorageType {
  /** IEEE 754 binary16. */
  F16(2, 11, -14, 65504.0),
  /** The upper half of binary32. */
  BF16(2, 8, -126, 0x1.FEp127),
  /** IEEE 754 binary32. */
  F32(4, 24, -126, Float.MAX_VALUE),
  /** IEEE 754 binary64. */
  F64(8, 53, -1022, Double.MAX_VALUE);

  private static final ValueLayout.OfShort SHORT =
      ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final int bytes;
  private final int significandBits;
  private final int minExponent;
  private final double maxValue;

  StorageType(int bytes, int significandBits, int minExponent, double maxValue) {
    this.bytes = bytes;
    this.significandBits = significandBits;
    this.minExponent = minExponent;
    this.maxValue = maxValue;
  }

  /** Bytes an element takes. */
  public int bytes() {
    return bytes;
  }

  /** The largest finite value. */
  public double maxValue() {
    return maxValue;
  }

  /** The smallest positive normal value. */
  public double minNormal() {
    return Math.scalb(1.0, minExponent);
  }

  /** The smallest positive value, a denormal. */
  public double minValue() {
    return Math.scalb(1.0, minExponent - (significandBits - 1));
  }

  /** Half the distance from 1 to the next larger value: the relative error of one rounding. */
  public double unitRoundoff() {
    return Math.scalb(1.0, -significandBits);
  }

  /**
   * The value of this format nearest to {@code value}, ties to even; beyond the range, infinity;
   * NaN stays NaN.
   */
  public double round(double value) {
    if (this == F64 || value == 0 || !Double.isFinite(value)) {
      return value;
    }
    int exponent = Math.max(Math.getExponent(value), minExponent);
    int quantumExponent = exponent - (significandBits - 1);
    double rounded = Math.scalb(Math.rint(Math.scalb(value, -quantumExponent)), quantumExponent);
    return Math.abs(rounded) > maxValue
        ? Math.copySign(Double.POSITIVE_INFINITY, value)
        : rounded == 0 ? Math.copySign(0.0, value) : rounded;
  }

  /** Rounds and stores {@code value} as element {@code index}, little-endian. */
  public void set(MemorySegment segment, long index, double value) {
    double rounded = round(value);
    switch (this) {
      case F16 -> segment.set(SHORT, index * bytes, Float.floatToFloat16((float) rounded));
      case BF16 -> segment.set(SHORT, index * bytes, bfloat16Bits(rounded));
      case F32 -> segment.set(FLOAT, index * bytes, (float) rounded);
      case F64 -> segment.set(DOUBLE, index * bytes, rounded);
    }
  }

  /** Reads element {@code index}, little-endian; exact. */
  public double get(MemorySegment segment, long index) {
    return switch (this) {
      case F16 -> Float.float16ToFloat(segment.get(SHORT, index * bytes));
      case BF16 -> Float.intBitsToFloat(segment.get(SHORT, index * bytes) << 16);
      case F32 -> segment.get(FLOAT, index * bytes);
      case F64 -> segment.get(DOUBLE, index * bytes);
    };
  }

  /** The elements of {@code values}, rounded and stored in a new array, little-endian. */
  public byte[] encode(double[] values) {
    byte[] encoded = new byte[Math.multiplyExact(values.length, bytes)];
    MemorySegment segment = MemorySegment.ofArray(encoded);
    for (int i = 0; i < values.length; i++) {
      set(segment, i, values[i]);
    }
    return encoded;
  }

  /** All elements of {@code segment}; at most as many as an array holds. */
  public double[] decode(MemorySegment segment) {
    double[] values = new double[Math.toIntExact(segment.byteSize() / bytes)];
    for (int i = 0; i < values.length; i++) {
      values[i] = get(segment, i);
    }
    return values;
  }

  private static short bfloat16Bits(double rounded) {
    int bits = Float.floatToRawIntBits((float) rounded);
    // Dropping the lower half of a NaN must not leave the pattern of an infinity.
    return (short) (Double.isNaN(rounded) ? (bits >>> 16) | 0x40 : bits >>> 16);
  }
}

package dev.culebra.io;

import java.util.Arrays;
import java.util.Objects;

/**
 * Name, type and shape of a tensor; immutable. Elements are dense, the last axis varies fastest,
 * bytes are little-endian.
 */
public final class TensorSpec {
  private final String name;
  private final DType dtype;
  private final long[] shape;
  private final long elementCount;
  private final long byteSize;

  /**
   * Describes a tensor.
   *
   * @param name its name; empty in {@code .npy}, which has none
   * @param dtype type of its elements
   * @param shape lengths of the axes; none for a scalar
   * @throws IllegalArgumentException if a length is negative, if the lengths other than 0 multiply
   *     to more than a {@code long} holds, or if packed elements do not fill whole bytes
   */
  public TensorSpec(String name, DType dtype, long... shape) {
    this.name = Objects.requireNonNull(name);
    this.dtype = Objects.requireNonNull(dtype);
    this.shape = shape.clone();
    try {
      // Zeros are left out at first: a product over some of the axes must be safe as well.
      long count = 1;
      boolean empty = false;
      for (long length : shape) {
        if (length < 0) {
          throw new IllegalArgumentException(
              "the shape " + Arrays.toString(shape) + " has a negative length");
        }
        empty |= length == 0;
        count = Math.multiplyExact(count, Math.max(length, 1));
      }
      boolean packed = dtype.bits() < 8;
      // In bytes, or in bits where elements share bytes.
      long units = Math.multiplyExact(count, packed ? dtype.bits() : dtype.bits() / 8);
      if (packed && !empty && units % 8 != 0) {
        throw new IllegalArgumentException(
            count + " elements of " + dtype + " do not fill whole bytes");
      }
      this.elementCount = empty ? 0 : count;
      this.byteSize = empty ? 0 : packed ? units / 8 : units;
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          "the shape " + Arrays.toString(shape) + " has more elements than can be addressed", e);
    }
  }

  /** The name; empty in {@code .npy}. */
  public String name() {
    return name;
  }

  /** The type of the elements. */
  public DType dtype() {
    return dtype;
  }

  /** A copy of the lengths of the axes. */
  public long[] shape() {
    return shape.clone();
  }

  /** The number of axes. */
  public int rank() {
    return shape.length;
  }

  /** The number of elements; 1 for a scalar. */
  public long elementCount() {
    return elementCount;
  }

  /** The bytes that the elements take. */
  public long byteSize() {
    return byteSize;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TensorSpec that
        && name.equals(that.name)
        && dtype == that.dtype
        && Arrays.equals(shape, that.shape);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, dtype, Arrays.hashCode(shape));
  }

  @Override
  public String toString() {
    return (name.isEmpty() ? "" : name + " ") + dtype + Arrays.toString(shape);
  }
}

package dev.culebra.cli;

import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorFormatException;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * A tensor in a file with a row for each row of another, which may be the same for all along some
 * axes: what masks a tensor.
 */
final class RepeatedRows {
  private final TensorFile file;
  private final TensorData data;
  private final long rowLength;

  /** Of the other tensor's axes before the last: how many, and the rows from one to the next. */
  private final long[] lengths;

  private final long[] strides;

  /** Rows from one to the next are the same number everywhere, 1 or 0. */
  private final boolean isDense;

  private final boolean isOneRow;

  private RepeatedRows(TensorFile file, TensorData data, long[] lengths, long[] strides) {
    this.file = file;
    this.data = data;
    this.rowLength = data.spec().shape()[data.spec().rank() - 1];
    this.lengths = lengths;
    this.strides = strides;
    boolean one = true;
    boolean dense = true;
    for (int axis = 0; axis < lengths.length; axis++) {
      one &= strides[axis] == 0 || lengths[axis] == 1;
      dense &= strides[axis] != 0 || lengths[axis] == 1;
    }
    this.isOneRow = one;
    this.isDense = dense;
  }

  /**
   * Checks that it masks such a tensor.
   *
   * @param in what the user called it
   * @param file the file, which stays open
   * @param data its tensor
   * @param masked the other tensor
   * @throws TensorFormatException if the shapes do not go together
   */
  static RepeatedRows of(TensorLocation in, TensorFile file, TensorData data, TensorSpec masked)
      throws TensorFormatException {
    long[] shape = data.spec().shape();
    long[] other = masked.shape();
    int leftOut = other.length - shape.length;
    boolean fits =
        shape.length > 0 && leftOut >= 0 && shape[shape.length - 1] == other[other.length - 1];
    for (int axis = 0; fits && axis < shape.length - 1; axis++) {
      fits = shape[axis] == other[leftOut + axis] || shape[axis] == 1;
    }
    if (!fits) {
      throw TensorArguments.refuse(
          in,
          data.spec(),
          "its shape is %s; it must be that of the input, %s, but for axes of length 1 or left out before the last"
              .formatted(Quantities.shape(shape), Quantities.shape(other)));
    }
    long[] lengths = Arrays.copyOf(other, other.length - 1);
    long[] strides = new long[lengths.length];
    long next = 1;
    for (int axis = shape.length - 2; axis >= 0; axis--) {
      strides[leftOut + axis] = shape[axis] == 1 ? 0 : next;
      next *= shape[axis];
    }
    return new RepeatedRows(file, data, lengths, strides);
  }

  /** The type of the elements. */
  DType dtype() {
    return data.spec().dtype();
  }

  /** The bytes of an element. */
  int elementBytes() {
    return dtype().bits() / 8;
  }

  /**
   * How many rows there are for so many rows of the other tensor: one if it is the same for all.
   */
  long rowsFor(long rows) {
    return isOneRow ? 1 : rows;
  }

  /**
   * Copies what belongs to some rows of the other tensor.
   *
   * @param first the first of these rows
   * @param rows how many
   * @param from the first element of each
   * @param to the element after the last
   * @param target {@link #rowsFor} rows side by side
   * @throws IOException if the file was shortened
   */
  void copy(long first, long rows, long from, long to, MemorySegment target) throws IOException {
    long elementBytes = elementBytes();
    long bytes = (to - from) * elementBytes;
    file.read(
        () -> {
          if (isDense && to - from == rowLength) {
            copyBytes(first * rowLength * elementBytes, target, 0, rows * bytes);
            return;
          }
          for (long i = 0; i < rowsFor(rows); i++) {
            long start = (rowOf(first + i) * rowLength + from) * elementBytes;
            copyBytes(start, target, i * bytes, bytes);
          }
        });
  }

  private void copyBytes(long start, MemorySegment target, long at, long bytes) {
    MemorySegment.copy(data.bytes(), start, target, at, bytes);
  }

  private long rowOf(long row) {
    long rest = row;
    long result = 0;
    for (int axis = lengths.length - 1; axis >= 0; axis--) {
      result += rest % lengths[axis] * strides[axis];
      rest /= lengths[axis];
    }
    return result;
  }
}

package dev.culebra.cli;

import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorFormatException;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;

/** A tensor in a file with the number of elements that count for each row of another. */
final class RowLengths {
  private final TensorFile file;
  private final TensorData data;

  private RowLengths(TensorFile file, TensorData data) {
    this.file = file;
    this.data = data;
  }

  /**
   * Checks that there is one for each row.
   *
   * @throws TensorFormatException if the shape is not that of the tensor without its last axis
   */
  static RowLengths of(TensorLocation in, TensorFile file, TensorData data, TensorSpec masked)
      throws TensorFormatException {
    long[] wanted = Arrays.copyOf(masked.shape(), masked.rank() - 1);
    if (!Arrays.equals(wanted, data.spec().shape())) {
      throw TensorArguments.refuse(
          in,
          data.spec(),
          "its shape is %s; row lengths have that of the input without its last axis, %s"
              .formatted(Quantities.shape(data.spec().shape()), Quantities.shape(wanted)));
    }
    return new RowLengths(file, data);
  }

  /**
   * Writes how many elements of a part of some rows count.
   *
   * @param first the first row
   * @param rows how many
   * @param from the first element of the part
   * @param to the element after its last, less than 2^31 behind it
   * @param target so many ints
   * @throws IOException if the file was shortened
   */
  void copy(long first, long rows, long from, long to, MemorySegment target) throws IOException {
    file.read(
        () -> {
          for (long i = 0; i < rows; i++) {
            long length = Scalars.getInteger(data.bytes(), data.spec().dtype(), first + i);
            long own = Math.clamp(length, from, to) - from;
            target.setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, i, Math.toIntExact(own));
          }
        });
  }
}

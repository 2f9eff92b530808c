package dev.culebra.cli;

import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import java.io.IOException;
import java.util.EnumSet;

/** The offsets of segments, from a file. */
final class SegmentOffsets {
  private SegmentOffsets() {}

  /**
   * Reads and checks offsets.
   *
   * @param elements of the tensor whose segments they are
   * @return one more than segments, ascending from at least 0 to at most {@code elements}
   */
  static long[] read(TensorArguments arguments, TensorLocation location, long elements)
      throws IOException {
    try (TensorFile file = arguments.open(location)) {
      TensorData tensor =
          arguments.computable(file, location, true, EnumSet.of(DType.I32, DType.I64));
      TensorSpec spec = tensor.spec();
      if (spec.rank() != 1 || spec.elementCount() == 0) {
        throw TensorArguments.refuse(
            location,
            spec,
            "its shape is not that of offsets, which have one axis and are one more than segments");
      }
      long[] offsets = new long[Math.toIntExact(spec.elementCount())];
      file.read(
          () -> {
            for (int i = 0; i < offsets.length; i++) {
              offsets[i] = Scalars.getInteger(tensor.bytes(), spec.dtype(), i);
            }
          });
      for (int i = 0; i < offsets.length; i++) {
        long least = i == 0 ? 0 : offsets[i - 1];
        if (offsets[i] < least || offsets[i] > elements) {
          throw TensorArguments.refuse(
              location,
              spec,
              "offset %d is %d; it must be from %d (the one before it, or 0) to %d (the elements of the tensor)"
                  .formatted(i, offsets[i], least, elements));
        }
      }
      return offsets;
    }
  }
}

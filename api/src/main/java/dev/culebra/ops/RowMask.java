package dev.culebra.ops;

import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which elements of the rows of a tensor count; the others are masked, as if they were -inf. By how
 * many of each row do (ragged rows), by a byte for each, or by both.
 *
 * {@snippet :
 * softmax.forward(logits, probabilities, RowMask.ofLengths(lengths), stream);
 * }
 *
 * <p>It borrows device memory, which an operation reads when the stream comes to it, and is
 * immutable itself.
 */
public final class RowMask {

  /** Everything counts. */
  static final RowMask NONE = new RowMask(null, null);

  private final @Nullable DeviceRange<ElementType.I32> lengths;
  private final @Nullable TensorView<?> elements;

  private RowMask(
      @Nullable DeviceRange<ElementType.I32> lengths, @Nullable TensorView<?> elements) {
    this.lengths = lengths;
    this.elements = elements;
  }

  /**
   * Rows of which only the first elements count.
   *
   * @param lengths for each row, in order, how many of its elements count: below 0 is 0, and above
   *     the row's length is that
   * @return the mask
   */
  public static RowMask ofLengths(DeviceRange<ElementType.I32> lengths) {
    return new RowMask(Objects.requireNonNull(lengths), null);
  }

  /**
   * Elements of which some count.
   *
   * @param mask U8 or I8: 0 where an element is masked. Of the rank of the tensor and the length of
   *     its last axis, with no gaps within that; another axis may have the length 1 and then holds
   *     for all
   * @return the mask
   * @throws IllegalArgumentException if the type is another
   */
  public static RowMask ofElements(TensorView<?> mask) {
    if (mask.type() != ElementType.U8 && mask.type() != ElementType.I8) {
      throw new IllegalArgumentException("a mask is of U8 or I8, not " + mask.type());
    }
    return new RowMask(null, mask);
  }

  /**
   * The same for rows of which only the first elements count.
   *
   * @param lengths as of {@link #ofLengths}
   * @return the mask: an element counts if it does by both
   */
  public RowMask withLengths(DeviceRange<ElementType.I32> lengths) {
    return new RowMask(Objects.requireNonNull(lengths), elements);
  }

  /** How many elements of each row count, or null if all do. */
  @Nullable DeviceRange<ElementType.I32> lengths() {
    return lengths;
  }

  /** The bytes of the elements, or null if all count. */
  @Nullable DeviceRange<?> bytes() {
    return elements == null ? null : elements.range();
  }

  /**
   * How a row's number leads to its bytes: the axes before the last, the inner two of which have
   * {@code innerRows} and {@code middleRows}, with the elements from one to the next.
   */
  record Walk(
      long innerRows, long innerStride, long middleRows, long middleStride, long outerStride) {

    private static final Walk NONE = new Walk(1, 0, 1, 0, 0);
  }

  /**
   * Checks that this masks such a tensor.
   *
   * @return how to walk the bytes
   */
  Walk walk(TensorView<?> tensor) {
    DeviceRange<ElementType.I32> ofRows = lengths;
    if (ofRows != null && ofRows.length() != tensor.rows().count()) {
      throw new IllegalArgumentException(
          "there are "
              + ofRows.length()
              + " row lengths for the "
              + tensor.rows().count()
              + " rows of "
              + tensor);
    }
    TensorView<?> mask = elements;
    return mask == null ? Walk.NONE : walk(mask, tensor);
  }

  /** Checks that a result does not lie where this is read. */
  void requireApartFrom(TensorView<?> out) {
    TensorView<?> mask = elements;
    DeviceRange<ElementType.I32> ofRows = lengths;
    if ((mask != null && mask.overlaps(out))
        || (ofRows != null && TensorView.of(ofRows, ofRows.length()).overlaps(out))) {
      throw new IllegalArgumentException("the mask and the output overlap: " + out);
    }
  }

  private static Walk walk(TensorView<?> mask, TensorView<?> tensor) {
    int last = tensor.rank() - 1;
    boolean fits = mask.rank() == tensor.rank() && mask.length(last) == tensor.length(last);
    for (int axis = 0; fits && axis < last; axis++) {
      fits = mask.length(axis) == tensor.length(axis) || mask.length(axis) == 1;
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "a mask has the shape of the tensor, but for axes of length 1 before the last: "
              + mask
              + " for "
              + tensor);
    }
    long[] maskStrides = mask.strides();
    if (maskStrides[last] != 1 && mask.length(last) > 1) {
      throw new IllegalArgumentException("the rows of the mask have gaps: " + mask);
    }
    // From the inside out; neighbours that go on at one distance become one.
    long[] lengths = {1, 1, 1};
    long[] strides = {0, 0, 0};
    int axes = 0;
    for (int axis = last - 1; axis >= 0; axis--) {
      long length = tensor.length(axis);
      if (length == 1) {
        continue;
      }
      long stride = mask.length(axis) == 1 ? 0 : maskStrides[axis];
      if (axes > 0 && stride == strides[axes - 1] * lengths[axes - 1]) {
        lengths[axes - 1] *= length;
      } else if (axes == lengths.length) {
        throw new IllegalArgumentException(
            "the mask changes between repeated and own axes more than twice: "
                + mask
                + " for "
                + tensor);
      } else {
        lengths[axes] = length;
        strides[axes] = stride;
        axes++;
      }
    }
    return new Walk(lengths[0], strides[0], lengths[1], strides[1], strides[2]);
  }

  /** {@return what masks} */
  @Override
  public String toString() {
    return "RowMask"
        + (lengths == null ? "" : " lengths")
        + (elements == null ? "" : " " + elements);
  }
}

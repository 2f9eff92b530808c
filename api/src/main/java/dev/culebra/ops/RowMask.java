package dev.culebra.ops;

import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Which elements of the rows of a tensor count; the others are masked, as if they were -inf. By how
 * many of each row do (ragged rows), by a byte for each, by a number for each that is added to the
 * logits and masks where it is -inf (an additive mask), or by several of these: an element counts
 * if it does by all.
 *
 * {@snippet :
 * softmax.forward(logits, probabilities, RowMask.ofLengths(lengths), stream);
 * }
 *
 * <p>It borrows device memory, which an operation reads when the stream comes to it, and is
 * immutable itself.
 */
public final class RowMask {

  /** Nothing is masked: everything counts. */
  public static final RowMask NONE = new RowMask(null, null, null);

  private final @Nullable DeviceRange<ElementType.I32> lengths;
  private final @Nullable TensorView<?> elements;
  private final @Nullable TensorView<?> addends;

  private RowMask(
      @Nullable DeviceRange<ElementType.I32> lengths,
      @Nullable TensorView<?> elements,
      @Nullable TensorView<?> addends) {
    this.lengths = lengths;
    this.elements = elements;
    this.addends = addends;
  }

  /**
   * Rows of which only the first elements count.
   *
   * @param lengths for each row, in order, how many of its elements count: below 0 is 0, and above
   *     the row's length is that
   * @return the mask
   */
  public static RowMask ofLengths(DeviceRange<ElementType.I32> lengths) {
    return NONE.withLengths(lengths);
  }

  /**
   * Elements of which some count.
   *
   * @param mask U8 or I8: 0 where an element is masked. Its axes are those of the tensor, without
   *     gaps along the last; one before the last may have the length 1, or be left out with all
   *     before it, and then the mask holds for all along it
   * @return the mask
   * @throws IllegalArgumentException if the type is another
   */
  public static RowMask ofElements(TensorView<?> mask) {
    return NONE.withElements(mask);
  }

  /**
   * Numbers that are added to the logits, after these have been scaled: the softmax of {@code scale
   * * in + addends}. Where one is -inf, its element is masked and not looked at. NaN and +inf make
   * the row NaN, unless that element is masked by something else; so does a sum above the range of
   * single precision (F64: double), while an element whose sum is below it counts as masked.
   *
   * <p>They take no part in the way back: the gradient with respect to the input is what {@link
   * SoftmaxBackward} gives, and that with respect to the addends is the same with a scale of 1.
   *
   * @param addends of the type of the tensor or F32, with axes as those of {@link #ofElements}
   * @return the mask
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public static RowMask ofAddends(TensorView<?> addends) {
    return NONE.withAddends(addends);
  }

  /**
   * The same for rows of which only the first elements count.
   *
   * @param lengths as of {@link #ofLengths}
   * @return the mask: an element counts if it does by both
   */
  public RowMask withLengths(DeviceRange<ElementType.I32> lengths) {
    return new RowMask(Objects.requireNonNull(lengths), elements, addends);
  }

  /**
   * The same for elements of which some count.
   *
   * @param mask as of {@link #ofElements}
   * @return the mask: an element counts if it does by both
   * @throws IllegalArgumentException if the type is neither U8 nor I8
   */
  public RowMask withElements(TensorView<?> mask) {
    if (mask.type() != ElementType.U8 && mask.type() != ElementType.I8) {
      throw new IllegalArgumentException("a mask is of U8 or I8, not " + mask.type());
    }
    return new RowMask(lengths, mask, addends);
  }

  /**
   * The same with numbers that are added.
   *
   * @param numbers as of {@link #ofAddends}
   * @return the mask: an element counts if it does by both
   * @throws IllegalArgumentException if the type is not a floating one
   */
  public RowMask withAddends(TensorView<?> numbers) {
    if (!numbers.type().isFloating()) {
      throw new IllegalArgumentException(
          "addends are of the tensor's type or F32, not " + numbers.type());
    }
    return new RowMask(lengths, elements, numbers);
  }

  /** {@return whether something is added to the logits} */
  public boolean hasAddends() {
    return addends != null;
  }

  /** How many elements of each row count, or null if all do. */
  @Nullable DeviceRange<ElementType.I32> lengths() {
    return lengths;
  }

  /** The bytes of the elements, or null if all count. */
  @Nullable DeviceRange<?> bytes() {
    return elements == null ? null : elements.range();
  }

  /** The numbers that are added, or null if none are. */
  @Nullable DeviceRange<?> addends() {
    return addends == null ? null : addends.range();
  }

  /**
   * How a row's number leads to its bytes or addends: the axes before the last, the inner two of
   * which have {@code innerRows} and {@code middleRows}, with the elements from one to the next.
   */
  record Walk(
      long innerRows, long innerStride, long middleRows, long middleStride, long outerStride) {

    static final Walk NONE = new Walk(1, 0, 1, 0, 0);
  }

  /**
   * Checks that lengths and bytes mask such a tensor.
   *
   * @return how to walk the bytes
   */
  Walk elementWalk(TensorView<?> tensor) {
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
    return mask == null ? Walk.NONE : walk("mask", mask, tensor);
  }

  /**
   * Checks that the addends can be added to such a tensor.
   *
   * @return how to walk them
   */
  Walk addendWalk(TensorView<?> tensor) {
    TensorView<?> numbers = addends;
    if (numbers == null) {
      return Walk.NONE;
    }
    if (numbers.type() != tensor.type() && numbers.type() != ElementType.F32) {
      throw new IllegalArgumentException(
          "addends are of the tensor's type or F32, not " + numbers + " for " + tensor);
    }
    return walk("tensor of addends", numbers, tensor);
  }

  /** Checks that a result does not lie where this is read. */
  void requireApartFrom(TensorView<?> out) {
    TensorView<?> mask = elements;
    TensorView<?> numbers = addends;
    DeviceRange<ElementType.I32> ofRows = lengths;
    if ((mask != null && mask.overlaps(out))
        || (numbers != null && numbers.overlaps(out))
        || (ofRows != null && TensorView.of(ofRows, ofRows.length()).overlaps(out))) {
      throw new IllegalArgumentException("the mask and the output overlap: " + out);
    }
  }

  private static Walk walk(String name, TensorView<?> mask, TensorView<?> tensor) {
    int last = mask.rank() - 1;
    // What it has no axes for, it holds for all along.
    int leftOut = tensor.rank() - mask.rank();
    boolean fits =
        last >= 0 && leftOut >= 0 && mask.length(last) == tensor.length(tensor.rank() - 1);
    for (int axis = 0; fits && axis < last; axis++) {
      fits = mask.length(axis) == tensor.length(leftOut + axis) || mask.length(axis) == 1;
    }
    if (!fits) {
      throw new IllegalArgumentException(
          "a "
              + name
              + " has the shape of the tensor, but for axes of length 1 or left out before the"
              + " last: "
              + mask
              + " for "
              + tensor);
    }
    long[] maskStrides = mask.strides();
    if (maskStrides[last] != 1 && mask.length(last) > 1) {
      throw new IllegalArgumentException("the rows of a " + name + " have gaps: " + mask);
    }
    // From the inside out; neighbours that go on at one distance become one.
    long[] lengths = {1, 1, 1};
    long[] strides = {0, 0, 0};
    int axes = 0;
    for (int axis = last - 1; axis >= -leftOut; axis--) {
      long length = tensor.length(leftOut + axis);
      if (length == 1) {
        continue;
      }
      long stride = axis < 0 || mask.length(axis) == 1 ? 0 : maskStrides[axis];
      if (axes > 0 && stride == strides[axes - 1] * lengths[axes - 1]) {
        lengths[axes - 1] *= length;
      } else if (axes == lengths.length) {
        throw new IllegalArgumentException(
            "a "
                + name
                + " changes between repeated and own axes more than twice: "
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
        + (elements == null ? "" : " " + elements)
        + (addends == null ? "" : " added " + addends);
  }
}

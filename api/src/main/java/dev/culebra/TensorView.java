package dev.culebra;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Device memory with a shape: what operations take. Strides count elements, are at least 0, and
 * default to the last axis being side by side. A view borrows its range.
 *
 * <p>Immutable; any thread may use it.
 *
 * @param <E> the type of the elements
 */
public final class TensorView<E extends ElementType<E>> {

  private final DeviceRange<E> range;
  private final TensorLayout layout;

  // Found when first asked for. Without a lock: whoever finds them finds the same.
  private @Nullable Rows rows;

  private TensorView(DeviceRange<E> range, TensorLayout layout) {
    long span = layout.span();
    if (span > range.length()) {
      throw new IllegalArgumentException(
          layout + " reaches over " + span + " elements, the memory has " + range.length());
    }
    this.range = range;
    this.layout = layout;
  }

  /**
   * A dense tensor over the beginning of a range.
   *
   * @param <E> the type of the elements
   * @param range the memory
   * @param shape the length of each axis; none makes a scalar
   * @return the view
   * @throws IllegalArgumentException if a length is negative or the memory too small
   */
  public static <E extends ElementType<E>> TensorView<E> of(DeviceRange<E> range, long... shape) {
    return new TensorView<>(range, TensorLayout.contiguous(shape));
  }

  /**
   * A tensor with gaps, such as rows cut out of a wider matrix.
   *
   * @param <E> the type of the elements
   * @param range the memory; element 0 of all axes is its first
   * @param shape the length of each axis
   * @param strides for each axis, how many elements lie between neighbours; 0 repeats one
   * @return the view
   * @throws IllegalArgumentException if a number is negative, their counts differ, or the memory is
   *     too small
   */
  public static <E extends ElementType<E>> TensorView<E> strided(
      DeviceRange<E> range, long[] shape, long[] strides) {
    return new TensorView<>(range, new TensorLayout(shape, strides));
  }

  /** {@return the memory that the view lies in; it begins where the view begins} */
  public DeviceRange<E> range() {
    return range;
  }

  /** {@return the type of the elements} */
  public ElementType<E> type() {
    return range.type();
  }

  /** {@return how many axes there are} */
  public int rank() {
    return layout.rank();
  }

  /** {@return a copy of the length of each axis} */
  public long[] shape() {
    return layout.shape().clone();
  }

  /** {@return a copy of the stride of each axis, in elements} */
  public long[] strides() {
    return layout.strides().clone();
  }

  /**
   * The length of an axis.
   *
   * @param axis from 0
   * @return how many elements it has
   * @throws IndexOutOfBoundsException if there is no such axis
   */
  public long length(int axis) {
    return layout.shape()[Objects.checkIndex(axis, rank())];
  }

  /**
   * {@return whether the other view has as many axes, of the same lengths}
   *
   * @param other another view
   */
  public boolean hasShapeOf(TensorView<?> other) {
    return Arrays.equals(layout.shape(), other.layout.shape());
  }

  /** {@return how many elements there are in all} */
  public long elementCount() {
    return layout.elementCount();
  }

  /** {@return whether the elements lie side by side in the order of their indices} */
  public boolean isContiguous() {
    return layout.isContiguous();
  }

  /**
   * A part of one axis.
   *
   * @param axis the axis
   * @param from its first index
   * @param to the index after the last
   * @return a view of the same memory and rank
   * @throws IndexOutOfBoundsException if there is no such axis or part
   */
  public TensorView<E> slice(int axis, long from, long to) {
    Objects.checkIndex(axis, rank());
    long[] shape = shape();
    Objects.checkFromToIndex(from, to, shape[axis]);
    shape[axis] = to - from;
    TensorLayout part = new TensorLayout(shape, layout.strides());
    long first = part.elementCount() == 0 ? 0 : from * layout.strides()[axis];
    return new TensorView<>(range.view(first, range.length()), part);
  }

  /**
   * The same elements in the same order with another shape.
   *
   * @param shape the length of each axis
   * @return a view of the same memory
   * @throws IllegalArgumentException if this view is not contiguous, or the number of elements
   *     differs
   */
  public TensorView<E> reshape(long... shape) {
    TensorLayout other = TensorLayout.contiguous(shape);
    if (!isContiguous()) {
      throw new IllegalArgumentException(
          layout + " is not contiguous, so it cannot get another shape");
    }
    if (other.elementCount() != elementCount()) {
      throw new IllegalArgumentException(
          "shape "
              + Arrays.toString(shape)
              + " has "
              + other.elementCount()
              + " elements, the tensor "
              + elementCount());
    }
    return new TensorView<>(range, other);
  }

  /**
   * The tensor as rows along its last axis, all other axes folded into one: what operations over
   * the last axis walk.
   *
   * @param count how many rows
   * @param length elements of a row, side by side
   * @param stride elements from the beginning of a row to that of the next
   */
  public record Rows(long count, long length, long stride) {}

  /**
   * Folds all axes but the last into rows.
   *
   * @return the rows
   * @throws IllegalArgumentException if this is a scalar, the last axis has gaps, or the rows do
   *     not lie at one distance
   */
  public Rows rows() {
    Rows known = rows;
    if (known == null) {
      known = layout.rows();
      rows = known;
    }
    return known;
  }

  /**
   * The tensor seen along one axis: matrices whose rows are the axis and whose columns are all axes
   * behind it, folded into one; the axes before it are folded into one as well.
   *
   * @param count how many matrices
   * @param matrixStride elements from the beginning of a matrix to that of the next
   * @param length rows of a matrix
   * @param rowStride elements from the beginning of a row to that of the next
   * @param columns elements of a row, side by side
   */
  public record Columns(long count, long matrixStride, long length, long rowStride, long columns) {}

  /**
   * Takes an axis out and folds the others.
   *
   * @param axis from 0
   * @return the columns along the axis
   * @throws IndexOutOfBoundsException if there is no such axis
   * @throws IllegalArgumentException if the axes before it do not lie at one distance, or those
   *     behind it not side by side
   */
  public Columns columns(int axis) {
    return layout.columns(Objects.checkIndex(axis, rank()));
  }

  /**
   * {@return whether two indices may name the same element, so that the view cannot be written;
   * false if none do}
   */
  public boolean mayOverlapItself() {
    return layout.mayOverlapItself();
  }

  /**
   * {@return whether some memory between the first and the last element belongs to both}
   *
   * @param other another view
   */
  public boolean overlaps(TensorView<?> other) {
    range.allocation.requireOpen();
    other.range.allocation.requireOpen();
    return range.overlaps(layout.span(), other.range, other.layout.span());
  }

  /** {@return type, shape and strides} */
  @Override
  public String toString() {
    return "TensorView<" + type() + "> " + layout;
  }
}

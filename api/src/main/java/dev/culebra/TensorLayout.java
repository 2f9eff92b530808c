package dev.culebra;

import java.util.Arrays;

/**
 * The shape and stride algebra of {@link TensorView}, in elements. It knows nothing of memory.
 *
 * @param shape length of each axis, at least 0
 * @param strides distance between neighbours of each axis, at least 0
 */
@SuppressWarnings("ArrayRecordComponent") // copied on the way in, compared by content
record TensorLayout(long[] shape, long[] strides) {

  TensorLayout {
    shape = shape.clone();
    strides = strides.clone();
    if (shape.length != strides.length) {
      throw new IllegalArgumentException(
          "shape has " + shape.length + " axes but strides have " + strides.length);
    }
    for (int axis = 0; axis < shape.length; axis++) {
      if (shape[axis] < 0) {
        throw new IllegalArgumentException(
            "length " + shape[axis] + " of axis " + axis + " is negative");
      }
      if (strides[axis] < 0) {
        throw new IllegalArgumentException(
            "stride " + strides[axis] + " of axis " + axis + " is negative");
      }
    }
  }

  static TensorLayout contiguous(long... shape) {
    long[] strides = new long[shape.length];
    long next = 1;
    for (int axis = shape.length - 1; axis >= 0; axis--) {
      strides[axis] = next;
      next = multiply(next, Math.max(shape[axis], 1), shape);
    }
    return new TensorLayout(shape, strides);
  }

  int rank() {
    return shape.length;
  }

  long elementCount() {
    long count = 1;
    for (long length : shape) {
      if (length == 0) {
        return 0;
      }
      count = multiply(count, length, shape);
    }
    return count;
  }

  /** How many elements of memory the layout reaches over, from its first element to its last. */
  long span() {
    if (elementCount() == 0) {
      return 0;
    }
    long last = 0;
    try {
      for (int axis = 0; axis < shape.length; axis++) {
        last = Math.addExact(last, Math.multiplyExact(shape[axis] - 1, strides[axis]));
      }
      return Math.addExact(last, 1);
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(this + " reaches over more than 2^63 elements", e);
    }
  }

  boolean isContiguous() {
    if (elementCount() == 0) {
      return true;
    }
    long expected = 1;
    for (int axis = shape.length - 1; axis >= 0; axis--) {
      // The stride of an axis of one element is never used.
      if (shape[axis] != 1 && strides[axis] != expected) {
        return false;
      }
      expected *= shape[axis];
    }
    return true;
  }

  /**
   * Whether two indices may name the same element. Sufficient, not necessary: sorted by stride,
   * each axis has to step over all of the axes inside it.
   */
  boolean mayOverlapItself() {
    if (elementCount() == 0) {
      return false;
    }
    for (int axis = 0; axis < shape.length; axis++) {
      if (shape[axis] == 1) {
        continue;
      }
      long inner = 1;
      for (int other = 0; other < shape.length; other++) {
        if (isInside(/* axis= */ other, /* outer= */ axis)) {
          inner += (shape[other] - 1) * strides[other];
        }
      }
      if (strides[axis] < inner) {
        return true;
      }
    }
    return false;
  }

  /** The order of the axes by stride; equal ones in any order, but in one. */
  private boolean isInside(int axis, int outer) {
    return strides[axis] < strides[outer] || (strides[axis] == strides[outer] && axis < outer);
  }

  /** Folds all axes but the last into one, which needs that they lie at one common distance. */
  TensorView.Rows rows() {
    if (shape.length == 0) {
      throw new IllegalArgumentException("a scalar has no last axis; give it shape [1]");
    }
    int last = shape.length - 1;
    long length = shape[last];
    if (length > 1 && strides[last] != 1) {
      throw new IllegalArgumentException(
          this
              + ": the elements of a row lie "
              + strides[last]
              + " apart; the operation needs 1, copy them together first");
    }
    Fold rows = fold(0, last, "rows");
    return new TensorView.Rows(rows.count, length, rows.count > 1 ? rows.stride : length);
  }

  /**
   * Takes one axis out: those before it folded into one, those behind it into another whose
   * elements lie side by side.
   */
  TensorView.Columns columns(int axis) {
    Fold before = fold(0, axis, "matrices");
    Fold behind = fold(axis + 1, shape.length, "columns");
    if (behind.count > 1 && behind.stride != 1) {
      throw new IllegalArgumentException(
          this
              + ": the elements behind axis "
              + axis
              + " lie "
              + behind.stride
              + " apart; the operation needs 1, copy them together first");
    }
    return new TensorView.Columns(
        before.count, before.stride, shape[axis], strides[axis], behind.count);
  }

  /** Axes as one: how many indices they have together, and how far those lie apart. */
  private record Fold(long count, long stride) {}

  /** Folds the axes [from, to) into one, which needs that they lie at one common distance. */
  private Fold fold(int from, int to, String what) {
    long count = 1;
    long stride = 0;
    boolean first = true;
    for (int axis = to - 1; axis >= from; axis--) {
      if (shape[axis] == 1) {
        continue;
      }
      if (first) {
        stride = strides[axis];
        first = false;
      } else if (count != 0 && shape[axis] != 0 && strides[axis] != stride * count) {
        throw new IllegalArgumentException(
            this
                + ": its "
                + (from == 0 ? "leading" : "trailing")
                + " axes cannot be folded into "
                + what
                + " at one distance (axis "
                + axis
                + " has stride "
                + strides[axis]
                + ", "
                + what
                + " within it end after "
                + stride * count
                + "); make it contiguous or run it slice by slice");
      }
      count = multiply(count, shape[axis], shape);
    }
    return new Fold(count, stride);
  }

  private static long multiply(long a, long b, long[] shape) {
    try {
      return Math.multiplyExact(a, b);
    } catch (ArithmeticException e) {
      throw new IllegalArgumentException(
          "shape " + Arrays.toString(shape) + " has more than 2^63 elements", e);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof TensorLayout that
        && Arrays.equals(shape, that.shape)
        && Arrays.equals(strides, that.strides);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.hashCode(shape) + Arrays.hashCode(strides);
  }

  @Override
  public String toString() {
    return "shape " + Arrays.toString(shape) + " strides " + Arrays.toString(strides);
  }
}

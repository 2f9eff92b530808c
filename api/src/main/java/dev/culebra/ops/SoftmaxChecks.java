package dev.culebra.ops;

import dev.culebra.ElementType;
import dev.culebra.TensorView;

/** What a softmax, its states and its gradient ask of scales and views before anything runs. */
final class SoftmaxChecks {

  private SoftmaxChecks() {}

  static double requireFinite(double scale) {
    if (!Double.isFinite(scale)) {
      throw new IllegalArgumentException("scale " + scale + " is not finite");
    }
    return scale;
  }

  /** That the type is a floating one, and a scale within what it takes. */
  static void requireScale(double scale, ElementType<?> type) {
    AccumulatorType.requireFloating(type);
    if (Math.abs(scale) > Softmax.maxScale(type)) {
      throw new IllegalArgumentException(
          "scale " + scale + " is beyond " + Softmax.maxScale(type) + ", the most for " + type);
    }
  }

  static void requireSameShape(String name, TensorView<?> one, String other, TensorView<?> two) {
    if (!one.hasShapeOf(two)) {
      throw new IllegalArgumentException(
          name + " and " + other + " have different shapes: " + one + " and " + two);
    }
  }

  /** That rows can be written: none overlaps another. */
  static void requireApartRows(String name, TensorView<?> out) {
    if (out.mayOverlapItself()) {
      throw new IllegalArgumentException("the rows of " + name + " overlap each other: " + out);
    }
  }

  /** That rows are written where others are read, or apart from them. */
  static void requireSameOrApart(String name, TensorView<?> in, String other, TensorView<?> out) {
    boolean same = out.range().address() == in.range().address() && out.rows().equals(in.rows());
    if (!same && in.overlaps(out)) {
      throw new IllegalArgumentException(
          name
              + " and "
              + other
              + " overlap but are not the same rows; use one view for both, or two buffers");
    }
  }
}

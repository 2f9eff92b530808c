package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.Objects;

/**
 * The way back through a {@link Softmax} along the last axis: from its result {@code y} and the
 * gradient {@code dy} of some number with respect to that result, the gradient {@code dx} with
 * respect to its input, {@code dx = scale * y * (dy - sum(y * dy))}. Of a log-softmax, whose result
 * is the logarithm, {@code dx = scale * (dy - exp(y) * sum(dy))}.
 *
 * {@snippet :
 * SoftmaxBackward backward = SoftmaxBackward.of(context);
 * backward.run(probabilities, gradient, gradient, stream); // in place of the gradient
 * }
 *
 * <p>Element types are F16, BF16, F32 and F64, the same for all three; the sum is single precision
 * for the first three and double for the last. Results are bitwise repeatable. Rows are read once
 * where both fit on chip, else twice; which kernels run depends on the shape and the device alone.
 *
 * <p>An entry of {@code y} that is 0 (log: -inf), as of what was masked or lies beyond a row's
 * length, takes no part: its {@code dy} is not looked at, even if it is NaN, and its {@code dx} is
 * 0. So a row of such entries alone gives zeros. Otherwise a NaN in {@code y} or {@code dy} makes
 * the row NaN, and an infinite {@code dy} makes it infinite or NaN; of a log-softmax so does a sum
 * of {@code dy} beyond the statistics' range.
 *
 * <p>An object keeps its prepared launches and is confined to the thread that made it, as they are.
 * It needs no closing: what it loads belongs to the context.
 */
public final class SoftmaxBackward {

  private static final long MOST_ROW_LENGTH = Integer.MAX_VALUE;

  // Shared with the variations of this object.
  private final SoftmaxBackwardKernels kernels;
  private final boolean log;
  private final double scale;

  private SoftmaxBackward(SoftmaxBackwardKernels kernels, boolean log, double scale) {
    this.kernels = kernels;
    this.log = log;
    this.scale = scale;
  }

  /**
   * That of a softmax without logarithm and with scale 1.
   *
   * @param context where to run
   * @return the operation
   * @throws dev.culebra.bindings.InvalidImageException if the kernels are not there
   */
  public static SoftmaxBackward of(Context context) {
    return new SoftmaxBackward(new SoftmaxBackwardKernels(context), false, 1);
  }

  /**
   * The same of a softmax with or without the logarithm of its result.
   *
   * @param on whether {@code y} is the logarithm
   * @return the operation; it shares prepared launches with this one
   */
  public SoftmaxBackward withLog(boolean on) {
    return new SoftmaxBackward(kernels, on, scale);
  }

  /**
   * The same of a softmax with another factor of its input, which single precision types round to
   * single precision.
   *
   * @param factor a finite number of any sign, at most {@link Softmax#maxScale} of the type it is
   *     used with
   * @return the operation; it shares prepared launches with this one
   * @throws IllegalArgumentException if it is not finite
   */
  public SoftmaxBackward withScale(double factor) {
    return new SoftmaxBackward(kernels, log, SoftmaxChecks.requireFinite(factor));
  }

  /** {@return whether the result of the softmax is the logarithm} */
  public boolean isLog() {
    return log;
  }

  /** {@return the factor of the input of the softmax} */
  public double scale() {
    return scale;
  }

  /**
   * Which kernel reads the rows first.
   *
   * @param type the type of the elements
   * @param rows how many rows, at least 1
   * @param rowLength elements of a row, from 1 to 2^31 - 1
   * @return its symbol
   * @throws IllegalArgumentException if the type is not a floating one, or a number out of range
   */
  public String kernelName(ElementType<?> type, long rows, long rowLength) {
    AccumulatorType.requireFloating(type);
    if (rows < 1 || rowLength < 1) {
      throw new IllegalArgumentException(
          rows + " rows of " + rowLength + " elements; there is at least one of each");
    }
    requireRowLength(rowLength);
    return kernels.kernelName(type, rows, rowLength);
  }

  /**
   * Enqueues the gradient of every row of the last axis. Nothing is launched if there are no
   * elements.
   *
   * @param <E> the type of the elements
   * @param y the result of the softmax: rows side by side within, at one distance from each other
   * @param dy the gradient with respect to it, of the same shape
   * @param dx the gradient with respect to its input, of the same shape; the very same memory and
   *     strides as {@code y} or {@code dy}, or memory apart from both
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the shapes differ, a view cannot be walked as rows, a row
   *     is longer than 2^31 - 1, {@code dx} overlaps otherwise, or the scale is beyond {@link
   *     Softmax#maxScale}
   */
  public <E extends ElementType<E>> void run(
      TensorView<E> y, TensorView<E> dy, TensorView<E> dx, Stream stream) {
    SoftmaxChecks.requireSameShape("y", y, "dy", dy);
    SoftmaxChecks.requireSameShape("y", y, "dx", dx);
    SoftmaxChecks.requireScale(scale, y.type());
    TensorView.Rows rows = y.rows();
    dy.rows();
    dx.rows();
    requireRowLength(rows.length());
    SoftmaxChecks.requireApartRows("dx", dx);
    SoftmaxChecks.requireSameOrApart("dx", dx, "y", y);
    SoftmaxChecks.requireSameOrApart("dx", dx, "dy", dy);
    Objects.requireNonNull(stream);
    if (rows.count() == 0 || rows.length() == 0) {
      return;
    }
    kernels.launch(y, dy, dx, scale, log, stream);
  }

  private static void requireRowLength(long length) {
    if (length > MOST_ROW_LENGTH) {
      throw new IllegalArgumentException(
          "a row of " + length + " elements is longer than " + MOST_ROW_LENGTH);
    }
  }

  /** {@return what it is the gradient of} */
  @Override
  public String toString() {
    return "gradient of "
        + (log ? "log-softmax" : "softmax")
        + (scale == 1 ? "" : " with scale " + scale);
  }
}

package dev.culebra.testkit;

/**
 * The float64 truth of the gradient of the softmax of rows: from its result y and the gradient dy
 * with respect to it, {@code dx_i = s y_i (dy_i - sum_j y_j dy_j)}; of its logarithm {@code dx_i =
 * s (dy_i - exp(y_i) sum_j dy_j)}.
 *
 * <p>The contract at the edges: where y is 0 (log: -inf) dy is not looked at and dx is 0; any other
 * NaN or infinity goes where the arithmetic takes it.
 */
public final class SoftmaxBackwardReference {
  private SoftmaxBackwardReference() {}

  /**
   * The gradient of each row of a dense matrix.
   *
   * @param y the result of the softmax, row after row
   * @param dy the gradient with respect to it
   * @param rowLength elements a row; {@code y.length} is a multiple of it
   * @param scale factor of the softmax's input
   * @param log whether y is the logarithm
   * @return a new array of the same shape
   */
  public static double[] rows(double[] y, double[] dy, int rowLength, double scale, boolean log) {
    return rows(y, dy, rowLength, scale, log, StorageType.F64);
  }

  /**
   * What a straightforward computation in a low-precision format gives: every product, exponential,
   * total and difference is rounded to {@code precision}. It is the yardstick of {@link Judgement},
   * not a truth. The total itself is added up exactly, as in {@link SoftmaxReference}.
   */
  public static double[] rows(
      double[] y, double[] dy, int rowLength, double scale, boolean log, StorageType precision) {
    if (y.length != dy.length) {
      throw new IllegalArgumentException(y.length + " results, but " + dy.length + " gradients");
    }
    if (y.length != 0 && (rowLength == 0 || y.length % rowLength != 0)) {
      throw new IllegalArgumentException(y.length + " elements are not rows of " + rowLength);
    }
    double[] dx = new double[y.length];
    for (int start = 0; start < y.length; start += rowLength) {
      row(y, dy, start, start + rowLength, scale, log, precision, dx);
    }
    return dx;
  }

  private static void row(
      double[] y,
      double[] dy,
      int start,
      int end,
      double scale,
      boolean log,
      StorageType precision,
      double[] dx) {
    double out = log ? Double.NEGATIVE_INFINITY : 0;
    ReductionReference.Sum total = new ReductionReference.Sum();
    for (int i = start; i < end; i++) {
      if (y[i] != out) {
        total.add(log ? dy[i] : precision.round(y[i] * dy[i]));
      }
    }
    double sum = precision.round(total.value());
    for (int i = start; i < end; i++) {
      if (y[i] != out) {
        // Halves are subtracted: the difference of finite doubles is to be finite.
        double inner =
            log
                ? dy[i] - precision.round(precision.round(Math.exp(y[i])) * sum)
                : 2 * (y[i] * precision.round(dy[i] / 2 - sum / 2));
        dx[i] = precision.round(scale * precision.round(inner));
      }
    }
  }
}

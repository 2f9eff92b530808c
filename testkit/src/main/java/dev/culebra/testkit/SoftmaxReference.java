package dev.culebra.testkit;

/**
 * The float64 truth of the softmax of rows: {@code y_i = exp(s x_i - m) / sum_j exp(s x_j - m)}
 * with {@code m = max_j s x_j}, and its logarithm.
 *
 * <p>Naive, safe and online algorithms compute the same function, so there is one truth; what
 * differs is which inputs they survive. The contract at the edges: a row with a NaN, with +inf, or
 * of -inf only is all NaN; -inf beside a finite entry gives exactly 0 (log: -inf); a row of length
 * 0 is empty.
 */
public final class SoftmaxReference {
  private SoftmaxReference() {}

  /**
   * Softmax of each row of a dense matrix.
   *
   * @param logits the matrix, row after row
   * @param rowLength elements a row; {@code logits.length} is a multiple of it
   * @param scale factor of the logits
   * @param log whether to return the logarithm of the softmax
   * @return a new array of the same shape
   */
  public static double[] rows(double[] logits, int rowLength, double scale, boolean log) {
    return rows(logits, rowLength, scale, log, StorageType.F64);
  }

  /**
   * What a straightforward computation in a low-precision format gives: every difference,
   * exponential, total and quotient is rounded to {@code precision}. It is the yardstick of {@link
   * Judgement}, not a truth. The total itself is added up exactly: a 16-bit running sum would stop
   * growing in long rows and excuse any error.
   */
  public static double[] rows(
      double[] logits, int rowLength, double scale, boolean log, StorageType precision) {
    if (rowLength == 0 || logits.length % rowLength != 0) {
      if (logits.length == 0) {
        return new double[0];
      }
      throw new IllegalArgumentException(logits.length + " elements are not rows of " + rowLength);
    }
    double[] result = new double[logits.length];
    for (int start = 0; start < logits.length; start += rowLength) {
      row(logits, start, rowLength, scale, log, precision, result);
    }
    return result;
  }

  private static void row(
      double[] logits,
      int start,
      int length,
      double scale,
      boolean log,
      StorageType precision,
      double[] result) {
    int end = start + length;
    double max = Double.NEGATIVE_INFINITY;
    for (int i = start; i < end; i++) {
      max = Math.max(max, precision.round(logits[i] * scale));
    }
    // (-inf) - (-inf), inf - inf and NaN are NaN here as they are in the contract: no special case.
    ReductionReference.Sum total = new ReductionReference.Sum();
    for (int i = start; i < end; i++) {
      result[i] = precision.round(precision.round(logits[i] * scale) - max);
      total.add(precision.round(Math.exp(result[i])));
    }
    double sum = precision.round(total.value());
    double logSum = precision.round(Math.log(sum));
    for (int i = start; i < end; i++) {
      result[i] =
          log
              ? precision.round(result[i] - logSum)
              : precision.round(precision.round(Math.exp(result[i])) / sum);
    }
  }
}

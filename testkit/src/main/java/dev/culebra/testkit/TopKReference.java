package dev.culebra.testkit;

import java.util.stream.IntStream;

/**
 * The truth of a top-k: which elements of a row are its largest, and in which order.
 *
 * <p>Larger ones first, of equal ones the lower index; -0 equals +0; NaN is above everything.
 */
public final class TopKReference {
  private TopKReference() {}

  /**
   * The places of the {@code k} largest elements of each row of a dense matrix.
   *
   * @param values the matrix, row after row
   * @param rowLength elements a row; {@code values.length} is a multiple of it
   * @param k how many, at most {@code rowLength}
   * @param smallest whether to take the smallest instead; NaN is first all the same
   * @return {@code k} indices a row, each within its row
   */
  public static int[] indices(double[] values, int rowLength, int k, boolean smallest) {
    if (k > rowLength || values.length % rowLength != 0) {
      throw new IllegalArgumentException(
          k + " of rows of " + rowLength + " in " + values.length + " elements");
    }
    int rows = values.length / rowLength;
    int[] result = new int[rows * k];
    for (int row = 0; row < rows; row++) {
      int start = row * rowLength;
      int[] best =
          IntStream.range(0, rowLength)
              .boxed()
              .sorted((a, b) -> compare(values[start + a], values[start + b], smallest))
              .limit(k)
              .mapToInt(i -> i)
              .toArray();
      System.arraycopy(best, 0, result, row * k, k);
    }
    return result;
  }

  /** Sorting is stable, so what is equal here stays in the order of indices. */
  private static int compare(double a, double b, boolean smallest) {
    if (Double.isNaN(a) || Double.isNaN(b)) {
      return Boolean.compare(Double.isNaN(b), Double.isNaN(a));
    }
    int order = a < b ? 1 : a > b ? -1 : 0;
    return smallest ? -order : order;
  }

  /**
   * What another matrix of the same shape has in these places.
   *
   * @param values the matrix, row after row
   * @param rowLength elements a row
   * @param indices {@code k} indices a row
   * @param k how many
   * @return {@code k} elements a row
   */
  public static double[] pick(double[] values, int rowLength, int[] indices, int k) {
    double[] picked = new double[indices.length];
    for (int i = 0; i < indices.length; i++) {
      picked[i] = values[i / k * rowLength + indices[i]];
    }
    return picked;
  }
}

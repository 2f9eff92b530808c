package dev.culebra.testkit;

/**
 * The float64 truth of reductions.
 *
 * <p>NaN in gives NaN out for every operation. An empty input gives the identity: sum 0, max -inf,
 * min +inf; the mean of nothing is NaN.
 */
public enum ReductionReference {
  /** The sum, compensated, so that its own error does not count. */
  SUM,
  /** The largest value. */
  MAX,
  /** The smallest value. */
  MIN,
  /** The sum divided by the number of elements. */
  MEAN;

  /** Reduces all of {@code values} to one. */
  public double of(double... values) {
    return switch (this) {
      case SUM -> total(values);
      case MAX -> max(values);
      case MIN -> min(values);
      case MEAN -> total(values) / values.length;
    };
  }

  /** Reduces each row of a dense matrix; {@code values.length} is {@code rows * rowLength}. */
  public double[] rows(double[] values, int rows, int rowLength) {
    if (values.length != (long) rows * rowLength) {
      throw new IllegalArgumentException(
          values.length + " elements are not " + rows + " rows of " + rowLength);
    }
    double[] result = new double[rows];
    double[] row = new double[rowLength];
    for (int i = 0; i < rows; i++) {
      System.arraycopy(values, i * rowLength, row, 0, rowLength);
      result[i] = of(row);
    }
    return result;
  }

  /**
   * The sum of the absolute values: what the error bound of any summation is a multiple of,
   * whatever cancels in the sum itself.
   */
  public static double sumOfMagnitudes(double... values) {
    Sum sum = new Sum();
    for (double value : values) {
      sum.add(Math.abs(value));
    }
    return sum.value();
  }

  private static double total(double[] values) {
    Sum sum = new Sum();
    for (double value : values) {
      sum.add(value);
    }
    return sum.value();
  }

  private static double max(double[] values) {
    double max = Double.NEGATIVE_INFINITY;
    for (double value : values) {
      max = Math.max(max, value); // Math.max hands NaN on, as the contract asks
    }
    return max;
  }

  private static double min(double[] values) {
    double min = Double.POSITIVE_INFINITY;
    for (double value : values) {
      min = Math.min(min, value);
    }
    return min;
  }

  /** Neumaier's compensated sum: the lost low part of each addition is kept and added last. */
  static final class Sum {
    private double sum;
    private double lost;

    void add(double value) {
      double next = sum + value;
      lost += Math.abs(sum) >= Math.abs(value) ? (sum - next) + value : (value - next) + sum;
      sum = next;
    }

    double value() {
      // After an infinity the compensation is inf - inf: the plain sum is the answer then.
      return Double.isFinite(sum) ? sum + lost : sum;
    }
  }
}

package dev.culebra.testkit;

import java.math.BigInteger;

/**
 * The float64 truth of reductions, and the exact one of integers.
 *
 * <p>NaN in gives NaN out for every operation but the indices, which give that of the first NaN. An
 * empty input gives the identity: sum and norm 0, max and logsumexp -inf, min +inf; the mean of
 * nothing is NaN, the index -1.
 */
public enum ReductionReference {
  /** The sum, compensated, so that its own error does not count. */
  SUM,
  /** The largest value. */
  MAX,
  /** The smallest value. */
  MIN,
  /** The sum divided by the number of elements. */
  MEAN,
  /** The lowest index of the largest value. */
  ARGMAX,
  /** The lowest index of the smallest value. */
  ARGMIN,
  /** The logarithm of the sum of exp(x). */
  LOGSUMEXP,
  /** The square root of the sum of squares. */
  L2_NORM;

  /** Reduces all of {@code values} to one. */
  public double of(double... values) {
    return switch (this) {
      case SUM -> total(values);
      case MAX -> max(values);
      case MIN -> min(values);
      case MEAN -> total(values) / values.length;
      case ARGMAX -> indexOf(max(values), values);
      case ARGMIN -> indexOf(min(values), values);
      case LOGSUMEXP -> logSumExp(values);
      case L2_NORM -> norm(values);
    };
  }

  /** Whether results are indices. */
  public boolean isIndex() {
    return this == ARGMAX || this == ARGMIN;
  }

  /**
   * Reduces integers to one: exactly, except that a sum wraps around as {@code long} does. Of
   * nothing the largest is {@code Long.MIN_VALUE}, the smallest {@code Long.MAX_VALUE}.
   */
  public long ofIntegers(long... values) {
    long result =
        switch (this) {
          case SUM -> 0;
          case MAX -> Long.MIN_VALUE;
          case MIN -> Long.MAX_VALUE;
          case ARGMAX, ARGMIN -> -1;
          case MEAN, LOGSUMEXP, L2_NORM ->
              throw new IllegalArgumentException(this + " of integers is no integer");
        };
    for (int i = 0; i < values.length; i++) {
      long value = values[i];
      result =
          switch (this) {
            case SUM -> result + value;
            case MAX -> Math.max(result, value);
            case MIN -> Math.min(result, value);
            case ARGMAX -> result < 0 || value > values[(int) result] ? i : result;
            default -> result < 0 || value < values[(int) result] ? i : result;
          };
    }
    return result;
  }

  /** The mean of integers, rounded twice. */
  public static double meanOfIntegers(long... values) {
    BigInteger sum = BigInteger.ZERO;
    for (long value : values) {
      sum = sum.add(BigInteger.valueOf(value));
    }
    return sum.doubleValue() / values.length;
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

  /** The first that is the value, or the first NaN if it is NaN; -0 is +0. */
  private static int indexOf(double wanted, double[] values) {
    for (int i = 0; i < values.length; i++) {
      if (values[i] == wanted || (Double.isNaN(wanted) && Double.isNaN(values[i]))) {
        return i;
      }
    }
    return -1;
  }

  private static double logSumExp(double[] values) {
    double max = max(values);
    if (!Double.isFinite(max)) {
      return max; // nothing but -inf, some +inf, or NaN
    }
    Sum sum = new Sum();
    for (double value : values) {
      sum.add(Math.exp(value - max));
    }
    return max + Math.log(sum.value());
  }

  /** Divided by a power of two near the largest magnitude, which costs no bit. */
  private static double norm(double[] values) {
    double largest = 0;
    for (double value : values) {
      largest = Math.max(largest, Math.abs(value));
    }
    if (largest == 0 || !Double.isFinite(largest)) {
      return largest;
    }
    int exponent = Math.getExponent(largest);
    Sum sum = new Sum();
    for (double value : values) {
      double part = Math.scalb(value, -exponent);
      sum.add(part * part);
    }
    return Math.scalb(Math.sqrt(sum.value()), exponent);
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

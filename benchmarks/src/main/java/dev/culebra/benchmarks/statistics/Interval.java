package dev.culebra.benchmarks.statistics;

/**
 * A median and the 95 % interval around it.
 *
 * @param median the middle
 * @param low the interval's lower end
 * @param high the interval's upper end
 */
public record Interval(double median, double low, double high) {
  /** The same in another unit. */
  public Interval times(double factor) {
    return new Interval(median * factor, low * factor, high * factor);
  }

  /** The interval's width as a part of the median. */
  public double width() {
    return (high - low) / median;
  }
}

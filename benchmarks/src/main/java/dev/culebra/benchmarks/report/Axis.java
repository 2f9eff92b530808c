package dev.culebra.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/** From values to places along one side of a plot. */
final class Axis {
  private final double least;
  private final double most;
  private final double from;
  private final double to;
  private final boolean logarithmic;

  /**
   * @param least the value at {@code from}
   * @param most the value at {@code to}
   */
  Axis(double least, double most, double from, double to, boolean logarithmic) {
    this.least = least;
    this.most = most;
    this.from = from;
    this.to = to;
    this.logarithmic = logarithmic;
  }

  double place(double value) {
    double part =
        logarithmic
            ? Math.log(value / least) / Math.log(most / least)
            : (value - least) / (most - least);
    return from + (to - from) * part;
  }

  /** Round values of a logarithmic axis that has fewer than two powers of ten. */
  private List<Double> between() {
    List<Double> ticks = new ArrayList<>();
    for (int power = (int) Math.floor(Math.log10(least)); Math.pow(10, power) <= most; power++) {
      for (int digit : new int[] {1, 2, 5}) {
        double value = digit * Math.pow(10, power);
        if (value >= least && value <= most) {
          ticks.add(value);
        }
      }
    }
    return ticks;
  }

  /** Round values to mark, at most about six. */
  List<Double> ticks() {
    List<Double> ticks = new ArrayList<>();
    if (logarithmic) {
      int first = (int) Math.ceil(Math.log10(least) - 1e-9);
      int last = (int) Math.floor(Math.log10(most) + 1e-9);
      int step =
          Math.max(1, (last - first) / 6 + ((last - first) % 6 > 0 && last - first > 6 ? 1 : 0));
      for (int power = first; power <= last; power += step) {
        ticks.add(Math.pow(10, power));
      }
      return last > first ? ticks : between();
    }
    double rough = (most - least) / 5;
    double power = Math.pow(10, Math.floor(Math.log10(rough)));
    double step =
        rough / power > 5
            ? 10 * power
            : rough / power > 2 ? 5 * power : rough / power > 1 ? 2 * power : power;
    for (double value = Math.ceil(least / step) * step; value <= most * (1 + 1e-9); value += step) {
      ticks.add(value);
    }
    return ticks;
  }
}

package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.statistics.Interval;
import java.util.List;

/** Bars that lie, each below its label, with a whisker over the interval: readable when narrow. */
final class BarChart {
  private static final double WIDTH = 360;
  private static final double ROW = 32;
  private static final double BAR = 12;

  private BarChart() {}

  /**
   * A bar.
   *
   * @param value what it shows, and its interval
   * @param text the value as text
   * @param type colour
   */
  record Bar(String label, Interval value, String text, String type) {}

  static String draw(String title, List<Bar> bars) {
    double most = bars.stream().mapToDouble(bar -> bar.value().high()).max().orElse(1);
    // One bad interval must not push all the others to the left edge.
    double median = bars.stream().mapToDouble(bar -> bar.value().median()).max().orElse(1);
    double scale = (WIDTH - 8) / Math.min(most, 1.3 * median);
    Svg svg = new Svg(WIDTH, bars.size() * ROW + 4, title);
    for (int i = 0; i < bars.size(); i++) {
      Bar bar = bars.get(i);
      double top = i * ROW;
      double middle = top + 18 + BAR / 2;
      svg.text(0, top + 13, Svg.Anchor.START, "label", bar.label());
      svg.text(WIDTH, top + 13, Svg.Anchor.END, "value", bar.text());
      String tip =
          bar.label()
              + ": "
              + bar.text()
              + ", interval "
              + Format.number(bar.value().low())
              + " to "
              + Format.number(bar.value().high());
      svg.rect(0, top + 18, bar.value().median() * scale, BAR, "fill " + bar.type(), tip);
      double from = bar.value().low() * scale;
      double to = Math.min(bar.value().high() * scale, WIDTH - 2);
      svg.line(from, middle, to, middle, "whisker");
      svg.line(from, middle - 3, from, middle + 3, "whisker");
      svg.line(to, middle - 3, to, middle + 3, "whisker");
    }
    return svg.toString();
  }
}

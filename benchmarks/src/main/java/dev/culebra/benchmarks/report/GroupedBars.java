package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.statistics.Interval;
import java.util.List;

/** Bars that stand in groups, with whiskers, above a line where the measure of all of them is. */
final class GroupedBars {
  private static final double WIDTH = 360;
  private static final double HEIGHT = 250;
  private static final double LEFT = 30;
  private static final double BOTTOM = HEIGHT - 34;

  /** The part of a group's place that its bars fill. */
  private static final double FILLED = 0.8;

  private GroupedBars() {}

  /**
   * A bar.
   *
   * @param place which of the bars of each group it is, from 0; one that was not measured is left
   *     free
   * @param tip its numbers
   * @param type colour
   */
  record Bar(int place, Interval value, String tip, String type) {}

  /** Bars above one label. */
  record Group(String label, List<Bar> bars) {}

  /**
   * Draws.
   *
   * @param places bars of a group at most
   * @param measure the value of what the others are held against
   */
  static String draw(
      String title, String xLabel, String yLabel, List<Group> groups, int places, double measure) {
    double most =
        groups.stream()
            .flatMap(group -> group.bars().stream())
            .mapToDouble(bar -> bar.value().median())
            .max()
            .orElse(measure);
    double top = Math.max(most, measure) * 1.1;
    Axis y = new Axis(0, top, BOTTOM, 18, false);
    Svg svg = new Svg(WIDTH, HEIGHT, title);
    for (double tick : y.ticks()) {
      svg.line(LEFT, y.place(tick), WIDTH, y.place(tick), "grid");
      svg.text(LEFT - 4, y.place(tick) + 4, Svg.Anchor.END, "tick", Format.count(tick));
    }
    double groupWidth = (WIDTH - LEFT) / groups.size();
    double barWidth = groupWidth * FILLED / places;
    for (int i = 0; i < groups.size(); i++) {
      double left = LEFT + i * groupWidth;
      for (Bar bar : groups.get(i).bars()) {
        double x = left + groupWidth * (1 - FILLED) / 2 + bar.place() * barWidth;
        double height = y.place(bar.value().median());
        svg.rect(x, height, barWidth * 0.9, BOTTOM - height, "fill " + bar.type(), bar.tip());
        double middle = x + barWidth * 0.45;
        svg.line(
            middle,
            y.place(bar.value().low()),
            middle,
            y.place(Math.min(bar.value().high(), top)),
            "whisker");
      }
      svg.text(
          left + groupWidth / 2, BOTTOM + 15, Svg.Anchor.MIDDLE, "tick", groups.get(i).label());
    }
    svg.line(LEFT, y.place(measure), WIDTH, y.place(measure), "measure");
    svg.line(LEFT, BOTTOM, WIDTH, BOTTOM, "axis");
    svg.text(0, 10, Svg.Anchor.START, "tick", yLabel);
    svg.text(WIDTH, HEIGHT - 4, Svg.Anchor.END, "tick", xLabel);
    return svg.toString();
  }
}

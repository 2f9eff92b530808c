package dev.culebra.benchmarks.report;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Lines over a logarithmic axis, with the whiskers of their points. y begins at 0, unless most
 * lines would lie on the ground below the highest, or below their roof: then it is logarithmic,
 * too.
 */
final class LineChart {
  private static final double WIDTH = 360;
  private static final double HEIGHT = 250;
  private static final double LEFT = 40;
  private static final double BOTTOM = HEIGHT - 34;

  /** The part of the height below which lines cannot be told from each other. */
  private static final double GROUND = 0.2;

  private LineChart() {}

  /** A point with the interval of its value. */
  record Point(double x, double y, double low, double high) {}

  /** A line. */
  record Series(String label, String type, List<Point> points) {}

  /** A height that has a name. */
  record Level(String label, double y) {}

  /**
   * Draws.
   *
   * @param roof above all lines, if there is one
   */
  static String draw(
      String title, String xLabel, String yLabel, List<Series> all, Optional<Level> roof) {
    List<Point> points = all.stream().flatMap(series -> series.points().stream()).toList();
    double least = points.stream().mapToDouble(Point::x).min().orElse(1);
    double most = points.stream().mapToDouble(Point::x).max().orElse(10);
    double highest = points.stream().mapToDouble(Point::y).max().orElse(1);
    double top = Math.max(highest, roof.map(Level::y).orElse(0.0)) * 1.08;
    long flat = all.stream().filter(series -> isOnTheGround(series, top)).count();
    boolean isFlat = 2 * flat > all.size();
    double bottom = isFlat ? points.stream().mapToDouble(Point::low).min().orElse(1) * 0.8 : 0;
    Axis x = new Axis(least, Math.max(most, least * 2), LEFT + 6, WIDTH - 16, true);
    Axis y = new Axis(bottom, top, BOTTOM, 18, isFlat);
    Svg svg = new Svg(WIDTH, HEIGHT, title);
    for (double tick : y.ticks()) {
      svg.line(LEFT, y.place(tick), WIDTH, y.place(tick), "grid");
      svg.text(LEFT - 4, y.place(tick) + 4, Svg.Anchor.END, "tick", Format.count(tick));
    }
    xTicks(svg, x, points);
    svg.line(LEFT, BOTTOM, WIDTH, BOTTOM, "axis");
    svg.text(0, 10, Svg.Anchor.START, "tick", yLabel);
    svg.text(WIDTH, HEIGHT - 4, Svg.Anchor.END, "tick", xLabel);
    roof.ifPresent(
        level -> {
          svg.line(LEFT, y.place(level.y()), WIDTH, y.place(level.y()), "stroke roof");
          svg.text(
              WIDTH,
              y.place(level.y()) - 4,
              Svg.Anchor.END,
              "tick",
              level.label() + " " + Format.number(level.y()));
        });
    for (Series series : all) {
      List<Point> sorted =
          series.points().stream().sorted(Comparator.comparingDouble(Point::x)).toList();
      double[][] path =
          sorted.stream()
              .map(point -> new double[] {x.place(point.x()), y.place(point.y())})
              .toArray(double[][]::new);
      svg.path(path, "stroke " + series.type());
      for (Point point : sorted) {
        double place = x.place(point.x());
        svg.line(
            place, y.place(point.low()), place, y.place(Math.min(point.high(), top)), "whisker");
        svg.dot(
            place,
            y.place(point.y()),
            3,
            "fill " + series.type(),
            series.label() + ": " + Format.number(point.y()) + " at " + Format.count(point.x()));
      }
    }
    return svg.toString();
  }

  private static boolean isOnTheGround(Series series, double top) {
    return series.points().stream().allMatch(point -> point.y() < GROUND * top);
  }

  /** The values that there are, where they do not run into each other. */
  private static void xTicks(Svg svg, Axis x, List<Point> points) {
    double free = 0;
    for (double value : points.stream().mapToDouble(Point::x).distinct().sorted().toArray()) {
      double place = x.place(value);
      svg.line(place, BOTTOM, place, BOTTOM + 4, "axis");
      if (place >= free) {
        svg.text(place, BOTTOM + 15, Svg.Anchor.MIDDLE, "tick", Format.count(value));
        free = place + 30;
      }
    }
  }
}

package dev.culebra.benchmarks.report;

import java.util.List;
import java.util.Map;

/**
 * Operations by how much they compute on each byte that they have to move, below the roofs that
 * were measured in the same run.
 *
 * @see <a href="https://doi.org/10.1145/1498765.1498785">Williams, Waterman, Patterson:
 *     Roofline</a>
 */
final class Roofline {
  private static final double WIDTH = 360;
  private static final double HEIGHT = 290;
  private static final double LEFT = 40;
  private static final double BOTTOM = HEIGHT - 34;

  /** How far arithmetic's roofs reach beyond their ridge, so that their names stand under them. */
  private static final double NAMES = 30;

  private Roofline() {}

  /** A result. */
  record Point(String label, double flopsPerByte, double flopsPerSecond, String type) {}

  /**
   * Draws.
   *
   * @param bytesPerSecond the memory's roof
   * @param flopsPerSecond roofs of arithmetic by name
   */
  static String draw(
      String title, double bytesPerSecond, Map<String, Double> flopsPerSecond, List<Point> points) {
    double leastX = points.stream().mapToDouble(Point::flopsPerByte).min().orElse(0.1) / 2;
    double mostRoof =
        flopsPerSecond.values().stream().mapToDouble(Double::doubleValue).max().orElse(0);
    double mostX =
        Math.max(
            points.stream().mapToDouble(Point::flopsPerByte).max().orElse(1) * 4,
            mostRoof / bytesPerSecond * NAMES);
    double leastY = points.stream().mapToDouble(Point::flopsPerSecond).min().orElse(1e9) / 2;
    double mostY = Math.max(mostRoof, bytesPerSecond * mostX) * (mostRoof > 0 ? 0.5 : 1.5);
    mostY = mostRoof > 0 ? mostRoof * 2 : mostY;
    Axis x = new Axis(leastX, mostX, LEFT + 6, WIDTH - 8, true);
    Axis y = new Axis(leastY, mostY, BOTTOM, 18, true);
    Svg svg = new Svg(WIDTH, HEIGHT, title);
    for (double tick : y.ticks()) {
      svg.line(LEFT, y.place(tick), WIDTH, y.place(tick), "grid");
      svg.text(LEFT - 4, y.place(tick) + 4, Svg.Anchor.END, "tick", Format.count(tick / 1e12));
    }
    for (double tick : x.ticks()) {
      svg.line(x.place(tick), BOTTOM, x.place(tick), BOTTOM + 4, "axis");
      svg.text(x.place(tick), BOTTOM + 15, Svg.Anchor.MIDDLE, "tick", Format.count(tick));
    }
    svg.line(LEFT, BOTTOM, WIDTH, BOTTOM, "axis");
    svg.text(0, 10, Svg.Anchor.START, "tick", "T operations/s");
    svg.text(WIDTH, HEIGHT - 4, Svg.Anchor.END, "tick", "operations a byte");
    double ridge = mostRoof > 0 ? mostRoof / bytesPerSecond : mostX;
    double fromX = Math.max(leastX, leastY / bytesPerSecond);
    svg.path(
        new double[][] {
          {x.place(fromX), y.place(bytesPerSecond * fromX)},
          {x.place(ridge), y.place(Math.min(mostY, bytesPerSecond * ridge))}
        },
        "stroke roof");
    double free = HEIGHT;
    for (Map.Entry<String, Double> roof :
        flopsPerSecond.entrySet().stream().sorted(Map.Entry.comparingByValue()).toList()) {
      double level = y.place(roof.getValue());
      svg.line(
          x.place(roof.getValue() / bytesPerSecond), level, x.place(mostX), level, "stroke roof");
      // Roofs that are close to each other have their names above and below.
      boolean isCrowded = level - 4 > free - 24;
      double nameAt = isCrowded ? level - 6 : level + 12;
      svg.text(
          x.place(mostX),
          nameAt,
          Svg.Anchor.END,
          "tick",
          roof.getKey() + " " + Format.number(roof.getValue() / 1e12));
      free = level;
    }
    for (Point point : points) {
      svg.dot(
          x.place(point.flopsPerByte()),
          y.place(point.flopsPerSecond()),
          3.5,
          "fill " + point.type(),
          point.label());
    }
    return svg.toString();
  }
}

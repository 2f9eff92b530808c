package dev.culebra.benchmarks.report;

import java.util.Locale;

/** A drawing that scales with its place. Colours are classes, which the page gives a value. */
final class Svg {
  private final StringBuilder body = new StringBuilder();
  private final double width;
  private final double height;
  private final String title;

  Svg(double width, double height, String title) {
    this.width = width;
    this.height = height;
    this.title = title;
  }

  /** Where a text is held. */
  enum Anchor {
    START,
    MIDDLE,
    END
  }

  Svg line(double x1, double y1, double x2, double y2, String type) {
    body.append(
        format(
            "<line x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\" class=\"%s\"/>%n",
            x1, y1, x2, y2, type));
    return this;
  }

  Svg rect(double x, double y, double w, double h, String type, String tip) {
    body.append(
        format(
            "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" rx=\"2\" class=\"%s\">%s</rect>%n",
            x, y, Math.max(0, w), h, type, tip(tip)));
    return this;
  }

  Svg dot(double x, double y, double radius, String type, String tip) {
    body.append(
        format(
            "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" class=\"%s\">%s</circle>%n",
            x, y, radius, type, tip(tip)));
    return this;
  }

  /** A line through points. */
  Svg path(double[][] points, String type) {
    StringBuilder steps = new StringBuilder();
    for (int i = 0; i < points.length; i++) {
      steps.append(format("%s%s %s ", i == 0 ? "M" : "L", points[i][0], points[i][1]));
    }
    body.append(format("<path d=\"%s\" class=\"%s\"/>%n", steps.toString().strip(), type));
    return this;
  }

  Svg text(double x, double y, Anchor anchor, String type, String text) {
    body.append(
        format(
            "<text x=\"%s\" y=\"%s\" text-anchor=\"%s\" class=\"%s\">%s</text>%n",
            x, y, anchor.name().toLowerCase(Locale.ROOT), type, Format.escape(text)));
    return this;
  }

  private static String tip(String text) {
    return text.isEmpty() ? "" : "<title>" + Format.escape(text) + "</title>";
  }

  /** Numbers with one decimal: finer than a pixel. */
  private static String format(String form, Object... values) {
    for (int i = 0; i < values.length; i++) {
      if (values[i] instanceof Double number) {
        values[i] = String.format(Locale.ROOT, "%.1f", number).replace(".0", "");
      }
    }
    return String.format(Locale.ROOT, form.replace("%n", "\n"), values);
  }

  @Override
  public String toString() {
    return format(
        "<svg viewBox=\"0 0 %s %s\" role=\"img\" aria-label=\"%s\">%n%s</svg>%n",
        width, height, Format.escape(title), body.toString());
  }
}

package dev.culebra.benchmarks.report;

import java.util.List;

/**
 * A drawing with its words.
 *
 * @param title above it
 * @param caption below it, may be empty
 * @param svg the drawing
 * @param legend what its colours mean
 */
record Figure(String title, String caption, String svg, List<Key> legend) {
  /** A colour and its meaning. */
  record Key(String type, String label) {}

  String html() {
    StringBuilder text = new StringBuilder();
    text.append("<figure>\n<h3>").append(Format.escape(title)).append("</h3>\n").append(svg);
    if (!legend.isEmpty()) {
      text.append("<ul class=\"legend\">");
      legend.forEach(
          key ->
              text.append("<li><span class=\"swatch ")
                  .append(key.type())
                  .append("\"></span>")
                  .append(Format.escape(key.label()))
                  .append("</li>"));
      text.append("</ul>\n");
    }
    if (!caption.isEmpty()) {
      text.append("<figcaption>").append(Format.escape(caption)).append("</figcaption>\n");
    }
    return text.append("</figure>\n").toString();
  }
}

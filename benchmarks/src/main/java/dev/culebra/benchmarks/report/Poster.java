package dev.culebra.benchmarks.report;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Several figures as one SVG that stands alone, two beside each other, with one legend: for a
 * document, or a slide. Its colours are the light ones, without what not every program knows.
 *
 * @param title above all
 * @param notes lines below the title
 * @param panels their drawings are as large as those of {@link LineChart}
 */
record Poster(String title, List<String> notes, List<Figure> panels) {
  private static final int COLUMNS = 2;
  private static final int MARGIN = 24;
  private static final int GAP = 36;
  private static final int PANEL_WIDTH = 360;
  private static final int PANEL_HEIGHT = 250;
  private static final int HEAD = 26;
  private static final int LINE = 17;
  private static final int TITLE = 30;

  /** Of a letter of the legend, on average. */
  private static final double LETTER = 6.2;

  private static final Pattern DEFINED = Pattern.compile("--([a-z0-9-]+): *(#[0-9a-f]+);");
  private static final Pattern USED = Pattern.compile("var\\(--([a-z0-9-]+)\\)");

  int width() {
    return 2 * MARGIN + COLUMNS * PANEL_WIDTH + (COLUMNS - 1) * GAP;
  }

  int height() {
    return top() + rows() * (HEAD + PANEL_HEIGHT + GAP) + legend(0).lines() * LINE + MARGIN;
  }

  private int rows() {
    return Math.ceilDiv(panels.size(), COLUMNS);
  }

  /** Where the panels begin. */
  private int top() {
    return MARGIN + TITLE + notes.size() * LINE;
  }

  String svg() {
    StringBuilder text = new StringBuilder();
    text.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" viewBox="0 0 %1$d %2$d" role="img">
        <title>%3$s</title>
        <style>
        %4$s</style>
        <rect width="%1$d" height="%2$d" fill="#ffffff"/>
        """
            .formatted(width(), height(), Format.escape(title), style()));
    line(text, MARGIN, MARGIN + 16, "title", title);
    for (int i = 0; i < notes.size(); i++) {
      line(text, MARGIN, MARGIN + TITLE + i * LINE + 6, "tick", notes.get(i));
    }
    for (int i = 0; i < panels.size(); i++) {
      int left = MARGIN + i % COLUMNS * (PANEL_WIDTH + GAP);
      int top = top() + i / COLUMNS * (HEAD + PANEL_HEIGHT + GAP);
      line(text, left, top + 16, "head", panels.get(i).title());
      text.append(
          panels
              .get(i)
              .svg()
              .replaceFirst(
                  "<svg ",
                  "<svg x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                      .formatted(left, top + HEAD, PANEL_WIDTH, PANEL_HEIGHT)));
    }
    text.append(legend(top() + rows() * (HEAD + PANEL_HEIGHT + GAP)).svg());
    return text.append("</svg>\n").toString();
  }

  private static void line(StringBuilder text, int x, int y, String type, String words) {
    text.append(
        "<text x=\"%d\" y=\"%d\" class=\"%s\">%s</text>%n"
            .formatted(x, y, type, Format.escape(words))
            .replace(System.lineSeparator(), "\n"));
  }

  /** A drawn legend and its height. */
  private record Legend(String svg, int lines) {}

  private Legend legend(int top) {
    Set<Figure.Key> keys = new LinkedHashSet<>();
    panels.forEach(panel -> keys.addAll(panel.legend()));
    StringBuilder text = new StringBuilder();
    double x = MARGIN;
    int lines = 1;
    for (Figure.Key key : keys) {
      double needed = 16 + LETTER * key.label().length() + 14;
      if (x > MARGIN && x + needed > width() - MARGIN) {
        x = MARGIN;
        lines++;
      }
      int y = top + lines * LINE - 5;
      text.append(
          "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" rx=\"2\" class=\"fill %s\"/>\n"
              .formatted((int) x, y - 9, key.type()));
      line(text, (int) x + 15, y, "label", key.label());
      x += needed;
    }
    return new Legend(text.toString(), lines);
  }

  /** The rules of the page's figures, with the light colour in the place of each name. */
  private static String style() {
    Map<String, String> colours = new java.util.HashMap<>();
    Matcher defined = DEFINED.matcher(Page.resource("colours.css"));
    while (defined.find()) {
      colours.putIfAbsent(defined.group(1), defined.group(2)); // the dark ones come later
    }
    return USED.matcher(Page.resource("figures.css"))
            .replaceAll(
                used -> {
                  String colour = colours.get(used.group(1));
                  if (colour == null) {
                    throw new IllegalStateException("no colour is named " + used.group(1));
                  }
                  return colour;
                })
        + "svg text.title { font-size: 17px; font-weight: 600; }\n"
        + "svg text.head { font-size: 13px; font-weight: 600; }\n";
  }
}

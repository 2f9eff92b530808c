package dev.culebra.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/**
 * A table, for the page and for Markdown alike.
 *
 * @param title above it
 * @param note below the title, may be empty
 * @param columns their heads
 * @param rows cells, as many as columns
 */
record Table(String title, String note, List<String> columns, List<List<String>> rows) {
  /** What a page shows so that nobody overlooks it. */
  static final String BAD = "MISSED";

  /** Characters of a cell that is not broken into lines. */
  private static final int LONGEST_LINE = 48;

  static Table of(String title, String note, String... columns) {
    return new Table(title, note, List.of(columns), new ArrayList<>());
  }

  void add(String... cells) {
    if (cells.length != columns.size()) {
      throw new IllegalArgumentException(
          cells.length + " cells in a table of " + columns.size() + " columns");
    }
    rows.add(List.of(cells));
  }

  String markdown() {
    StringBuilder text = new StringBuilder();
    text.append("### ").append(title).append("\n\n");
    if (!note.isEmpty()) {
      text.append(note).append("\n\n");
    }
    line(text, columns);
    text.append('|');
    for (int column = 0; column < columns.size(); column++) {
      text.append(isNumbers(column) ? "--:|" : "---|");
    }
    text.append('\n');
    rows.forEach(row -> line(text, row));
    return text.append('\n').toString();
  }

  /** Numbers stand at the right, words at the left. */
  private boolean isNumbers(int column) {
    return column > 0
        && rows.stream()
            .map(row -> row.get(column))
            .allMatch(
                cell ->
                    cell.isEmpty() || (Character.isDigit(cell.charAt(0)) && cell.length() < 32));
  }

  private String cell(String tag, int column, String words) {
    String type =
        isNumbers(column)
            ? "number"
            : words.equals(BAD) ? "bad" : words.length() > LONGEST_LINE ? "words" : "";
    return "<%s%s>%s</%s>"
        .formatted(tag, type.isEmpty() ? "" : " class=\"" + type + "\"", Format.escape(words), tag);
  }

  private static void line(StringBuilder text, List<String> cells) {
    text.append('|');
    cells.forEach(cell -> text.append(' ').append(Format.markdown(cell)).append(" |"));
    text.append('\n');
  }

  String html() {
    StringBuilder text = new StringBuilder();
    text.append("<h3>").append(Format.escape(title)).append("</h3>\n");
    if (!note.isEmpty()) {
      text.append("<p>").append(Format.escape(note)).append("</p>\n");
    }
    text.append("<div class=\"scroll\"><table><thead><tr>");
    for (int column = 0; column < columns.size(); column++) {
      text.append(cell("th", column, columns.get(column)));
    }
    text.append("</tr></thead><tbody>\n");
    for (List<String> row : rows) {
      text.append("<tr>");
      for (int column = 0; column < columns.size(); column++) {
        text.append(cell("td", column, row.get(column)));
      }
      text.append("</tr>\n");
    }
    return text.append("</tbody></table></div>\n").toString();
  }
}

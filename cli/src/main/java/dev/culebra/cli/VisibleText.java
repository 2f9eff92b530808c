package dev.culebra.cli;

/**
 * Text of others, such as a file's name, made safe to print: what would move the cursor, change
 * colours, break the line or reverse the reading order is written as an escape.
 */
final class VisibleText {
  private VisibleText() {}

  /** The text in one line. */
  static String of(String text) {
    StringBuilder visible = new StringBuilder();
    text.codePoints().forEach(c -> append(visible, c));
    return visible.toString();
  }

  /** The same, but lines stay lines: for messages that have several by intent. */
  static String lines(String text) {
    StringBuilder visible = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              if (c == '\n' || c == '\t') {
                visible.appendCodePoint(c);
              } else {
                append(visible, c);
              }
            });
    return visible.toString();
  }

  private static void append(StringBuilder visible, int c) {
    switch (c) {
      case '\n' -> visible.append("\\n");
      case '\t' -> visible.append("\\t");
      case '\r' -> visible.append("\\r");
      default -> {
        if (isSafe(c)) {
          visible.appendCodePoint(c);
        } else {
          visible.append((c <= 0xFF ? "\\x%02x" : "\\u%04x").formatted(c));
        }
      }
    }
  }

  private static boolean isSafe(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      default -> true;
    };
  }
}

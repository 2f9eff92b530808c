package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class VisibleTextTest {
  @Test
  void escapesWhatATerminalWouldObey() {
    assertEquals(
        "a\\n\\t\\r\\x00\\x1b[31m\\x7f\\x9b", VisibleText.of("a\n\t\r\0\u001b[31m\u007f\u009b"));
    assertEquals("\\u202egpj\\u2028\\ud800", VisibleText.of("\u202egpj\u2028\ud800"));
  }

  @Test
  void leavesLettersOfAnyScript() {
    String text = "plain ü 漢字 \ud83d\ude00 C:\\x";
    assertEquals(text, VisibleText.of(text));
  }

  @Test
  void keepsLinesWhereThereAreSeveral() {
    assertEquals("a\n\tb\\x1b", VisibleText.lines("a\n\tb\u001b"));
  }
}

package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private static final long GIB = 1L << 30;

  @Test
  void longWorkOnATerminalIsShownAndWipedAtItsEnd() throws InterruptedException {
    String shown = halfOf(GIB, true);
    assertTrue(shown.contains(" 50 %  512 MiB of 1.00 GiB, "), shown);
    assertTrue(shown.endsWith("\r\u001b[K"), shown);
  }

  @Test
  void silentWhereNobodyLooksAndForShortWork() throws InterruptedException {
    assertEquals("", halfOf(GIB, false));
    assertEquals("", halfOf(1 << 20, true));
  }

  private static String halfOf(long totalBytes, boolean isTerminal) throws InterruptedException {
    StringWriter err = new StringWriter();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Surroundings surroundings =
        new Surroundings(
            new ByteArrayInputStream(new byte[0]),
            out,
            new PrintWriter(out, false, StandardCharsets.UTF_8),
            new PrintWriter(err),
            false,
            isTerminal,
            1);
    try (Progress progress = new Progress(surroundings, totalBytes)) {
      Thread.sleep(250); // it is not redrawn more often than five times a second
      progress.advance(totalBytes / 2);
    }
    return err.toString();
  }
}

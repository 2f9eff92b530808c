package dev.culebra.cli;

import java.io.PrintWriter;

/**
 * A line on a terminal that says how far long work has come; silent elsewhere and for short work.
 */
final class Progress implements AutoCloseable {
  private static final long LONG_WORK_BYTES = 512L << 20;
  private static final long INTERVAL_NANOS = 200_000_000;

  private final PrintWriter err;
  private final boolean shown;
  private final long totalBytes;
  private final long startNanos = System.nanoTime();
  private long lastNanos = startNanos;
  private long doneBytes;

  Progress(Surroundings surroundings, long totalBytes) {
    this.err = surroundings.err();
    this.totalBytes = totalBytes;
    this.shown = surroundings.errIsTerminal() && totalBytes >= LONG_WORK_BYTES;
  }

  /** Counts what was just finished. */
  void advance(long bytes) {
    doneBytes += bytes;
    long now = System.nanoTime();
    if (shown && now - lastNanos >= INTERVAL_NANOS) {
      lastNanos = now;
      double rate = doneBytes / ((now - startNanos) * 1e-9);
      err.printf(
          "\r\u001b[K%3d %%  %s of %s, %s",
          Math.round(100.0 * doneBytes / totalBytes),
          Quantities.bytes(doneBytes),
          Quantities.bytes(totalBytes),
          Quantities.bytesPerSecond(rate));
      err.flush();
    }
  }

  /** Wipes the line. */
  @Override
  public void close() {
    if (shown) {
      err.print("\r\u001b[K");
      err.flush();
    }
  }
}

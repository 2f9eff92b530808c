package dev.culebra.cli;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * What was opened one after the other, to be closed in the reverse order: all of it, even if some
 * of it cannot be.
 */
final class ClosingStack implements AutoCloseable {
  /** What closes without a checked exception. */
  interface Closing {
    void close();
  }

  private final Deque<Closing> opened = new ArrayDeque<>();

  /** Will call this, before what was put here earlier. */
  void push(Closing closing) {
    opened.push(closing);
  }

  /** Closes all; closing again does nothing. The first failure is thrown and has the others. */
  @Override
  public void close() {
    RuntimeException failure = null;
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (RuntimeException e) {
        if (failure == null) {
          failure = e;
        } else {
          failure.addSuppressed(e);
        }
      }
    }
    if (failure != null) {
      throw failure;
    }
  }
}

package dev.culebra.ops;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;

/** Counts what the calling thread allocates on the heap. */
final class Allocations {

  private static final int ROUNDS = 60;
  private static final int CALLS = 200;

  private Allocations() {}

  /**
   * Compiled code decides: of many rounds the one that allocated least, less than a byte a call.
   */
  static void assertNone(Runnable call) {
    var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS && least >= CALLS; round++) {
      long before = threads.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < CALLS; i++) {
        call.run();
      }
      least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
    }
    long bytes = least;
    assertTrue(bytes < CALLS, () -> bytes + " bytes for " + CALLS + " calls");
  }
}

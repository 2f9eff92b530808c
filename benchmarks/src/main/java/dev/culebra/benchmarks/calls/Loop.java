package dev.culebra.benchmarks.calls;

/** How the loops in C are called from a benchmark. */
final class Loop {
  /** Calls of one loop, so that the call of the loop itself does not count. */
  static final int CALLS = 10_000;

  private Loop() {}

  /**
   * That the calls were made, and answered with what they should.
   *
   * @throws IllegalStateException if not: the benchmark then measures something else
   */
  static void require(long expected, long answered) {
    if (expected != answered) {
      throw new IllegalStateException(
          "the calls answered " + answered + " where " + expected + " was expected");
    }
  }
}

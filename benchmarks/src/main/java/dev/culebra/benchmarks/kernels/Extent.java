package dev.culebra.benchmarks.kernels;

import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Session;

/** How large problems are. */
enum Extent {
  /** For the emulator and for smoke tests. */
  TINY,
  /** What goals are stated for. */
  USUAL,
  /** More types and shapes. */
  ALL;

  static Extent of(Session session) {
    return session.isEmulated() ? TINY : session.scale().pick(TINY, USUAL, ALL);
  }

  /** How many turns each contender gets. */
  static int rounds(Scale scale) {
    return scale.pick(2, 6, 10);
  }

  /** Samples of a turn. */
  static int samples(Scale scale) {
    return scale.pick(2, 6, 10);
  }
}

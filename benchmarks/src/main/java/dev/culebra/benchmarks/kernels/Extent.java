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

  /** The same for a device: an emulator's times say nothing, however many there are. */
  static int turns(Session session) {
    return turns(session.isEmulated() ? Scale.SMOKE : session.scale());
  }

  /**
   * How many turns each contender gets, a sample each: a contender's n-th and a peer's n-th are a
   * pair, of which a claim needs 30.
   */
  static int turns(Scale scale) {
    return scale.pick(4, 36, 100);
  }
}

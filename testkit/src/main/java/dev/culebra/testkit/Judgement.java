package dev.culebra.testkit;

/**
 * Decides whether a computed tensor is good enough, and says where it is worst when not.
 *
 * <p>NaN must meet NaN and an infinity the same infinity in every rule; tolerances are about finite
 * truth only.
 */
public final class Judgement {
  private Judgement() {}

  /**
   * The rule for results stored in 16 bits: the largest error is at most twice that of a
   * straightforward computation in the same format, plus the noise of the format at the truth's
   * magnitude (what adding and subtracting 0.3 loses), doubled.
   *
   * @param type the format in which {@code actual} was stored
   * @param truth float64 values
   * @param straightforward the same function computed step by step in {@code type}
   * @param actual what is judged
   */
  public static void assertAsGoodAsStraightforward(
      StorageType type, double[] truth, double[] straightforward, double[] actual) {
    assertSameSpecials(truth, actual);
    double allowance = 0;
    double straightforwardError = 0;
    for (int i = 0; i < truth.length; i++) {
      if (Double.isFinite(truth[i])) {
        double there = type.round(truth[i] + 0.3);
        double andBack = type.round(there - 0.3);
        allowance = Math.max(allowance, Math.abs(andBack - truth[i]));
        // An overflow of the yardstick must not become an infinite licence.
        if (Double.isFinite(straightforward[i])) {
          straightforwardError =
              Math.max(straightforwardError, Math.abs(straightforward[i] - truth[i]));
        }
      }
    }
    double limit = 2 * straightforwardError + 2 * allowance;
    for (int i = 0; i < truth.length; i++) {
      if (Double.isFinite(truth[i]) && !(Math.abs(actual[i] - truth[i]) <= limit)) {
        throw new AssertionError(
            "element %d is %s, the truth is %s: error %.3g, allowed %.3g (straightforward %s: %.3g)"
                .formatted(
                    i,
                    actual[i],
                    truth[i],
                    Math.abs(actual[i] - truth[i]),
                    limit,
                    type,
                    straightforwardError));
      }
    }
  }

  /**
   * Every element within {@code relative} of its truth, or within {@code absolute} of it.
   *
   * @param relative allowed error as a fraction of the truth
   * @param absolute allowed error near zero, for instance the smallest normal value where denormals
   *     are flushed
   */
  public static void assertClose(
      double[] truth, double[] actual, double relative, double absolute) {
    assertSameSpecials(truth, actual);
    for (int i = 0; i < truth.length; i++) {
      if (!Double.isFinite(truth[i])) {
        continue;
      }
      double error = Math.abs(actual[i] - truth[i]);
      if (!(error <= Math.max(relative * Math.abs(truth[i]), absolute))) {
        throw new AssertionError(
            "element %d is %s, the truth is %s: error %.3g, relative %.3g, allowed %.3g or %.3g absolute"
                .formatted(
                    i, actual[i], truth[i], error, error / Math.abs(truth[i]), relative, absolute));
      }
    }
  }

  /** The largest absolute error over the elements whose truth is finite. */
  public static double maxError(double[] truth, double[] actual) {
    double worst = 0;
    for (int i = 0; i < truth.length; i++) {
      if (Double.isFinite(truth[i])) {
        worst = Math.max(worst, Math.abs(actual[i] - truth[i]));
      }
    }
    return worst;
  }

  private static void assertSameSpecials(double[] truth, double[] actual) {
    if (truth.length != actual.length) {
      throw new AssertionError(
          actual.length + " elements were computed, the truth has " + truth.length);
    }
    for (int i = 0; i < truth.length; i++) {
      boolean same =
          Double.isFinite(truth[i])
              ? Double.isFinite(actual[i])
              : Double.compare(truth[i], actual[i]) == 0;
      if (!same) {
        throw new AssertionError(
            "element " + i + " is " + actual[i] + ", the truth is " + truth[i]);
      }
    }
  }
}

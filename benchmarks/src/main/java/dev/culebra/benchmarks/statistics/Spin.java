package dev.culebra.benchmarks.statistics;

/**
 * A fixed piece of arithmetic, timed now and then while a run goes on. It touches no memory and no
 * driver: if its time varies, the machine does.
 */
public final class Spin {
  /** How far the slowest tenth may lie above the median on a quiet machine. */
  public static final double NOISY_TAIL = 1.10;

  private static final int STEPS = 200_000;

  private Spin() {}

  /** Times the piece. */
  public static double[] nanos(int samples) {
    double[] nanos = new double[samples];
    long state = System.nanoTime() | 1;
    for (int i = 0; i < samples; i++) {
      long start = System.nanoTime();
      for (int step = 0; step < STEPS; step++) {
        state ^= state << 13;
        state ^= state >>> 7;
        state ^= state << 17;
      }
      nanos[i] = System.nanoTime() - start;
      // A xorshift never reaches 0 from anywhere else. Whoever takes the loop away has to prove it.
      if (state == 0) {
        throw new AssertionError("the loop was not run");
      }
    }
    return nanos;
  }

  /** Whether these times are those of a machine that does other things as well. */
  public static boolean isNoisy(double... nanos) {
    return tail(nanos) > NOISY_TAIL;
  }

  /** The slowest tenth over the median. */
  public static double tail(double... nanos) {
    return Samples.quantile(0.9, nanos) / Samples.median(nanos);
  }
}

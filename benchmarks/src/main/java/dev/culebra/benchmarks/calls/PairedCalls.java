package dev.culebra.benchmarks.calls;

import com.sun.management.ThreadMXBean;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.benchmarks.statistics.Samples;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The same loop in C and by a contender, in interleaved pairs in one process.
 *
 * <p>No JMH here: JMH measures one thing after the other, and over its minutes a machine's clock
 * moves by more than the few percent that are asked about. In a pair the two follow each other
 * within milliseconds, and which goes first alternates.
 */
final class PairedCalls {
  /** One loop; an exception of the native call itself is a bug and ends the run. */
  @FunctionalInterface
  interface Loop {
    void run(int calls) throws Throwable;
  }

  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  private final Session session;
  private final int pairs;
  private final long warmUpNanos;

  /**
   * @param pairs at least 30 for a claim
   * @param warmUpNanos how long each loop runs before the first pair, so that the compiler has
   *     finished with it
   */
  PairedCalls(Session session, int pairs, long warmUpNanos) {
    this.session = session;
    this.pairs = pairs;
    this.warmUpNanos = warmUpNanos;
  }

  /** Measures one loop and reports it. */
  void measure(String call, String contender, int callsPerSample, Loop baseline, Loop loop)
      throws IOException {
    double[] baselineNanos = new double[pairs];
    double[] nanos = new double[pairs];
    warmUp(baseline, callsPerSample);
    warmUp(loop, callsPerSample);
    long allocated = 0;
    for (int i = 0; i < pairs; i++) {
      if (i % 2 == 0) {
        baselineNanos[i] = nanosPerCall(baseline, callsPerSample);
      }
      long before = THREADS.getCurrentThreadAllocatedBytes();
      nanos[i] = nanosPerCall(loop, callsPerSample);
      allocated += THREADS.getCurrentThreadAllocatedBytes() - before;
      if (i % 2 == 1) {
        baselineNanos[i] = nanosPerCall(baseline, callsPerSample);
      }
    }

    double allocatedPerCall = (double) allocated / pairs / callsPerSample;
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("group", call);
    details.put("calls_per_sample", callsPerSample);
    details.put("allocated_bytes", allocatedPerCall);
    Result result =
        Result.ofPairs(
            new Result.Key(PairsSection.NAME, call, contender),
            "ns",
            baselineNanos,
            nanos,
            details);
    session.results().put(result);
    Interval ratio = result.ratio();
    System.out.printf(
        "%-28s %-14s %8.1f ns, C %8.1f ns: ratio %.4f [%.4f, %.4f], %.3f B a call%s%n",
        call,
        contender,
        Samples.median(nanos),
        Samples.median(baselineNanos),
        ratio.median(),
        ratio.low(),
        ratio.high(),
        allocatedPerCall,
        result.isNoisy() ? "  NOISY" : "");
  }

  private void warmUp(Loop loop, int calls) {
    long start = System.nanoTime();
    do {
      nanosPerCall(loop, calls);
    } while (System.nanoTime() - start < warmUpNanos);
  }

  static double nanosPerCall(Loop loop, int calls) {
    long start = System.nanoTime();
    try {
      loop.run(calls);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
    return (double) (System.nanoTime() - start) / calls;
  }
}

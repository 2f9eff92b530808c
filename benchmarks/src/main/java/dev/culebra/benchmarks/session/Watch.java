package dev.culebra.benchmarks.session;

import dev.culebra.benchmarks.statistics.Spin;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Looks at the machine between sections: its clocks, and whether it does other things as well. */
public final class Watch {
  private static final int SAMPLES = 60;

  private final Session session;
  private final List<Map<String, String>> clocks = new ArrayList<>();
  private final List<Double> spins = new ArrayList<>();

  public Watch(Session session) {
    this.session = session;
    Spin.nanos(SAMPLES); // the compiler's turn
  }

  /**
   * Looks now, and notes it with the run.
   *
   * @param before what is about to be measured
   */
  public void look(String before) throws IOException {
    for (double nanos : Spin.nanos(SAMPLES)) {
      spins.add(nanos);
    }
    session.results().note("spin_ns", List.copyOf(spins));
    if (!session.isEmulated()) {
      Clocks.now(session.device().uuidText(), before).ifPresent(clocks::add);
      session.results().note("clocks", List.copyOf(clocks));
    }
  }

  /** A line if the machine was noisy, else nothing. */
  public String warning() {
    double[] nanos = spins.stream().mapToDouble(Double::doubleValue).toArray();
    return Spin.isNoisy(nanos)
        ? "this machine is noisy: a fixed loop took %.2f of its median in its slowest tenth. Read the intervals, not the medians."
            .formatted(Spin.tail(nanos))
        : "";
  }
}

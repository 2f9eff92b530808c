package dev.culebra.benchmarks;

import dev.culebra.Device;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;

/** Culebra, and the peers that are on the class path, each beside the same loop in C. */
final class CallComparison {
  private static final String GET_CURRENT = "cuCtxGetCurrent";
  private static final String LAUNCH = "cuLaunchKernel";

  private final PairedCalls pairs;
  private final int getCurrentCalls;
  private final int launches;
  private final Report report;

  CallComparison(Report report, boolean smoke) {
    this.report = report;
    // A sample is some milliseconds: far above the clock's grain, short against what disturbs a
    // machine.
    pairs =
        smoke
            ? new PairedCalls(4, 20_000_000L, report)
            : new PairedCalls(60, 1_500_000_000L, report);
    getCurrentCalls = smoke ? 10_000 : 500_000;
    launches = smoke ? 20 : 4 * LaunchTarget.SYNC_EVERY;
  }

  void measure(Device device) throws IOException {
    try (FillKernel fill = new FillKernel(device);
        CBaseline c = new CBaseline(fill.target())) {
      for (Contender contender : contenders(fill)) {
        try (contender) {
          contender.open(fill.target());
          pairs.measure(
              GET_CURRENT, contender.name(), getCurrentCalls, c::getCurrent, contender::getCurrent);
          requireSameWork(fill, "C", c::launch);
          requireSameWork(fill, contender.name(), contender::launch);
          pairs.measure(LAUNCH, contender.name(), launches, c::launch, contender::launch);
        } catch (IOException e) {
          throw e;
        } catch (Exception | LinkageError e) {
          if (contender instanceof Culebra) {
            throw new IllegalStateException(e);
          }
          failed(contender, e);
        }
      }
    }
  }

  private static void requireSameWork(FillKernel fill, String who, PairedCalls.Loop launch)
      throws Exception {
    fill.poison();
    PairedCalls.nanosPerCall(launch, 1);
    fill.requireFilled(who);
  }

  private static List<Contender> contenders(FillKernel fill) {
    List<Contender> contenders = new ArrayList<>();
    contenders.add(new Culebra(fill));
    ServiceLoader.load(Contender.class).forEach(contenders::add);
    return contenders;
  }

  /** A peer that does not run here is no reason to lose the rest; the report says why. */
  private void failed(Contender contender, Throwable reason) throws IOException {
    String name = contender.getClass().getSimpleName();
    // Some put their whole search for a library into the message.
    Throwable root = reason;
    while (root.getCause() != null) {
      root = root.getCause();
    }
    String text = root.toString().lines().findFirst().orElse("");
    System.out.println(name + " does not run here: " + text);
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("contender", name);
    entry.put("failed", text);
    report.add("pairs", entry);
  }
}

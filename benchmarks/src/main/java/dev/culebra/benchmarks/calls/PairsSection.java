package dev.culebra.benchmarks.calls;

import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** Culebra, and the peers that are on the class path, each beside the same loop in C. */
public final class PairsSection implements Section {
  /** The section's name in results. */
  public static final String NAME = "pairs";

  static final String GET_CURRENT = "cuCtxGetCurrent";
  static final String LAUNCH = "cuLaunchKernel, 3 arguments";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public double usualSeconds(Scale scale, boolean isEmulated) {
    return scale.pick(4, 25, 60);
  }

  @Override
  public void measure(Session session) throws IOException {
    // A sample is some milliseconds: far above the clock's grain, short against what disturbs a
    // machine.
    PairedCalls pairs =
        new PairedCalls(
            session,
            session.scale().pick(4, 60, 120),
            session.scale().pick(20_000_000L, 600_000_000L, 1_500_000_000L));
    // The emulator needs 10 times as long as a GPU for a launch, all of it its own.
    int launches = session.isEmulated() ? 20 : 4 * LaunchTarget.SYNC_EVERY;
    int getCurrentCalls = session.scale().pick(10_000, 500_000, 500_000);
    try (FillKernel fill = new FillKernel(session.device());
        CBaseline c = new CBaseline(fill.target())) {
      for (Contender contender : contenders(fill)) {
        String who = contender.name();
        if (session.has(NAME, GET_CURRENT, who) && session.has(NAME, LAUNCH, who)) {
          continue;
        }
        if (session.allowance().isUsedUp()) {
          break;
        }
        try (contender) {
          contender.open(fill.target());
          pairs.measure(GET_CURRENT, who, getCurrentCalls, c::getCurrent, contender::getCurrent);
          requireSameWork(fill, "C", c::launch);
          requireSameWork(fill, who, contender::launch);
          pairs.measure(LAUNCH, who, launches, c::launch, contender::launch);
        } catch (IOException e) {
          throw e;
        } catch (Exception | LinkageError e) {
          // A peer that does not run here is no reason to lose the rest.
          session.failed(NAME, LAUNCH, who, "ns", Session.reason(e));
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
}

package dev.culebra.benchmarks.kernels;

import dev.culebra.ComputeCapability;
import dev.culebra.Context;
import dev.culebra.Stream;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.statistics.Samples;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;

/** What the device can do at most, measured in the same run as what is held against it. */
public final class CeilingSection implements Section {
  @Override
  public String name() {
    return Ceilings.SECTION;
  }

  @Override
  public double usualSeconds(Scale scale, boolean isEmulated) {
    return isEmulated ? 2 : scale.pick(2, 4, 8);
  }

  /** Makes one ready. */
  @FunctionalInterface
  private interface Opener {
    Ceiling open(Context context, Stream stream);
  }

  @Override
  public void measure(Session session) throws IOException {
    Extent extent = Extent.of(session);
    try (Context context = Context.primary(session.device());
        Stream stream = context.newStream()) {
      long most = context.memoryInfo().freeBytes() / 4 / Float.BYTES;
      long elements = extent == Extent.TINY ? 100_000 : Math.min(1L << 29, most / 1024 * 1024);
      Map<String, Opener> ceilings = new LinkedHashMap<>();
      ceilings.put(Ceilings.COPY, (c, s) -> MemoryCeilings.driverCopy(c, s, elements));
      ceilings.put(Ceilings.COPY_KERNEL, (c, s) -> MemoryCeilings.kernelCopy(c, s, elements));
      ceilings.put(Ceilings.READ, (c, s) -> MemoryCeilings.read(c, s, elements));
      ceilings.put(Ceilings.MMA, (c, s) -> MathCeilings.mma(c, s, extent));
      ceilings.put(Ceilings.EX2, (c, s) -> MathCeilings.ex2(c, s, extent));
      if (hasWgmma(session)) {
        ceilings.put(Ceilings.WGMMA, (c, s) -> MathCeilings.wgmma(c, s, extent));
      }
      for (Map.Entry<String, Opener> each : ceilings.entrySet()) {
        if (session.has(Ceilings.SECTION, each.getKey(), Ceilings.WHO)) {
          continue;
        }
        if (session.allowance().isUsedUp()) {
          break;
        }
        try (Ceiling ceiling = each.getValue().open(context, stream)) {
          measure(session, context, stream, ceiling);
        } catch (RuntimeException e) {
          if (context.isPoisoned()) {
            throw e;
          }
          session.failed(Ceilings.SECTION, each.getKey(), Ceilings.WHO, "us", Session.reason(e));
        }
      }
      context.trimMemory();
    }
  }

  /** Of Hopper's server chips alone: sm_90a. */
  private static boolean hasWgmma(Session session) {
    ComputeCapability capability = session.device().computeCapability();
    return !session.isEmulated() && capability.major() == 9 && capability.minor() == 0;
  }

  private static void measure(Session session, Context context, Stream stream, Ceiling ceiling)
      throws IOException {
    EventTimer timer = new EventTimer(context, stream);
    int samples = Extent.turns(session);
    ceiling.poison();
    int repeats = session.isEmulated() ? 1 : timer.repeats(ceiling::launch);
    double[] micros = timer.microseconds(samples, repeats, ceiling::launch);
    long checked = ceiling.check();
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("kernel", ceiling.kernel());
    details.put("bytes", ceiling.bytes());
    details.put("flops", ceiling.flops());
    details.put("repeats", repeats);
    details.put("checked_elements", checked);
    Result result =
        Result.of(
            new Result.Key(Ceilings.SECTION, ceiling.name(), Ceilings.WHO), "us", micros, details);
    session.results().put(result);
    double seconds = Samples.median(micros) * 1e-6;
    System.out.printf(
        "%-28s %12.1f us  %s%s%n",
        ceiling.name(),
        seconds * 1e6,
        ceiling.flops() > 0
            ? "%.2f T operations/s".formatted(ceiling.flops() / seconds / 1e12)
            : "%.0f GB/s".formatted(ceiling.bytes() / seconds / 1e9),
        result.isNoisy() ? "  NOISY" : "");
  }
}

package dev.culebra.benchmarks.kernels;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.Session;
import java.util.Optional;

/** The ceilings that this run measured, to hold results against. */
final class Ceilings {
  static final String SECTION = "ceilings";
  static final String WHO = "device";
  static final String COPY = "copy by the driver";
  static final String COPY_KERNEL = "copy by a kernel";
  static final String READ = "read";
  static final String MMA = "mma.sync bf16";
  static final String WGMMA = "wgmma bf16";
  static final String EX2 = "ex2";

  /** Clocks move, and a measurement is not exact. */
  private static final double MARGIN = 1.1;

  private final Session session;

  Ceilings(Session session) {
    this.session = session;
  }

  /** Bytes a second, if the ceiling was measured. */
  Optional<Double> bytesPerSecond(String name) {
    return session
        .results()
        .find(new Result.Key(SECTION, name, WHO))
        .filter(result -> result.failure().isEmpty())
        .flatMap(result -> result.number("bytes").map(bytes -> bytes / result.seconds()));
  }

  /** Why a time cannot be true, if it cannot. */
  Optional<String> impossible(Problem problem, double seconds) {
    double rate = problem.bytes() / seconds;
    double best = Math.max(bytesPerSecond(READ).orElse(0.0), bytesPerSecond(COPY).orElse(0.0));
    return best > 0 && rate > MARGIN * best
        ? Optional.of(
            "%.0f GB/s is above what the device moves at most, %.0f"
                .formatted(rate / 1e9, best / 1e9))
        : Optional.empty();
  }
}

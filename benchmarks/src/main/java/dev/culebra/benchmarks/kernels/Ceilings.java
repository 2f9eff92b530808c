package dev.culebra.benchmarks.kernels;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.Session;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
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

  /** The most that these measured of a detail a second; 0 if none of them was measured. */
  private double best(String detail, String... names) {
    return Arrays.stream(names)
        .flatMap(name -> session.results().find(new Result.Key(SECTION, name, WHO)).stream())
        .filter(result -> result.failure().isEmpty())
        .mapToDouble(result -> result.number(detail).orElse(0.0) / result.seconds())
        .max()
        .orElse(0);
  }

  /** What cannot be found out, as its ceilings were not measured; nothing if all can. */
  Optional<String> unchecked() {
    List<String> missing = new ArrayList<>();
    if (best("bytes", READ, COPY) == 0) {
      missing.add("GB/s");
    }
    if (best("flops", MMA, WGMMA) == 0) {
      missing.add("TFLOP/s");
    }
    return missing.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "no ceiling of %s was measured: a time that cannot be true is not noticed; measure the section %s too"
                .formatted(String.join(" and ", missing), SECTION));
  }

  /** The result, or in its place a failure with the reason why its time cannot be true. */
  Result judge(Problem problem, Result result) {
    return impossible(problem, result.seconds())
        .map(
            reason ->
                Result.failed(result.key(), result.unit(), "the time cannot be true: " + reason))
        .orElse(result);
  }

  /** Why a time cannot be true, if it cannot. */
  Optional<String> impossible(Problem problem, double seconds) {
    double bytes = problem.bytes() / seconds;
    double mostBytes = best("bytes", READ, COPY);
    if (mostBytes > 0 && bytes > MARGIN * mostBytes) {
      return Optional.of(
          "%.0f GB/s is above what the device moves at most, %.0f"
              .formatted(bytes / 1e9, mostBytes / 1e9));
    }
    double flops = problem.flops() / seconds;
    double mostFlops = best("flops", MMA, WGMMA);
    return mostFlops > 0 && flops > MARGIN * mostFlops
        ? Optional.of(
            "%.1f TFLOP/s is above what the device computes at most, %.1f"
                .formatted(flops / 1e12, mostFlops / 1e12))
        : Optional.empty();
  }
}

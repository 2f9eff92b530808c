package dev.culebra.benchmarks.compare;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.benchmarks.statistics.RatioInterval;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Two files of results, result by result. */
final class Comparison {
  /**
   * One result in both files.
   *
   * @param ratio of new to old times, if both have times
   */
  record Line(Result.Key key, Verdict verdict, @Nullable Interval ratio, String note) {}

  /** Sections of times on the device. */
  private static final Set<String> KERNELS = Set.of("ceilings", "kernels");

  /** Below this a kernel takes about as long as its launch, in seconds. */
  static final double LAUNCH_BOUND = 10e-6;

  /** Launches of the same code differ by this much from one run to the next. */
  static final double LAUNCH_TOLERANCE = 0.25;

  private final List<Line> lines = new ArrayList<>();

  /**
   * Compares.
   *
   * @param tolerance how much slower is not called slower, such as 0.05; of kernels that are bound
   *     by their launch at least {@link #LAUNCH_TOLERANCE}
   */
  Comparison(Results before, Results after, double tolerance) {
    boolean isEmulated = before.isEmulated() || after.isEmulated();
    Map<Result.Key, Result> left = new LinkedHashMap<>();
    after.all().forEach(result -> left.put(result.key(), result));
    for (Result old : before.all()) {
      Line line = line(old, Optional.ofNullable(left.remove(old.key())), tolerance);
      boolean isMeaningless =
          isEmulated && line.ratio != null && KERNELS.contains(old.key().section());
      lines.add(isMeaningless ? new Line(old.key(), Verdict.UNJUDGED, null, "") : line);
    }
    left.values().stream()
        .filter(Comparison::hasTime)
        .forEach(result -> lines.add(new Line(result.key(), Verdict.NEW, null, "")));
  }

  private static Line line(Result before, Optional<Result> found, double tolerance) {
    Result.Key key = before.key();
    if (!hasTime(before)) {
      boolean runsNow = found.filter(Comparison::hasTime).isPresent();
      return new Line(key, runsNow ? Verdict.NEW : Verdict.STILL_FAILED, null, "");
    }
    if (found.isEmpty()) {
      return new Line(key, Verdict.LOST, null, "not there any more");
    }
    Result after = found.get();
    if (after.failure().isPresent()) {
      return new Line(key, Verdict.LOST, null, after.failure().get());
    }
    if (after.text("implausible").isPresent()) {
      return new Line(key, Verdict.LOST, null, after.text("implausible").get());
    }
    if (!before.unit().equals(after.unit())) {
      return new Line(
          key, Verdict.LOST, null, "measured in " + after.unit() + ", before in " + before.unit());
    }
    Interval ratio = ratio(before, after);
    boolean isWidened = isLaunchBound(before) && tolerance < LAUNCH_TOLERANCE;
    return isWidened
        ? new Line(
            key,
            judge(ratio, LAUNCH_TOLERANCE),
            ratio,
            "as long as a launch, so by a tolerance of %.0f %%".formatted(LAUNCH_TOLERANCE * 100))
        : new Line(key, judge(ratio, tolerance), ratio, "");
  }

  private static boolean isLaunchBound(Result result) {
    return result.key().section().equals("kernels") && result.seconds() < LAUNCH_BOUND;
  }

  /** Earlier files keep a time that cannot be true, and say so. */
  private static boolean hasTime(Result result) {
    return result.failure().isEmpty() && result.text("implausible").isEmpty();
  }

  /** Of pairs the ratio to C is compared: what a machine did in the meantime cancels there. */
  private static Interval ratio(Result before, Result after) {
    boolean pairs = before.baseline().length > 0 && after.baseline().length > 0;
    return pairs
        ? RatioInterval.ofRuns(
            RatioInterval.ratios(before.baseline(), before.samples()),
            RatioInterval.ratios(after.baseline(), after.samples()))
        : RatioInterval.ofRuns(before.samples(), after.samples());
  }

  private static Verdict judge(Interval ratio, double tolerance) {
    if (ratio.low() > 1 + tolerance) {
      return Verdict.SLOWER;
    }
    if (ratio.high() < 1 / (1 + tolerance)) {
      return Verdict.FASTER;
    }
    return ratio.low() >= 1 / (1 + tolerance) && ratio.high() <= 1 + tolerance
        ? Verdict.SAME
        : Verdict.UNDECIDED;
  }

  List<Line> lines() {
    return lines;
  }

  /** Those of a verdict that are about us. */
  List<Line> ours(Verdict verdict) {
    return lines.stream().filter(line -> line.verdict() == verdict && line.key().isOurs()).toList();
  }

  /** Whether anything of ours has a time in both files: else nothing was compared. */
  boolean hasOurs() {
    return lines.stream().anyMatch(line -> line.key().isOurs() && line.ratio() != null);
  }

  /**
   * 1 if something of ours is slower, else 3 if something was lost, else 4 if something is
   * undecided.
   */
  int status() {
    if (!ours(Verdict.SLOWER).isEmpty()) {
      return 1;
    }
    if (!ours(Verdict.LOST).isEmpty()) {
      return 3;
    }
    return ours(Verdict.UNDECIDED).isEmpty() ? 0 : 4;
  }
}

package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.benchmarks.statistics.RatioInterval;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One operation at several lengths, or with several K, by everybody who was measured: what is drawn
 * over the length, or over K.
 *
 * @param title operation, type and what else is the same in all of it
 * @param axis the detail of the results that differs: {@link #LENGTH} or {@link #K}
 * @param results in the order they were measured
 */
record Sweep(String title, String axis, List<Result> results) {
  static final String LENGTH = "length";
  static final String K = "k";

  /** Fewer values of the axis than this are no line. */
  private static final int LEAST = 3;

  /** Every sweep that a file holds: those over the length, then those over K. */
  static List<Sweep> of(Results file) {
    Map<String, Sweep> sweeps = new LinkedHashMap<>();
    for (String axis : List.of(LENGTH, K)) {
      for (Result result : file.of("kernels")) {
        if (result.failure().isEmpty() && result.number(axis).isPresent()) {
          String title = title(result, axis);
          sweeps
              .computeIfAbsent(title, name -> new Sweep(name, axis, new ArrayList<>()))
              .results
              .add(result);
        }
      }
    }
    return sweeps.values().stream()
        .filter(sweep -> sweep.contenders().values().stream().anyMatch(all -> all.size() >= LEAST))
        .toList();
  }

  private static String title(Result result, String axis) {
    if (axis.equals(LENGTH) && result.text("sweep").isPresent()) {
      return result.text("sweep").get();
    }
    double rows = result.number("rows").orElse(1.0);
    String shape = rows == 1 ? "all elements" : "%.0f rows".formatted(rows);
    return "%s, %s, %s%s"
        .formatted(
            result.text("operation").orElse(""),
            result.text("type").orElse(""),
            shape,
            axis.equals(K)
                ? " of " + Format.count(result.number(LENGTH).orElse(1.0)) + ", over K"
                : result.number(K).map(k -> ", K = " + Format.count(k)).orElse(""));
  }

  /** Where a result is on the axis. */
  double x(Result result) {
    return result.number(axis).orElse(1.0);
  }

  /** Results by who. */
  Map<String, List<Result>> contenders() {
    Map<String, List<Result>> all = new LinkedHashMap<>();
    results.forEach(
        result -> all.computeIfAbsent(result.key().who(), who -> new ArrayList<>()).add(result));
    return all;
  }

  /** The places on the axis that there are, ascending. */
  List<Double> xs() {
    return results.stream().map(this::x).distinct().sorted().toList();
  }

  /** The same at some places alone. */
  Sweep where(List<Double> places) {
    return new Sweep(
        title, axis, results.stream().filter(result -> places.contains(x(result))).toList());
  }

  /** A contender's result at a place. */
  Optional<Result> find(double x, String who) {
    return results.stream()
        .filter(result -> x(result) == x && result.key().who().equals(who))
        .findFirst();
  }

  /** How many times as fast as another a contender is at a place, if both were measured there. */
  Optional<Interval> speed(double x, String who, String than) {
    if (who.equals(than)) {
      return find(x, who).map(found -> new Interval(1, 1, 1));
    }
    return find(x, than)
        .flatMap(
            slow ->
                find(x, who)
                    .map(
                        fast ->
                            slow.ratioTo(fast)
                                .orElseGet(
                                    () -> RatioInterval.ofRuns(fast.samples(), slow.samples()))));
  }

  /** A detail that is the same in all of it. */
  Optional<Double> first(String detail) {
    return results.getFirst().number(detail);
  }

  /** The same as text. */
  String text(String detail) {
    return results.getFirst().text(detail).orElse("");
  }

  double rows() {
    return first("rows").orElse(1.0);
  }
}

package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * One operation at several lengths, by everybody who was measured: what is drawn over the length.
 *
 * @param title operation, type and what else is the same in all of it
 * @param results in the order they were measured
 */
record Sweep(String title, List<Result> results) {
  /** Fewer lengths than this are no line. */
  private static final int LEAST_LENGTHS = 3;

  /** Every sweep that a file holds. */
  static List<Sweep> of(Results file) {
    Map<String, List<Result>> groups = new LinkedHashMap<>();
    for (Result result : file.of("kernels")) {
      if (result.failure().isEmpty() && result.number("length").isPresent()) {
        groups.computeIfAbsent(title(result), name -> new ArrayList<>()).add(result);
      }
    }
    List<Sweep> sweeps = new ArrayList<>();
    groups.forEach(
        (title, results) -> {
          Sweep sweep = new Sweep(title, results);
          boolean isSweep =
              sweep.contenders().values().stream().anyMatch(all -> all.size() >= LEAST_LENGTHS);
          if (isSweep) {
            sweeps.add(sweep);
          }
        });
    return sweeps;
  }

  private static String title(Result result) {
    if (result.text("sweep").isPresent()) {
      return result.text("sweep").get();
    }
    double rows = result.number("rows").orElse(1.0);
    return "%s, %s, %s%s"
        .formatted(
            result.text("operation").orElse(""),
            result.text("type").orElse(""),
            rows == 1 ? "all elements" : "%.0f rows".formatted(rows),
            result.number("k").map(k -> ", K = " + Format.count(k)).orElse(""));
  }

  static double length(Result result) {
    return result.number("length").orElse(1.0);
  }

  /** Results by who. */
  Map<String, List<Result>> contenders() {
    Map<String, List<Result>> all = new LinkedHashMap<>();
    results.forEach(
        result -> all.computeIfAbsent(result.key().who(), who -> new ArrayList<>()).add(result));
    return all;
  }

  /** The lengths there are, ascending. */
  List<Double> lengths() {
    Set<Double> lengths = new LinkedHashSet<>();
    results.stream().map(Sweep::length).sorted().forEach(lengths::add);
    return List.copyOf(lengths);
  }
}

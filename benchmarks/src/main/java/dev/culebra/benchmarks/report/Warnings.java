package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Spin;
import java.util.ArrayList;
import java.util.List;

/** What a reader has to know before the first figure. */
final class Warnings {
  private Warnings() {}

  static List<String> of(Results results) {
    List<String> warnings = new ArrayList<>();
    if (results.scale().equals("smoke")) {
      warnings.add("Tiny sizes, to see that the benchmarks work: no figure counts.");
    }
    if (results.isEmulated()) {
      warnings.add(
          "No GPU: the driver is the emulator. What calls cost in Java and in C is real; times of"
              + " kernels mean nothing and are left out.");
    }
    if (!results.isComplete()) {
      List<String> cut = results.unfinished();
      warnings.add(
          "The run was cut short"
              + (cut.isEmpty() ? "" : " in " + String.join(", ", cut))
              + ": what is not here was not measured.");
    }
    double[] spins = spins(results);
    if (spins.length > 0 && Spin.isNoisy(spins)) {
      warnings.add(
          "The machine was noisy: the slowest tenth of a fixed loop took %.2f of its median. Read the intervals."
              .formatted(Spin.tail(spins)));
    }
    List<Result> noisy = results.all().stream().filter(Result::isNoisy).toList();
    if (!noisy.isEmpty()) {
      warnings.add(
          "%d of %d results are noisy: their 95 %% interval is wider than 10 %% of the median."
              .formatted(noisy.size(), results.all().size()));
    }
    results.all().stream()
        .filter(result -> result.text("implausible").isPresent())
        .forEach(
            result ->
                warnings.add(result.key() + ": " + result.text("implausible").orElse("") + "."));
    return warnings;
  }

  private static double[] spins(Results results) {
    return results.runs().stream()
        .map(run -> run.get("spin_ns"))
        .filter(List.class::isInstance)
        .flatMap(list -> ((List<?>) list).stream())
        .filter(Number.class::isInstance)
        .mapToDouble(number -> ((Number) number).doubleValue())
        .toArray();
  }

  /** The names by which files are told apart. */
  static String name(Results results) {
    String device = results.isEmulated() ? "CPU, on the emulator" : results.about("device", "name");
    String commit = results.about("commit");
    return device
        + ", "
        + results.about("date").replaceFirst("T.*", "")
        + (commit.isEmpty() ? "" : ", commit " + commit.substring(0, Math.min(7, commit.length())))
        + (commit.endsWith("-dirty") ? " with changes" : "");
  }
}

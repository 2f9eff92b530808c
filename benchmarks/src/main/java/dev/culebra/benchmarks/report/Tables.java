package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.benchmarks.statistics.Samples;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The tables of one file of results. */
final class Tables {
  private static final String NOISY = " (noisy)";

  private final Results results;

  Tables(Results results) {
    this.results = results;
  }

  List<Table> all() {
    List<Table> tables = new ArrayList<>();
    tables.add(machine());
    pairs().ifPresent(tables::add);
    ceilings().ifPresent(tables::add);
    kernels().forEach(tables::add);
    launchTables().forEach(tables::add);
    times(
            "calls",
            "What a call costs",
            "The callee does nothing. C is the same loop with the same arguments, in the same run.")
        .ifPresent(tables::add);
    times("driver", "What the driver's functions cost", driverNote()).ifPresent(tables::add);
    times("threads", "By several threads at once", "A time is that of one operation of one thread.")
        .ifPresent(tables::add);
    times("collectors", "Under each garbage collector", "").ifPresent(tables::add);
    times(
            "start",
            "From the start of a process to its end",
            "Without a file cache that was dropped: the files are warm.")
        .ifPresent(tables::add);
    failures().ifPresent(tables::add);
    return tables;
  }

  private String driverNote() {
    return results.isEmulated()
        ? "The driver is the emulator: what it takes itself says nothing; the difference to C does."
        : "";
  }

  private Table machine() {
    Table table = Table.of("Machine", "", "what", "value");
    table.add("device", results.about("device", "name"));
    table.add("driver (CUDA)", results.about("driver", "version"));
    table.add(
        "processor",
        results.about("machine", "cpu") + ", " + results.about("machine", "cores") + " cores");
    table.add("system", results.about("machine", "os"));
    table.add("JDK", results.about("machine", "jdk"));
    table.add("commit", results.about("commit"));
    table.add("date", results.about("date"));
    table.add("scale", results.scale() + (results.isComplete() ? "" : ", cut short"));
    clocks().ifPresent(clocks -> table.add("clocks", clocks));
    return table;
  }

  private Optional<String> clocks() {
    Set<String> seen = new LinkedHashSet<>();
    for (Map<String, ?> run : results.runs()) {
      if (run.get("clocks") instanceof List<?> list) {
        list.forEach(
            entry -> {
              if (entry instanceof Map<?, ?> clocks) {
                seen.add(clocks.get("clocks.sm") + " SM, " + clocks.get("clocks.mem") + " memory");
              }
            });
      }
    }
    return seen.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", seen));
  }

  private Optional<Table> pairs() {
    Table table =
        Table.of(
            "Beside the same loop in C",
            "Interleaved pairs in one process; the ratio is taken within each pair, with its 95 % interval.",
            "call",
            "who",
            "time",
            "C",
            "ratio",
            "interval",
            "bytes a call");
    for (Result result : measured("pairs")) {
      Interval ratio = result.ratio();
      table.add(
          result.key().problem(),
          result.key().who(),
          Format.time(result.seconds()),
          Format.time(Samples.median(result.baseline()) * Result.secondsOf(result.unit())),
          Format.ratio(ratio.median()),
          Format.ratio(ratio.low())
              + " to "
              + Format.ratio(ratio.high())
              + (result.isNoisy() ? NOISY : ""),
          Format.number(result.number("allocated_bytes").orElse(0.0)));
    }
    return nonEmpty(table);
  }

  private Optional<Table> ceilings() {
    if (results.isEmulated()) {
      return Optional.empty();
    }
    Table table =
        Table.of(
            "Ceilings", "What the device did at most, in the same run.", "what", "rate", "time");
    for (Result result : measured("ceilings")) {
      double flops = result.number("flops").orElse(0.0);
      double bytes = result.number("bytes").orElse(0.0);
      table.add(
          result.key().problem(),
          flops > 0
              ? Format.number(flops / result.seconds() / 1e12) + " T operations/s"
              : Format.rate(bytes / result.seconds()),
          Format.time(result.seconds()));
    }
    return nonEmpty(table);
  }

  /** One table an operation. */
  private List<Table> kernels() {
    if (results.isEmulated()) {
      return List.of();
    }
    Map<String, Table> tables = new LinkedHashMap<>();
    for (Result result : measured("kernels")) {
      Table table =
          tables.computeIfAbsent(
              result.text("operation").orElse(""),
              operation ->
                  Table.of(
                      "Kernels: " + operation,
                      "Bytes are those that have to be moved at least. The ceiling is the one that bounds the operation, measured in the same run.",
                      "problem",
                      "who",
                      "time",
                      "interval",
                      "rate",
                      "of the ceiling",
                      "of torch's time",
                      "error / allowed"));
      Work work = Work.of(results, result);
      Interval interval = result.interval();
      double unit = Result.secondsOf(result.unit());
      table.add(
          result.key().problem(),
          result.key().who(),
          Format.time(result.seconds()),
          Format.time(interval.low() * unit)
              + " to "
              + Format.time(interval.high() * unit)
              + (result.isNoisy() ? NOISY : ""),
          work.words(result) + (result.text("implausible").isPresent() ? " (implausible)" : ""),
          work.most().map(most -> Format.percent(work.rate(result) / most)).orElse(""),
          ofTorch(result),
          error(result));
    }
    return List.copyOf(tables.values());
  }

  /** One table a family. */
  private List<Table> launchTables() {
    if (results.isEmulated()) {
      return List.of();
    }
    Map<String, Table> tables = new LinkedHashMap<>();
    for (Result result : measured("tables")) {
      String family = result.text("table").orElse("");
      Table table =
          tables.computeIfAbsent(
              family,
              name ->
                  Table.of(
                      "Launch table: " + name,
                      "Rows of the table at a shape inside them, a plan at both of its ends; the first is"
                          + " the one that the shape is for.",
                      "row",
                      "problem",
                      "time",
                      "rate",
                      "of the ceiling"));
      Work work = Work.of(results, result);
      table.add(
          result.text("table_rows").orElse("").replaceAll("[\\[\\]]|CULEBRA_", ""),
          result.key().problem().replaceFirst("^" + family + ": ", ""),
          Format.time(result.seconds()) + (result.isNoisy() ? NOISY : ""),
          work.words(result),
          work.most().map(most -> Format.percent(work.rate(result) / most)).orElse(""));
    }
    return List.copyOf(tables.values());
  }

  /** Our time as a part of torch's, where the two took turns. */
  private String ofTorch(Result result) {
    if (!result.key().who().startsWith("Culebra")) {
      return "";
    }
    return measured("kernels").stream()
        .filter(other -> other.key().who().startsWith("torch"))
        .flatMap(other -> result.ratioTo(other).stream())
        .findFirst()
        .map(Format::ratio)
        .orElse("");
  }

  private static String error(Result result) {
    Optional<Double> allowed = result.number("allowed_error");
    return result
        .number("error")
        .map(
            error ->
                "%.1e".formatted(error)
                    + allowed
                        .map(most -> most == 0 ? " / 0" : " / %.1e".formatted(most))
                        .orElse(""))
        .orElse("");
  }

  private Optional<Table> times(String section, String title, String note) {
    Table table =
        Table.of(title, note, "what", "who", "time", "interval", "of C", "bytes an operation");
    for (Result result : measured(section)) {
      Interval interval = result.interval();
      double unit = Result.secondsOf(result.unit());
      table.add(
          result.key().problem(),
          result.key().who(),
          Format.time(result.seconds()),
          Format.time(interval.low() * unit)
              + " to "
              + Format.time(interval.high() * unit)
              + (result.isNoisy() ? NOISY : ""),
          results
              .find(new Result.Key(section, result.key().problem(), "C"))
              .filter(c -> c.failure().isEmpty() && !c.key().equals(result.key()))
              .map(c -> Format.number(result.seconds() / c.seconds()))
              .orElse(""),
          result.number("allocated_bytes").map(Format::number).orElse(""));
    }
    return nonEmpty(table);
  }

  private Optional<Table> failures() {
    Table table = Table.of("Not measured", "", "what", "who", "reason");
    for (Result result : results.all()) {
      result
          .failure()
          .ifPresent(reason -> table.add(result.key().problem(), result.key().who(), reason));
    }
    return nonEmpty(table);
  }

  private List<Result> measured(String section) {
    return results.of(section).stream().filter(result -> result.failure().isEmpty()).toList();
  }

  private static Optional<Table> nonEmpty(Table table) {
    return table.rows().isEmpty() ? Optional.empty() : Optional.of(table);
  }
}

package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The figures of one file of results. */
final class Figures {
  private static final double GIGA = 1e9;

  private final Results results;
  private final Colours colours = new Colours();

  Figures(Results results) {
    this.results = results;
  }

  /** What calls cost: a small figure for each kind of call. */
  List<Figure> calls(String section) {
    Map<String, List<Result>> problems = new LinkedHashMap<>();
    measured(section)
        .forEach(
            result ->
                problems
                    .computeIfAbsent(result.key().problem(), name -> new ArrayList<>())
                    .add(result));
    List<Figure> figures = new ArrayList<>();
    problems.forEach((problem, all) -> figures.add(bars(problem, all)));
    return figures;
  }

  private static Figure bars(String problem, List<Result> all) {
    List<BarChart.Bar> bars = new ArrayList<>();
    for (Result result : all) {
      String who = result.key().who();
      String allocated =
          result
              .number("allocated_bytes")
              .filter(bytes -> bytes >= 1)
              .map(bytes -> ", " + Format.number(bytes) + " B")
              .orElse("");
      boolean isC = who.equals("C") || who.endsWith(" C");
      bars.add(
          new BarChart.Bar(
              who,
              result.interval(),
              Format.time(result.seconds()) + allocated,
              isC ? "base" : "s1"));
    }
    return new Figure(problem, "", BarChart.draw(problem, bars), List.of());
  }

  /** Ratios to C of contenders, a figure for each call. */
  List<Figure> pairs() {
    Map<String, List<BarChart.Bar>> calls = new LinkedHashMap<>();
    for (Result result : measured("pairs")) {
      Interval ratio = result.ratio();
      calls
          .computeIfAbsent(result.key().problem(), name -> new ArrayList<>())
          .add(
              new BarChart.Bar(
                  result.key().who(),
                  ratio,
                  Format.ratio(ratio.median()) + " of C, " + Format.time(result.seconds()),
                  result.key().who().startsWith("Culebra") ? "s1" : "peer"));
    }
    List<Figure> figures = new ArrayList<>();
    calls.forEach(
        (call, bars) -> {
          bars.add(new BarChart.Bar("C", new Interval(1, 1, 1), "1", "base"));
          figures.add(
              new Figure(
                  call, "Ratio to the same loop in C.", BarChart.draw(call, bars), List.of()));
        });
    return figures;
  }

  /** The time of an operation over the number of threads. */
  List<Figure> threads() {
    Map<String, Map<String, List<LineChart.Point>>> calls = new LinkedHashMap<>();
    for (Result result : measured("threads")) {
      Interval interval = result.interval();
      String kind = result.key().who().contains("virtual") ? "virtual threads" : "platform threads";
      calls
          .computeIfAbsent(result.key().problem(), name -> new LinkedHashMap<>())
          .computeIfAbsent(kind, name -> new ArrayList<>())
          .add(
              new LineChart.Point(
                  result.number("threads").orElse(1.0),
                  interval.median(),
                  interval.low(),
                  interval.high()));
    }
    List<Figure> figures = new ArrayList<>();
    calls.forEach(
        (call, kinds) ->
            figures.add(
                lines(
                    call, "Of one operation of one thread.", "threads", "ns an operation", kinds)));
    return figures;
  }

  private Figure lines(
      String title,
      String caption,
      String xLabel,
      String yLabel,
      Map<String, List<LineChart.Point>> all) {
    List<LineChart.Series> series = new ArrayList<>();
    List<Figure.Key> legend = new ArrayList<>();
    all.forEach(
        (label, points) -> {
          series.add(new LineChart.Series(label, colours.of(label), points));
          legend.add(new Figure.Key(colours.of(label), label));
        });
    return new Figure(title, caption, LineChart.draw(title, xLabel, yLabel, series), legend);
  }

  /**
   * Bytes a second over the length of a row, for each operation, type and number of rows that was
   * measured at three lengths or more: the two figures of the online softmax paper among them.
   */
  List<Figure> rates() {
    if (results.isEmulated()) {
      return List.of();
    }
    Map<String, Map<String, List<LineChart.Point>>> groups = new LinkedHashMap<>();
    for (Result result : measured("kernels")) {
      double rows = result.number("rows").orElse(1.0);
      String group =
          "%s, %s, %s"
              .formatted(
                  result.text("operation").orElse(""),
                  result.text("type").orElse(""),
                  rows == 1 ? "all elements" : Format.count(rows) + " rows");
      double bytes = result.number("bytes").orElse(0.0) / GIGA;
      double unit = Result.secondsOf(result.unit());
      Interval interval = result.interval();
      groups
          .computeIfAbsent(group, name -> new LinkedHashMap<>())
          .computeIfAbsent(result.key().who(), name -> new ArrayList<>())
          .add(
              new LineChart.Point(
                  result.number("length").orElse(1.0),
                  bytes / (interval.median() * unit),
                  bytes / (interval.high() * unit),
                  bytes / (interval.low() * unit)));
    }
    List<Figure> figures = new ArrayList<>();
    groups.forEach(
        (group, all) -> {
          if (all.values().stream().anyMatch(points -> points.size() >= 3)) {
            figures.add(lines(group, "", "length of a row", "GB/s", all));
          }
        });
    return figures;
  }

  /** Our best and torch's for each problem, below the roofs. */
  Optional<Figure> roofline() {
    Optional<Result> memory =
        results
            .find(new Result.Key("ceilings", "read", "device"))
            .filter(found -> found.failure().isEmpty());
    if (results.isEmulated() || memory.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Double> roofs = new LinkedHashMap<>();
    for (Result result : measured("ceilings")) {
      double flops = result.number("flops").orElse(0.0);
      if (flops > 0) {
        roofs.put(result.key().problem(), flops / result.seconds());
      }
    }
    Map<String, Roofline.Point> best = new LinkedHashMap<>();
    for (Result result : measured("kernels")) {
      String who = result.key().who();
      double flops = result.number("flops").orElse(0.0);
      double bytes = result.number("bytes").orElse(0.0);
      if (who.equals("device copy") || flops == 0 || bytes == 0) {
        continue;
      }
      boolean ours = who.startsWith("Culebra");
      Roofline.Point point =
          new Roofline.Point(
              result.key()
                  + ": "
                  + Format.number(flops / result.seconds() / 1e12)
                  + " T operations/s",
              flops / bytes,
              flops / result.seconds(),
              ours ? "s1" : "peer");
      best.merge(
          result.key().problem() + (ours ? "" : who),
          point,
          (a, b) -> a.flopsPerSecond() >= b.flopsPerSecond() ? a : b);
    }
    if (best.isEmpty()) {
      return Optional.empty();
    }
    double bytesPerSecond = memory.get().number("bytes").orElse(0.0) / memory.get().seconds();
    return Optional.of(
        new Figure(
            "Roofline",
            "Each dot is a problem; its name shows when it is pointed at. The slope is reading, the levels are arithmetic, all measured in the same run.",
            Roofline.draw("Roofline", bytesPerSecond, roofs, List.copyOf(best.values())),
            List.of(new Figure.Key("s1", "Culebra, its best"), new Figure.Key("peer", "torch"))));
  }

  private List<Result> measured(String section) {
    return results.of(section).stream().filter(result -> result.failure().isEmpty()).toList();
  }
}

package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.benchmarks.statistics.RatioInterval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** The figures of one file of results. */
final class Figures {
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
                    call,
                    "Of one operation of one thread.",
                    "threads",
                    "ns an operation",
                    kinds,
                    Optional.empty())));
    return figures;
  }

  private Figure lines(
      String title,
      String caption,
      String xLabel,
      String yLabel,
      Map<String, List<LineChart.Point>> all,
      Optional<LineChart.Level> roof) {
    List<LineChart.Series> series = new ArrayList<>();
    List<Figure.Key> legend = new ArrayList<>();
    all.forEach(
        (label, points) -> {
          series.add(new LineChart.Series(label, colours.of(label), points));
          legend.add(new Figure.Key(colours.of(label), label));
        });
    return new Figure(title, caption, LineChart.draw(title, xLabel, yLabel, series, roof), legend);
  }

  /**
   * How much is done a second over the length: bytes, or operations where arithmetic is what bounds
   * a problem; beside the peers, and below the roof, if the same run measured it.
   */
  List<Figure> rates() {
    if (results.isEmulated()) {
      return List.of();
    }
    List<Figure> figures = new ArrayList<>();
    for (Sweep sweep : Sweep.of(results)) {
      Work work = Work.of(results, sweep.results().getFirst());
      Map<String, List<LineChart.Point>> lines = new LinkedHashMap<>();
      sweep
          .contenders()
          .forEach(
              (who, all) ->
                  lines.put(
                      who,
                      all.stream()
                          .map(result -> rate(result, work))
                          .filter(point -> point.low() > 0) // a height, if it is a logarithm
                          .toList()));
      lines.values().removeIf(List::isEmpty);
      if (lines.isEmpty()) {
        continue; // nobody said how much work it is
      }
      Optional<LineChart.Level> roof =
          work.ceiling().map(found -> new LineChart.Level(found.key().problem(), work.rate(found)));
      figures.add(lines(sweep.title(), "", "length", work.unit(), lines, roof));
    }
    return figures;
  }

  private static LineChart.Point rate(Result result, Work work) {
    Interval seconds = result.interval().times(Result.secondsOf(result.unit()));
    return new LineChart.Point(
        Sweep.length(result),
        work.rate(result, seconds.median()),
        work.rate(result, seconds.high()),
        work.rate(result, seconds.low()));
  }

  /**
   * The figures of the online softmax paper: for each length, how many times as fast as the safe
   * form (of softmax with top-k, the safe form that is not fused) the others are.
   */
  List<Figure> againstSafe() {
    if (results.isEmulated()) {
      return List.of();
    }
    List<Figure> figures = new ArrayList<>();
    for (Sweep sweep : Sweep.of(results)) {
      Map<String, List<Result>> contenders = sweep.contenders();
      contenders.remove("device copy");
      Optional<String> safe = safe(contenders.keySet());
      if (safe.isPresent() && contenders.size() > 1) {
        figures.add(against(sweep, List.copyOf(contenders.keySet()), safe.get()));
      }
    }
    return figures;
  }

  private static Optional<String> safe(Set<String> contenders) {
    Comparator<String> unfusedFirst = Comparator.comparing(who -> !who.contains("unfused"));
    return contenders.stream()
        .filter(who -> who.startsWith("Culebra") && who.contains("safe"))
        .min(unfusedFirst);
  }

  private Figure against(Sweep sweep, List<String> contenders, String safe) {
    List<GroupedBars.Group> groups = new ArrayList<>();
    for (double length : sweep.lengths()) {
      List<Result> here =
          sweep.results().stream().filter(result -> Sweep.length(result) == length).toList();
      Optional<Result> base =
          here.stream().filter(result -> result.key().who().equals(safe)).findFirst();
      List<GroupedBars.Bar> bars = new ArrayList<>();
      for (Result result : here) {
        int place = contenders.indexOf(result.key().who());
        if (place >= 0 && base.isPresent()) {
          bars.add(bar(place, base.get(), result));
        }
      }
      groups.add(new GroupedBars.Group(Format.count(length), bars));
    }
    return new Figure(
        sweep.title(),
        "The line is " + safe + ".",
        GroupedBars.draw(sweep.title(), "length", "times as fast", groups, contenders.size(), 1),
        contenders.stream().map(who -> new Figure.Key(colours.of(who), who)).toList());
  }

  private GroupedBars.Bar bar(int place, Result safe, Result result) {
    Interval speed =
        safe.key().equals(result.key())
            ? new Interval(1, 1, 1)
            : safe.ratioTo(result)
                .orElseGet(() -> RatioInterval.ofRuns(result.samples(), safe.samples()));
    String who = result.key().who();
    String tip =
        "%s at %s: %s, %s"
            .formatted(
                who,
                Format.count(Sweep.length(result)),
                Format.ratio(speed),
                Format.time(result.seconds()));
    return new GroupedBars.Bar(place, speed, tip, colours.of(who));
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
            "Each dot is a problem; its name shows when it is pointed at. The slope is reading, the"
                + " levels are arithmetic, all measured in the same run.",
            Roofline.draw("Roofline", bytesPerSecond, roofs, List.copyOf(best.values())),
            List.of(new Figure.Key("s1", "Culebra, its best"), new Figure.Key("peer", "torch"))));
  }

  private List<Result> measured(String section) {
    return results.of(section).stream().filter(result -> result.failure().isEmpty()).toList();
  }
}

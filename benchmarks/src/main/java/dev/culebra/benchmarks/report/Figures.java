package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.Results;
import dev.culebra.benchmarks.statistics.Interval;
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
    Colours ofKinds = new Colours();
    List<Figure> figures = new ArrayList<>();
    calls.forEach(
        (call, kinds) ->
            figures.add(
                lines(
                    ofKinds,
                    call,
                    "Of one operation of one thread.",
                    "threads",
                    "ns an operation",
                    kinds,
                    Optional.empty())));
    return figures;
  }

  private static Figure lines(
      Colours colours,
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
    return Sweep.of(results).stream()
        .filter(sweep -> sweep.axis().equals(Sweep.LENGTH))
        .map(this::rate)
        .filter(figure -> !figure.legend().isEmpty()) // else nobody said how much work it is
        .toList();
  }

  /** That of one sweep, whatever the device is. */
  Figure rate(Sweep sweep) {
    Work work = Work.of(results, sweep.results().getFirst());
    Map<String, List<LineChart.Point>> lines = new LinkedHashMap<>();
    sweep
        .contenders()
        .forEach(
            (who, all) ->
                lines.put(
                    who,
                    all.stream()
                        .map(result -> point(sweep, result, work))
                        .filter(point -> point.low() > 0) // a height, if it is a logarithm
                        .toList()));
    lines.values().removeIf(List::isEmpty);
    Optional<LineChart.Level> roof =
        work.ceiling()
            .filter(found -> !results.isEmulated())
            .map(found -> new LineChart.Level(found.key().problem(), work.rate(found)));
    return lines(colours, sweep.title(), "", sweep.axis(), work.unit(), lines, roof);
  }

  private static LineChart.Point point(Sweep sweep, Result result, Work work) {
    Interval seconds = result.interval().times(Result.secondsOf(result.unit()));
    return new LineChart.Point(
        sweep.x(result),
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
      Set<String> contenders = sweep.contenders().keySet();
      Optional<String> safe = safe(contenders);
      if (safe.isPresent() && contenders.stream().filter(Figures::isOfThePaper).count() > 1) {
        figures.add(against(sweep, safe.get()));
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

  /**
   * Bars of the contenders of a sweep against one of them. Those that the paper has not are left
   * out: next to a single read its bars would lie on the ground, and {@link #rate} has all.
   *
   * @param safe what they are held against
   */
  Figure against(Sweep sweep, String safe) {
    List<String> contenders =
        sweep.contenders().keySet().stream().filter(Figures::isOfThePaper).toList();
    List<GroupedBars.Group> groups = new ArrayList<>();
    for (double x : sweep.xs()) {
      List<GroupedBars.Bar> bars = new ArrayList<>();
      for (int place = 0; place < contenders.size(); place++) {
        bar(sweep, x, place, contenders.get(place), safe).ifPresent(bars::add);
      }
      groups.add(new GroupedBars.Group(Format.count(x), bars));
    }
    return new Figure(
        sweep.title(),
        "The line is " + safe + ".",
        GroupedBars.draw(
            sweep.title(), sweep.axis(), "times as fast", groups, contenders.size(), 1),
        contenders.stream().map(who -> new Figure.Key(colours.of(who), who)).toList());
  }

  private static boolean isOfThePaper(String who) {
    return who.startsWith("Culebra") && !who.equals(PaperSweeps.SINGLE_READ);
  }

  private Optional<GroupedBars.Bar> bar(Sweep sweep, double x, int place, String who, String safe) {
    return sweep
        .speed(x, who, safe)
        .flatMap(
            speed ->
                sweep
                    .find(x, who)
                    .map(
                        result ->
                            new GroupedBars.Bar(
                                place,
                                speed,
                                "%s at %s: %s, %s"
                                    .formatted(
                                        who,
                                        Format.count(x),
                                        Format.ratio(speed),
                                        Format.time(result.seconds())),
                                colours.of(who))));
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

package dev.culebra.benchmarks.start;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.Command;
import dev.culebra.benchmarks.session.NativeFolder;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.bindings.Driver;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Processes from their start to their end, in turns. */
public final class StartSection implements Section {
  private static final String NAME = "start";

  /** Far above what a start takes: what has not ended by then hangs. */
  private static final Duration MOST = Duration.ofMinutes(1);

  /** One start of each. */
  private static final double SECONDS_OF_ROUND = 4;

  /** A GPU's driver takes its time to begin. */
  private static final double SECONDS_OF_GPU_ROUND = 7;

  /** What may be kept from one start to the next. */
  private enum Kept {
    NOTHING("plain", "", ""),
    CLASSES("class data archive", "-XX:ArchiveClassesAtExit=", "-XX:SharedArchiveFile="),
    /** Made in one step since JDK 25. */
    AOT("AOT cache", "-XX:AOTCacheOutput=", "-XX:AOTCache=");

    final String label;
    final String making;
    final String using;

    Kept(String label, String making, String using) {
      this.label = label;
      this.making = making;
      this.using = using;
    }
  }

  /**
   * A way to start.
   *
   * @param command what is timed
   */
  private record Start(String problem, String who, List<String> command) {
    Result.Key key() {
      return new Result.Key(NAME, problem, who);
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public double usualSeconds(Scale scale, boolean isEmulated) {
    return rounds(scale) * (isEmulated ? SECONDS_OF_ROUND : SECONDS_OF_GPU_ROUND);
  }

  @Override
  public void measure(Session session) throws IOException, InterruptedException {
    int rounds = rounds(session.scale());
    Path folder = Files.createTempDirectory("culebra-start");
    List<Start> starts = new ArrayList<>();
    try {
      add(session, rounds, starts, new Start("context, and back", "C", cCommand()));
      for (String what : List.of("nothing", "context", "launch")) {
        for (Kept kept : Kept.values()) {
          Path cache = folder.resolve(what + "-" + kept);
          Start start =
              new Start(
                  problem(what),
                  "Java, " + kept.label,
                  java(kept.using.isEmpty() ? "" : kept.using + cache, what));
          if (isDone(session, start, rounds)) {
            continue;
          }
          if (session.allowance().isUsedUp()) {
            break;
          }
          if (!kept.making.isEmpty()) {
            String problemOfMaking = problemOf(java(kept.making + cache, what));
            if (!Files.exists(cache)) {
              failed(session, start, "not made: " + problemOfMaking);
              continue;
            }
          }
          add(session, rounds, starts, start);
        }
      }
      measure(session, starts, rounds);
    } finally {
      delete(folder);
    }
  }

  private static int rounds(Scale scale) {
    return scale.pick(2, 8, 20);
  }

  private static String problem(String what) {
    return switch (what) {
      case "nothing" -> "an empty main";
      case "context" -> "context, and back";
      default -> "first launch";
    };
  }

  private static void add(Session session, int rounds, List<Start> starts, Start start)
      throws IOException, InterruptedException {
    if (isDone(session, start, rounds)) {
      return;
    }
    String failure = problemOf(start.command); // fills the file cache as well
    if (failure.isEmpty()) {
      starts.add(start);
    } else {
      failed(session, start, failure);
    }
  }

  private static boolean isDone(Session session, Start start, int rounds) {
    return session
        .results()
        .find(start.key())
        .filter(result -> result.failure().isPresent() || result.samples().length >= rounds)
        .isPresent();
  }

  private static void failed(Session session, Start start, String reason) throws IOException {
    session.failed(NAME, start.problem, start.who, "ms", reason);
  }

  private static void measure(Session session, List<Start> starts, int rounds)
      throws IOException, InterruptedException {
    List<Start> left = new ArrayList<>(starts);
    while (true) {
      left.removeIf(start -> isDone(session, start, rounds));
      if (left.isEmpty() || session.allowance().isUsedUp()) {
        break;
      }
      for (Start start : left) {
        Command.Outcome outcome = Command.run(start.command, MOST);
        if (outcome.isGood()) {
          session.results().put(plus(session, start, outcome.nanos() / 1e6, rounds));
        } else {
          failed(session, start, problem(outcome, MOST));
        }
      }
    }
    for (Start start : starts) {
      session
          .results()
          .find(start.key())
          .filter(result -> result.failure().isEmpty())
          .ifPresent(StartSection::print);
    }
  }

  /** The result with one more start. */
  private static Result plus(Session session, Start start, double millis, int rounds) {
    Optional<Result> earlier = session.results().find(start.key());
    if (earlier.isPresent()) {
      Result result = earlier.get();
      return result.plus(millis).with("rounds", result.samples().length + 1);
    }
    Map<String, Object> details = new LinkedHashMap<>();
    details.put("group", start.problem);
    details.put(
        "vm_options",
        String.join(" ", start.command.stream().filter(each -> each.startsWith("-XX")).toList())
            .replaceAll("=\\S*/", "="));
    details.put("rounds", 1);
    details.put("rounds_wanted", rounds);
    return Result.of(start.key(), "ms", new double[] {millis}, details);
  }

  private static void print(Result result) {
    Interval interval = result.interval();
    System.out.printf(
        "%-20s %-28s %8.1f ms [%.1f, %.1f]%n",
        result.key().problem(),
        result.key().who(),
        interval.median(),
        interval.low(),
        interval.high());
  }

  private static List<String> cCommand() {
    return List.of(NativeFolder.path().resolve("cold-start").toString(), Driver.opened().library());
  }

  private static List<String> java(String option, String what) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    // Making an archive tells much that nobody asked for.
    command.add("-Xlog:disable");
    command.add("--enable-native-access=ALL-UNNAMED");
    if (!option.isEmpty()) {
      command.add(option);
    }
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(ColdStart.class.getName());
    command.add(what);
    return command;
  }

  /** What went wrong; nothing if nothing did. */
  private static String problemOf(List<String> command) throws IOException, InterruptedException {
    return problemOf(command, MOST);
  }

  static String problemOf(List<String> command, Duration most)
      throws IOException, InterruptedException {
    return problem(Command.run(command, most), most);
  }

  private static String problem(Command.Outcome outcome, Duration most) {
    if (outcome.isGood()) {
      return "";
    }
    return outcome.ended()
        ? "status " + outcome.status() + ": " + outcome.output().lines().findFirst().orElse("")
        : "it had not ended after %.1f s, and was ended".formatted(most.toMillis() / 1e3);
  }

  private static void delete(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }
}

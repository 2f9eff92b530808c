package dev.culebra.benchmarks.start;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.NativeFolder;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.bindings.Driver;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Processes from their start to their end, in turns. */
public final class StartSection implements Section {
  private static final String NAME = "start";

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

  /** A way to start, and its times so far. */
  private static final class Start {
    final String problem;
    final String who;
    final List<String> command;
    final double[] millis;

    Start(String problem, String who, List<String> command, int samples) {
      this.problem = problem;
      this.who = who;
      this.command = command;
      this.millis = new double[samples];
    }
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public void measure(Session session) throws IOException, InterruptedException {
    int samples = session.scale().pick(2, 8, 30);
    Path folder = Files.createTempDirectory("culebra-start");
    List<Start> starts = new ArrayList<>();
    try {
      add(session, starts, "context, and back", "C", cCommand(), samples);
      for (String what : List.of("nothing", "context", "launch")) {
        for (Kept kept : Kept.values()) {
          String problem =
              switch (what) {
                case "nothing" -> "an empty main";
                case "context" -> "context, and back";
                default -> "first launch";
              };
          String who = "Java, " + kept.label;
          if (session.has(NAME, problem, who)) {
            continue;
          }
          Path cache = folder.resolve(what + "-" + kept);
          if (!kept.making.isEmpty()) {
            String problemOfMaking = run(java(kept.making + cache, what));
            if (!Files.exists(cache)) {
              session.failed(NAME, problem, who, "ms", "not made: " + problemOfMaking);
              continue;
            }
          }
          add(
              session,
              starts,
              problem,
              who,
              java(kept.using.isEmpty() ? "" : kept.using + cache, what),
              samples);
        }
      }
      measure(session, starts, samples);
    } finally {
      delete(folder);
    }
  }

  private static void add(
      Session session,
      List<Start> starts,
      String problem,
      String who,
      List<String> command,
      int samples)
      throws IOException, InterruptedException {
    if (session.has(NAME, problem, who)) {
      return;
    }
    String failure = run(command); // fills the file cache as well
    if (failure.isEmpty()) {
      starts.add(new Start(problem, who, command, samples));
    } else {
      session.failed(NAME, problem, who, "ms", failure);
    }
  }

  private static void measure(Session session, List<Start> starts, int samples)
      throws IOException, InterruptedException {
    for (int i = 0; i < samples; i++) {
      for (Start start : starts) {
        long begin = System.nanoTime();
        String failure = run(start.command);
        start.millis[i] = (System.nanoTime() - begin) / 1e6;
        if (!failure.isEmpty()) {
          throw new IllegalStateException(start.who + " failed at its next start: " + failure);
        }
      }
    }
    for (Start start : starts) {
      Map<String, Object> details = new LinkedHashMap<>();
      details.put("group", start.problem);
      details.put(
          "vm_options",
          String.join(" ", start.command.stream().filter(each -> each.startsWith("-XX")).toList())
              .replaceAll("=\\S*/", "="));
      Result result =
          Result.of(new Result.Key(NAME, start.problem, start.who), "ms", start.millis, details);
      session.results().put(result);
      Interval interval = result.interval();
      System.out.printf(
          "%-20s %-28s %8.1f ms [%.1f, %.1f]%n",
          start.problem, start.who, interval.median(), interval.low(), interval.high());
    }
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
  private static String run(List<String> command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    if (!process.waitFor(1, TimeUnit.MINUTES)) {
      process.destroyForcibly();
      return "it did not end";
    }
    return process.exitValue() == 0
        ? ""
        : "status " + process.exitValue() + ": " + said.lines().findFirst().orElse("");
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

package dev.culebra.benchmarks.calls;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Section;
import dev.culebra.benchmarks.session.Session;
import dev.culebra.benchmarks.statistics.Interval;
import dev.culebra.benchmarks.statistics.Samples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.results.format.ResultFormatType;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * Benchmarks that JMH runs, round after round: one fork of each, then the next fork of each, so
 * that what drifts on a machine meets all of them.
 */
final class JmhSection implements Section {
  /** Far above what an iteration takes: what has not ended by then hangs, and is interrupted. */
  private static final TimeValue MOST = TimeValue.seconds(20);

  /** JMH waits for a fork whose threads do not stop, however long: after this it is ended. */
  private static final long MOST_SECONDS_OF_FORK = 60;

  /** What a fork takes beside its iterations, on a slow machine. */
  private static final double SECONDS_OF_START = 1.2;

  private static final int FULL_ROUNDS = 3;

  private static final String ALLOCATED = "gc.alloc.rate.norm";

  private final String name;
  private final List<JmhCase> cases;
  private final int shortRounds;

  /**
   * @param shortRounds forks of each benchmark in a short run
   */
  JmhSection(String name, List<JmhCase> cases, int shortRounds) {
    this.name = name;
    this.cases = cases;
    this.shortRounds = shortRounds;
  }

  /** The iterations of one fork. */
  private record Iterations(int warmUp, int measured, int millis) {
    static Iterations of(Scale scale) {
      return scale.pick(
          new Iterations(1, 2, 20), new Iterations(3, 5, 50), new Iterations(3, 8, 100));
    }

    double seconds() {
      return (warmUp + measured) * millis / 1e3;
    }

    TimeValue time() {
      return TimeValue.milliseconds(millis);
    }
  }

  private int rounds(Scale scale) {
    return scale.pick(1, shortRounds, FULL_ROUNDS);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public double usualSeconds(Scale scale, boolean isEmulated) {
    return cases.size() * rounds(scale) * (SECONDS_OF_START + Iterations.of(scale).seconds());
  }

  @Override
  public void measure(Session session) throws IOException {
    int rounds = rounds(session.scale());
    for (int round = 1; round <= rounds; round++) {
      for (JmhCase each : cases) {
        Optional<Result> earlier = session.results().find(each.key(name));
        if (earlier.isPresent()
            && (earlier.get().failure().isPresent()
                || earlier.get().number("rounds").orElse(0.0) >= round)) {
          continue;
        }
        if (session.allowance().isUsedUp()) {
          return;
        }
        try {
          Result result = add(earlier, run(session, each, round), each, round, rounds);
          session.results().put(result);
          print(result);
        } catch (RunnerException | IllegalStateException e) {
          session.failed(name, each.problem(), each.who(), "ns", Session.reason(e));
        }
      }
    }
  }

  private RunResult run(Session session, JmhCase each, int round)
      throws RunnerException, IOException {
    Iterations iterations = Iterations.of(session.scale());
    Path folder = session.folder("jmh");
    Files.createDirectories(folder);
    String file =
        "%s-%s-%s-%d.json"
            .formatted(name, each.problem(), each.who(), round)
            .replaceAll("[^A-Za-z0-9.-]+", "_");
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .addProfiler(GCProfiler.class)
            .warmupIterations(iterations.warmUp)
            .warmupTime(iterations.time())
            .measurementIterations(iterations.measured)
            .measurementTime(iterations.time())
            .forks(1)
            .timeout(MOST)
            .shouldFailOnError(true)
            .resultFormat(ResultFormatType.JSON)
            .result(folder.resolve(file).toString())
            .verbosity(VerboseMode.SILENT);
    each.choose(options);
    Collection<RunResult> results = runFork(options.build());
    if (results.size() != 1) {
      throw new IllegalStateException(each.fullName() + " gave " + results.size() + " results");
    }
    return results.iterator().next();
  }

  /** What JMH starts are the only processes of this one while a section of it runs. */
  private static Collection<RunResult> runFork(Options options) throws RunnerException {
    AtomicBoolean ended = new AtomicBoolean();
    try (ScheduledExecutorService timer =
        Executors.newSingleThreadScheduledExecutor(Thread.ofPlatform().daemon().factory())) {
      var _ =
          timer.schedule(
              () -> {
                ended.set(true);
                ProcessHandle.current().descendants().forEach(ProcessHandle::destroyForcibly);
              },
              MOST_SECONDS_OF_FORK,
              TimeUnit.SECONDS);
      try {
        return new Runner(options).run();
      } catch (RunnerException e) {
        if (ended.get()) {
          throw new IllegalStateException(
              "it had not ended after " + MOST_SECONDS_OF_FORK + " s, and was ended", e);
        }
        throw e;
      } finally {
        timer.shutdownNow();
      }
    }
  }

  private Result add(Optional<Result> earlier, RunResult run, JmhCase each, int round, int rounds) {
    double[] samples = iterations(run, null);
    double[] allocated = iterations(run, ALLOCATED);
    Result before = earlier.orElse(null);
    double[] allocatedBefore = before == null ? new double[0] : numbers(before);
    double[] allAllocated =
        DoubleStream.concat(Arrays.stream(allocatedBefore), Arrays.stream(allocated)).toArray();
    Map<String, @Nullable Object> details = new LinkedHashMap<>();
    details.put("group", each.problem());
    details.put("jmh", each.fullName());
    details.put("threads", each.threads());
    if (!each.vmOptions().isEmpty()) {
      details.put("vm_options", String.join(" ", each.vmOptions()));
    }
    details.put("rounds", round);
    details.put("rounds_wanted", rounds);
    // By iteration, because a thread-local allocation buffer that is handed out counts whole in the
    // one it falls into: the median tells what an operation allocates.
    details.put("allocated_bytes", Samples.median(allAllocated));
    details.put("allocated_samples", allAllocated);
    double[] all =
        before == null
            ? samples
            : DoubleStream.concat(Arrays.stream(before.samples()), Arrays.stream(samples))
                .toArray();
    return Result.of(each.key(name), "ns", all, details);
  }

  private static double[] numbers(Result before) {
    return switch (before.details().get("allocated_samples")) {
      case double[] numbers -> numbers;
      case List<?> list ->
          list.stream()
              .mapToDouble(n -> ((Number) Objects.requireNonNull(n)).doubleValue())
              .toArray();
      case null, default -> new double[0];
    };
  }

  private static double[] iterations(RunResult run, @Nullable String secondary) {
    return run.getBenchmarkResults().stream()
        .flatMap(fork -> fork.getIterationResults().stream())
        .mapToDouble(
            iteration ->
                secondary == null
                    ? iteration.getPrimaryResult().getScore()
                    : Objects.requireNonNull(
                            iteration.getSecondaryResults().get(secondary),
                            "the gc profiler did not report")
                        .getScore())
        .toArray();
  }

  private static void print(Result result) {
    Interval interval = result.interval();
    System.out.printf(
        "%-36s %-26s %10.2f ns [%.2f, %.2f]  %.2f B%s%n",
        result.key().problem(),
        result.key().who(),
        interval.median(),
        interval.low(),
        interval.high(),
        result.number("allocated_bytes").orElse(0.0),
        result.isNoisy() ? "  NOISY" : "");
  }
}

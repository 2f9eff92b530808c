package dev.culebra.benchmarks;

import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs the JMH benchmarks and puts every sample into the report. */
final class CallCosts {
  private static final String ALLOCATED = "gc.alloc.rate.norm";

  private CallCosts() {}

  static void measure(Report report, boolean smoke) throws RunnerException, IOException {
    TimeValue time = smoke ? TimeValue.milliseconds(50) : TimeValue.seconds(1);
    int iterations = smoke ? 2 : 5;
    Collection<RunResult> results =
        new Runner(
                new OptionsBuilder()
                    .include(Pattern.quote(CallBenchmarks.class.getName()))
                    .addProfiler(GCProfiler.class)
                    .warmupIterations(iterations)
                    .warmupTime(time)
                    .measurementIterations(iterations)
                    .measurementTime(time)
                    .forks(smoke ? 1 : 3)
                    .shouldFailOnError(true)
                    .verbosity(VerboseMode.SILENT)
                    .build())
            .run();
    for (RunResult result : results) {
      report.add("calls", entry(result));
    }
  }

  private static Map<String, Object> entry(RunResult result) {
    BenchmarkParams parameters = result.getParams();
    String name = parameters.getBenchmark().replaceFirst(".*\\.", "");
    double[] samples =
        result.getBenchmarkResults().stream()
            .flatMap(fork -> fork.getIterationResults().stream())
            .mapToDouble(iteration -> iteration.getPrimaryResult().getScore())
            .toArray();
    double mean = result.getPrimaryResult().getScore();
    // By iteration, because a thread-local allocation buffer that is handed out counts whole in the
    // one it falls into: the median tells what an operation allocates.
    double[] allocated =
        result.getBenchmarkResults().stream()
            .flatMap(fork -> fork.getIterationResults().stream())
            .mapToDouble(
                iteration ->
                    Objects.requireNonNull(
                            iteration.getSecondaryResults().get(ALLOCATED),
                            "the gc profiler did not report")
                        .getScore())
            .toArray();
    double medianAllocated = RatioInterval.median(allocated);
    System.out.printf(
        "%-24s %8.2f ns +- %.2f, %.3f B/op%n",
        name, mean, result.getPrimaryResult().getScoreError(), medianAllocated);
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("benchmark", name);
    entry.put("unit", "ns/op");
    entry.put("samples", samples);
    entry.put("mean", mean);
    entry.put("allocated_bytes_per_op", medianAllocated);
    entry.put("allocated_samples", allocated);
    return entry;
  }
}

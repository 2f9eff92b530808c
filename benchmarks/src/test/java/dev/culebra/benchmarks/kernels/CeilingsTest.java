package dev.culebra.benchmarks.kernels;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.Device;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.results.Runs;
import dev.culebra.benchmarks.session.Allowance;
import dev.culebra.benchmarks.session.Scale;
import dev.culebra.benchmarks.session.Session;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CeilingsTest {
  @TempDir Path folder;
  private Session session;
  private Ceilings ceilings;

  @BeforeEach
  void open() throws Exception {
    session =
        new Session(
            ResultsFile.open(folder.resolve("r.json"), "short", Runs.of("abc")),
            Scale.SHORT,
            Device.of(0),
            Allowance.unlimited());
    ceilings = new Ceilings(session);
  }

  private void measured(String name, long bytes, double flops) throws Exception {
    session
        .results()
        .put(
            Result.of(
                new Result.Key(Ceilings.SECTION, name, Ceilings.WHO),
                "us",
                new double[] {1000},
                Map.of("bytes", bytes, "flops", flops)));
  }

  private static Problem problem(long bytes, double flops) {
    return new Problem(
        "some",
        "some",
        Map.of(),
        List.of(),
        List.of(),
        bytes,
        flops,
        "",
        List.of(),
        reader -> new Problem.Verdict(0, 1),
        0,
        Map.of());
  }

  @Test
  void aRateAboveTheRoofIsImpossible() throws Exception {
    measured(Ceilings.READ, 4_500_000_000L, 0);
    measured(Ceilings.COPY, 4_200_000_000L, 0);
    measured(Ceilings.MMA, 0, 6.4e11);
    measured(Ceilings.WGMMA, 0, 9e11);
    double seconds = 1e-3;
    assertEquals(Optional.empty(), ceilings.impossible(problem(4_900_000_000L, 9.8e11), seconds));
    assertTrue(
        ceilings
            .impossible(problem(5_000_000_000L, 0), seconds)
            .orElseThrow()
            .startsWith("5000 GB/s is above"));
    assertEquals(
        "1000.0 TFLOP/s is above what the device computes at most, 900.0",
        ceilings.impossible(problem(0, 1e12), seconds).orElseThrow());
  }

  /** It has no time, and counts as wrong. */
  @Test
  void anImpossibleTimeIsAFailure() throws Exception {
    measured(Ceilings.READ, 4_500_000_000L, 0);
    Result.Key key = new Result.Key(KernelSection.NAME, "some", "Culebra");
    Result result = Result.of(key, "us", new double[] {1000, 1000, 1000}, Map.of());
    Result kept = ceilings.judge(problem(4_900_000_000L, 0), result);
    assertEquals(Optional.empty(), kept.failure());
    assertEquals(3, kept.samples().length);
    session.results().put(ceilings.judge(problem(9_000_000_000L, 0), result));
    Result failed = session.results().find(key).orElseThrow();
    assertEquals(
        Optional.of(
            "the time cannot be true: 9000 GB/s is above what the device moves at most, 4500"),
        failed.failure());
    assertEquals(0, failed.samples().length);
    assertEquals(List.of(key), session.results().failures().stream().map(Result::key).toList());
    assertTrue(key.isOurs());
  }

  @Test
  void aRunSaysWhichCeilingsItHasNot() throws Exception {
    assertTrue(ceilings.unchecked().orElseThrow().startsWith("no ceiling of GB/s and TFLOP/s was"));
    measured(Ceilings.READ, 4_500_000_000L, 0);
    assertTrue(ceilings.unchecked().orElseThrow().startsWith("no ceiling of TFLOP/s was"));
    measured(Ceilings.MMA, 0, 6.4e11);
    assertEquals(Optional.empty(), ceilings.unchecked());
  }

  @Test
  void withoutACeilingNothingIsImpossible() throws Exception {
    assertEquals(Optional.empty(), ceilings.impossible(problem(1L << 50, 1e18), 1e-6));
    session
        .results()
        .put(
            Result.failed(
                new Result.Key(Ceilings.SECTION, Ceilings.READ, Ceilings.WHO), "us", "no memory"));
    assertEquals(Optional.empty(), ceilings.impossible(problem(1L << 50, 1e18), 1e-6));
  }
}

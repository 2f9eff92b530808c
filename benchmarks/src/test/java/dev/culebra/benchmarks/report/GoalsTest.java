package dev.culebra.benchmarks.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.ResultsFile;
import dev.culebra.benchmarks.results.Runs;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoalsTest {
  private static final int TURNS = 36;
  private static final String SMALL = "softmax f32 10 x 4000";
  private static final String LARGE = "softmax f32 4096 x 131072";
  private static final String SUM = "sum f32 of all 1073741824";
  private static final String AUTO = "Culebra auto";
  private static final String TORCH = "torch 2.11";

  @TempDir Path folder;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private ResultsFile results;

  @BeforeEach
  void open() throws IOException {
    results = ResultsFile.open(folder.resolve("r.json"), "short", Runs.of("abc"));
  }

  /** Times around one, each the same for who asks with the same seed. */
  private static double[] samples(double micros, double spread, long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] samples = new double[count];
    Arrays.setAll(samples, i -> micros * Math.exp(spread * random.nextGaussian()));
    return samples;
  }

  private void kernel(String problem, String who, double... micros) throws IOException {
    kernel(problem, who, 1, Map.of("turns", micros.length), micros);
  }

  private void kernel(
      String problem, String who, double bytes, Map<String, Object> more, double... micros)
      throws IOException {
    Map<String, Object> details = new LinkedHashMap<>(more);
    details.put("operation", problem.replaceFirst(" .*", ""));
    details.put("bytes", (long) bytes);
    results.put(Result.of(new Result.Key("kernels", problem, who), "us", micros, details));
  }

  private String row(String goal) throws IOException {
    results.complete();
    Path markdown = folder.resolve("benchmarks.md");
    assertEquals(
        0,
        Report.run(
            new String[] {"--markdown", markdown.toString(), results.file().toString()},
            new PrintStream(new ByteArrayOutputStream(), true, UTF_8),
            new PrintStream(err, true, UTF_8)),
        () -> err.toString(UTF_8));
    return Files.readAllLines(markdown).stream()
        .filter(line -> line.startsWith("| " + goal + " |") && line.contains("| at "))
        .findFirst()
        .orElseThrow();
  }

  private static void assertHas(String row, String... parts) {
    for (String part : parts) {
      assertTrue(row.contains(part), row);
    }
  }

  private static double[] scaled(double[] samples, double factor) {
    return Arrays.stream(samples).map(sample -> sample * factor).toArray();
  }

  /** What disturbs a machine meets both of a pair: a tenth of noise hides no percent of gain. */
  @Test
  void aPeerIsBeatenByTheUpperEndOfPairs() throws Exception {
    double[] torch = samples(10, 0.1, 1, TURNS);
    kernel(SMALL, TORCH, torch);
    kernel(SMALL, AUTO, scaled(torch, 0.99));
    assertHas(row(SMALL), "| yes |", "0.990 (0.990 to 0.990) of torch", "| " + AUTO + " |  |");
  }

  @Test
  void aBetterMedianIsNotEnough() throws Exception {
    double[] torch = samples(10, 0.1, 1, TURNS);
    double[] ours = torch.clone();
    Arrays.setAll(ours, i -> torch[i] * (i < 19 ? 0.99 : 1.01));
    kernel(SMALL, TORCH, torch);
    kernel(SMALL, AUTO, ours);
    assertHas(row(SMALL), "| MISSED |", "0.990 (0.990 to 1.010)", "| NO REASON GIVEN |");
  }

  @Test
  void thirtyPairsAreTheLeast() throws Exception {
    for (int pairs : new int[] {29, 30}) {
      double[] torch = samples(10, 0.01, 1, pairs);
      kernel(SMALL, TORCH, torch);
      kernel(SMALL, AUTO, scaled(torch, 0.9));
      assertHas(
          row(SMALL),
          pairs < 30 ? "| not judged |" : "| yes |",
          pairs < 30 ? "| only 29 samples, it takes 30 |" : "|  |");
    }
  }

  /** As in files that were written when a turn was of six samples. */
  @Test
  void whatWasNotTakenInTurnsIsNotJudged() throws Exception {
    double[] torch = samples(10, 0.01, 1, TURNS);
    kernel(SMALL, TORCH, 1, Map.of(), torch);
    kernel(SMALL, AUTO, 1, Map.of(), scaled(torch, 0.9));
    assertHas(
        row(SMALL),
        "8.99 us, torch 9.99 us",
        "| not judged |",
        "| the two were not taken in pairs |");
  }

  /** The best of several is not what a user gets. */
  @Test
  void noOtherVariantStandsIn() throws Exception {
    double[] torch = samples(10, 0.01, 1, TURNS);
    kernel(SMALL, TORCH, torch);
    kernel(SMALL, "Culebra safe", scaled(torch, 0.5));
    assertHas(row(SMALL), "| not measured |", "|  | Culebra auto |  |");
    kernel(SMALL, AUTO, scaled(torch, 2));
    assertHas(row(SMALL), "2.000", "MISSED");
  }

  @Test
  void ratesAreJudgedByTheSlowEndOfTheirInterval() throws Exception {
    double[] micros = samples(1000, 0.02, 1, TURNS);
    double slow = Result.of(new Result.Key("", "", ""), "us", micros, Map.of()).interval().high();
    kernel(LARGE, AUTO, 3.8e12 * slow * 1e-6 * 1.0001, Map.of(), micros);
    assertHas(row(LARGE), "(at least 3.80 TB/s)", "| yes |");
    kernel(LARGE, AUTO, 3.8e12 * slow * 1e-6 * 0.9999, Map.of(), micros);
    assertHas(row(LARGE), "MISSED");
    kernel(LARGE, AUTO, 3.8e12 * slow * 1e-6 * 2, Map.of("implausible", "too fast"), micros);
    assertHas(row(LARGE), "| not measured |");
  }

  @Test
  void timesAreJudgedByTheSlowEndOfTheirInterval() throws Exception {
    String problem = "softmax + top-5 f32 10 x 131072";
    double[] micros = new double[TURNS];
    Arrays.setAll(micros, i -> i < 20 ? 14.9 : 15.1);
    kernel(problem, "Culebra fused", micros);
    assertHas(row("small top-k"), "| MISSED |", "14.9 us (14.9 us to 15.1 us)");
    kernel(problem, "Culebra fused", scaled(micros, 0.99));
    assertHas(row("small top-k"), "| yes |");
  }

  @Test
  void aCopyIsHeldAgainstByPairs() throws Exception {
    String problem = "softmax f32 4000 x 4000";
    double[] copy = samples(10, 0.1, 1, TURNS);
    kernel(problem, "device copy", copy);
    kernel(problem, AUTO, scaled(copy, 1.11));
    assertHas(row(problem), "| yes |", "1.110 (1.110 to 1.110) of a copy's time");
    kernel(problem, AUTO, scaled(copy, 1.12));
    assertHas(row(problem), "| MISSED |");
  }

  @Test
  void aReasonIsReadFromTheFileBesideTheResults() throws Exception {
    double[] torch = samples(10, 0.01, 1, TURNS);
    kernel(SUM, TORCH, torch);
    kernel(SUM, "Culebra", scaled(torch, 1.1));
    reasons("{\"other.json\": {\"%s\": \"not this run's\"}}".formatted(SUM));
    assertHas(row(SUM), "1.100", "| MISSED |", "| NO REASON GIVEN |");
    reasons("{\"r.json\": {\"%s\": \"adds twice\"}}".formatted(SUM));
    assertHas(row(SUM), "1.100", "| MISSED |", "| adds twice |");
    assertEquals("", err.toString(UTF_8));
  }

  @Test
  void aReasonForWhatWasNotMissedIsWarnedOf() throws Exception {
    double[] torch = samples(10, 0.01, 1, TURNS);
    kernel(SUM, TORCH, torch);
    kernel(SUM, "Culebra", scaled(torch, 0.9));
    reasons("{\"r.json\": {\"%s\": \"adds twice\", \"no such goal\": \"x\"}}".formatted(SUM));
    assertHas(row(SUM), "| yes |");
    for (String goal : new String[] {SUM, "no such goal"}) {
      String expected =
          "warning: missed-goals.json has a reason for \"%s\", which is no missed goal of r.json"
              .formatted(goal);
      assertTrue(err.toString(UTF_8).contains(expected), err.toString(UTF_8));
    }
  }

  @Test
  void reasonsOfAnotherFormAreRefusedByName() throws Exception {
    for (String wrong :
        new String[] {
          "[]", "{\"r.json\": \"all\"}", "{\"r.json\": {\"a\": 1}}", "{\"r\": {\"a\": \" \"}}", "{"
        }) {
      err.reset();
      reasons(wrong);
      assertEquals(
          2,
          Report.run(
              new String[] {
                "--markdown", folder.resolve("b.md").toString(), results.file().toString()
              },
              new PrintStream(new ByteArrayOutputStream(), true, UTF_8),
              new PrintStream(err, true, UTF_8)),
          wrong);
      assertTrue(err.toString(UTF_8).contains("missed-goals.json"), err.toString(UTF_8));
    }
  }

  private void reasons(String text) throws IOException {
    Files.writeString(folder.resolve("missed-goals.json"), text);
  }
}

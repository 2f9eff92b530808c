package dev.culebra.benchmarks.compare;

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
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CompareTest {
  private static final Result.Key KERNEL = new Result.Key("kernels", "softmax", "Culebra online");
  private static final Result.Key TORCH = new Result.Key("kernels", "softmax", "torch 2.11");
  private static final Result.Key PAIRS = new Result.Key("pairs", "launch", "Culebra");

  @TempDir Path folder;
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private Result old;

  @BeforeEach
  void measure() {
    old = result(KERNEL, 100, 0.02, 1);
  }

  /** Samples around a time. */
  private static double[] samples(double time, double spread, long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    double[] samples = new double[36];
    for (int i = 0; i < samples.length; i++) {
      samples[i] = time * Math.exp(spread * random.nextGaussian());
    }
    return samples;
  }

  private static Result result(Result.Key key, double time, double spread, long seed) {
    return Result.of(key, "us", samples(time, spread, seed), Map.of());
  }

  private Path file(String name, Result... results) throws IOException {
    ResultsFile file = ResultsFile.open(folder.resolve(name), "short", Runs.of("abc"));
    for (Result result : results) {
      file.put(result);
    }
    file.complete();
    return file.file();
  }

  private int compare(Result before, Result... after) throws IOException {
    return run(file("old.json", before).toString(), file("new.json", after).toString());
  }

  private int run(String... arguments) {
    return Compare.run(
        arguments, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
  }

  private void assertSaid(String expected) {
    assertTrue(out.toString(UTF_8).contains(expected), () -> out.toString(UTF_8));
  }

  @Test
  void theSameAgainIsNotSlower() throws Exception {
    assertEquals(0, compare(old, result(KERNEL, 100, 0.02, 2)));
    assertSaid("0 slower by more than 5 %, 0 faster, 1 the same");
  }

  @Test
  void slowerIsFound() throws Exception {
    assertEquals(1, compare(old, result(KERNEL, 110, 0.02, 2)));
    assertSaid("slower       kernels: softmax (Culebra online): 1.1");
  }

  @Test
  void fasterIsSaidAndNoError() throws Exception {
    assertEquals(0, compare(old, result(KERNEL, 80, 0.02, 2)));
    assertSaid("faster");
  }

  @Test
  void slowerWithinTheToleranceIsNotSlower() throws Exception {
    assertEquals(0, compare(old, result(KERNEL, 102, 0.01, 2)));
    assertEquals(
        1,
        run(
            "--tolerance",
            "1",
            folder.resolve("old.json").toString(),
            folder.resolve("new.json").toString()));
  }

  @Test
  void noiseIsNotCalledTheSame() throws Exception {
    assertEquals(4, compare(old, result(KERNEL, 105, 0.6, 2)));
    assertSaid("undecided    kernels: softmax (Culebra online): 1.");
    assertSaid("0 the same, 1 undecided");
  }

  /**
   * The whole interval has to lie within the tolerance: 4 % slower, give or take 3, is not known.
   */
  @Test
  void anIntervalOverAnEndOfTheToleranceIsUndecided() throws Exception {
    assertEquals(4, compare(old, result(KERNEL, 104, 0.05, 2)));
    assertSaid("0 the same, 1 undecided");
    out.reset();
    assertEquals(4, compare(old, result(KERNEL, 96, 0.05, 2)));
    assertSaid("0 the same, 1 undecided");
    out.reset();
    // The same two files, judged by a tolerance that the interval fits into.
    String[] files = {folder.resolve("old.json").toString(), folder.resolve("new.json").toString()};
    assertEquals(0, run(files[0], files[1], "--tolerance", "15"));
    assertSaid("1 the same, 0 undecided");
  }

  @Test
  void whatIsSlowerIsToldBeforeWhatIsUndecided() throws Exception {
    Result noisy = result(TORCH, 100, 0.6, 3);
    Result other = result(new Result.Key("kernels", "sum", "Culebra"), 100, 0.6, 3);
    assertEquals(
        1,
        run(
            file("old.json", old, noisy, other).toString(),
            file("new.json", result(KERNEL, 110, 0.02, 2), noisy, other).toString()));
    assertSaid("of ours: 1 slower by more than 5 %, 0 faster, 0 the same, 1 undecided");
  }

  @Test
  void whatNeverRanIsNotCalledTheSame() throws Exception {
    Result failed = Result.failed(KERNEL, "us", "no such kernel");
    Result sum = result(new Result.Key("kernels", "sum", "Culebra"), 100, 0.02, 3);
    assertEquals(
        0, run(file("old.json", failed, sum).toString(), file("new.json", failed, sum).toString()));
    assertSaid("1 the same, 0 undecided, 0 lost, 0 new");
  }

  @Test
  void whatIsMissingFailedOrImpossibleIsLost() throws Exception {
    Result.Key other = new Result.Key("kernels", "sum", "Culebra");
    assertEquals(3, compare(old, result(other, 1, 0.02, 2)));
    assertSaid("not there any more");
    assertEquals(3, compare(old, Result.failed(KERNEL, "us", "the result is wrong")));
    assertSaid("the result is wrong");
    assertEquals(
        3, compare(old, result(KERNEL, 10, 0.02, 2).with("implausible", "above the roof")));
    assertSaid("above the roof");
  }

  /** A time that cannot be true is none to compare with. */
  @Test
  void whatWasImpossibleBeforeIsNew() throws Exception {
    Result sum = result(new Result.Key("kernels", "sum", "Culebra"), 100, 0.02, 3);
    Result impossible = result(KERNEL, 50, 0.02, 1).with("implausible", "above the roof");
    assertEquals(
        0,
        run(file("old.json", impossible, sum).toString(), file("new.json", old, sum).toString()));
    assertSaid("0 slower by more than 5 %, 0 faster, 1 the same, 0 undecided, 0 lost, 1 new");
  }

  /** Launches of the same code differ by more than kernels do. */
  @Test
  void whatIsAsLongAsALaunchHasAWiderTolerance() throws Exception {
    Result shortOne = result(KERNEL, 5, 0.02, 1);
    assertEquals(0, compare(shortOne, result(KERNEL, 5.75, 0.02, 2)));
    assertSaid("1 the same");
    assertEquals(1, compare(shortOne, result(KERNEL, 6.75, 0.02, 2)));
    assertSaid("as long as a launch, so by a tolerance of 25 %");
    assertEquals(1, compare(result(KERNEL, 11, 0.02, 1), result(KERNEL, 12.65, 0.02, 2)));
    Result.Key call = new Result.Key("calls", "one pointer", "as long");
    assertEquals(1, compare(result(call, 5, 0.02, 1), result(call, 5.75, 0.02, 2)));
    // A wider one that was asked for stays.
    String[] files = {
      file("a.json", shortOne).toString(), file("b.json", result(KERNEL, 6.75, 0.02, 2)).toString()
    };
    assertEquals(0, run(files[0], files[1], "--tolerance", "60"));
  }

  @Test
  void aPeerThatGotSlowerIsNoFaultOfOurs() throws Exception {
    assertEquals(
        0,
        run(
            file("old.json", old, result(TORCH, 100, 0.02, 1)).toString(),
            file("new.json", old, result(TORCH, 200, 0.02, 2)).toString()));
    assertSaid("slower       kernels: softmax (torch 2.11)");
    assertSaid("of ours: 0 slower");
  }

  /** A machine that got slower as a whole changes both of a pair. */
  @Test
  void pairsAreComparedByTheirRatioToC() throws Exception {
    double[] c = samples(100, 0.01, 1);
    double[] slowerC = samples(150, 0.01, 2);
    Result before = Result.ofPairs(PAIRS, "ns", c, scaled(c, 1.01), Map.of());
    assertEquals(
        0, compare(before, Result.ofPairs(PAIRS, "ns", slowerC, scaled(slowerC, 1.01), Map.of())));
    assertEquals(1, compare(before, Result.ofPairs(PAIRS, "ns", c, scaled(c, 1.2), Map.of())));
  }

  private static double[] scaled(double[] samples, double factor) {
    double[] scaled = samples.clone();
    for (int i = 0; i < scaled.length; i++) {
      scaled[i] *= factor;
    }
    return scaled;
  }

  @Test
  void otherMachinesAreWarnedOf() throws Exception {
    Path before = file("old.json", old);
    Path after = file("new.json", result(KERNEL, 100, 0.02, 2));
    Files.writeString(
        after,
        Files.readString(after).replace("GPU <7>", "GPU 8").replace("\"short\"", "\"full\""));
    assertEquals(0, run(before.toString(), after.toString()));
    assertSaid("warning: device name differs: GPU <7>, now GPU 8");
    assertSaid("warning: the scale differs: short, now full");
    assertSaid("old: " + before + ", commit abc, 2026-01-02T03:04:05Z");
  }

  /** A gate that has compared nothing does not open. */
  @Test
  void filesThatHaveNothingOfOursInCommonAreNotCalledGood() throws Exception {
    Path empty = file("empty.json");
    Path some = file("some.json", old);
    assertEquals(2, run(empty.toString(), empty.toString()));
    assertEquals(2, run(empty.toString(), some.toString()));
    assertEquals(3, run(some.toString(), empty.toString()));
    Result failed = Result.failed(KERNEL, "us", "no such kernel");
    assertEquals(2, compare(failed, failed));
    assertEquals(2, compare(result(TORCH, 100, 0.02, 1), result(TORCH, 200, 0.02, 2)));
    assertTrue(err.toString(UTF_8).contains("nothing was compared"), err.toString(UTF_8));
  }

  @Test
  void kernelsOnTheEmulatorAreNotJudged() throws Exception {
    Result call = result(new Result.Key("calls", "one pointer", "as long"), 8, 0.02, 3);
    Path before = file("old.json", old, call);
    Path after = file("new.json", result(KERNEL, 200, 0.02, 2), call);
    assertEquals(1, run(before.toString(), after.toString()));
    for (Path file : new Path[] {before, after}) {
      Files.writeString(
          file, Files.readString(file).replace("\"emulator\" : false", "\"emulator\" : true"));
    }
    assertEquals(0, run(before.toString(), after.toString()));
    assertSaid("times of kernels on the emulator say nothing: they are not compared");
    assertEquals(3, run(before.toString(), file("lost.json", call).toString()));
  }

  @Test
  void wrongCommandLinesAndFilesHaveTheirStatus() throws Exception {
    String good = file("old.json", old).toString();
    for (String tolerance : new String[] {"-1", "NaN", "Infinity", "1001"}) {
      assertEquals(2, run(good, good, "--tolerance", tolerance), tolerance);
    }
    assertEquals(2, run(good, good, "--tolerance"));
    assertEquals(2, run(good));
    assertEquals(2, run(good, good, good));
    assertEquals(2, run(good, good, "--tolerance", "much"));
    assertEquals(2, run(good, folder.resolve("none.json").toString()));
    Files.writeString(folder.resolve("bad.json"), "{\"schema\": 1}");
    assertEquals(2, run(good, folder.resolve("bad.json").toString()));
    assertTrue(err.toString(UTF_8).contains("bad.json is no file of results"), err.toString(UTF_8));
  }
}

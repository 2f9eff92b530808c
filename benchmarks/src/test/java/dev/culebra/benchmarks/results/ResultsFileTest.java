package dev.culebra.benchmarks.results;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ResultsFileTest {
  private static final Result.Key FIRST = new Result.Key("pairs", "call", "Culebra");
  private static final Result.Key SECOND = new Result.Key("kernels", "sum", "Culebra");

  @TempDir Path folder;
  private Path file;

  @BeforeEach
  void name() {
    file = folder.resolve("bench.json");
  }

  private ResultsFile open(String commit) throws IOException {
    return ResultsFile.open(file, "short", Runs.of(commit));
  }

  private static Result pairs() {
    return Result.ofPairs(
        FIRST, "ns", new double[] {1, 2, 4}, new double[] {2, 4, 8}, Map.of("group", "call"));
  }

  @Test
  void whatIsWrittenFitsTheSchemaAndComesBack() throws Exception {
    ResultsFile results = open("abc");
    results.put(pairs());
    results.put(Result.failed(SECOND, "us", "no \"torch\" here"));
    results.note("spin_ns", List.of(1.5, 2.0));

    assertEquals(List.of(), Results.schema().problems(Json.read(file)));
    Results read = Results.read(file);
    assertFalse(read.isComplete());
    assertEquals("GPU <7>", read.about("device", "name"));
    assertEquals(2, read.all().size());
    Result first = read.find(FIRST).orElseThrow();
    assertArrayEquals(new double[] {2, 4, 8}, first.samples());
    assertArrayEquals(new double[] {1, 2, 4}, first.baseline());
    assertEquals(2, first.ratio().median());
    assertEquals("call", first.text("group").orElseThrow());
    assertEquals("no \"torch\" here", read.find(SECOND).orElseThrow().failure().orElseThrow());
    assertFalse(Files.exists(folder.resolve("bench.json.new")));
  }

  @Test
  void aRunThatWasCutIsGoneOnWith() throws Exception {
    open("abc").put(pairs());
    ResultsFile again = open("abc");
    assertTrue(again.isContinued());
    assertTrue(again.find(FIRST).isPresent());
    again.put(Result.of(SECOND, "us", new double[] {3}, Map.of()));
    again.complete();

    Results read = Results.read(file);
    assertTrue(read.isComplete());
    assertEquals(2, read.runs().size());
    assertEquals(0, read.find(FIRST).orElseThrow().run());
    assertEquals(1, read.find(SECOND).orElseThrow().run());
  }

  @Test
  void datesAndClocksMayDifferWhenGoingOn() throws Exception {
    ResultsFile results = open("abc");
    results.put(pairs());
    results.note("clocks", List.of(Map.of("clocks.sm", "1980 MHz")));
    results.note("cut", List.of("kernels"));
    Map<String, Object> later = new LinkedHashMap<>(Runs.of("abc"));
    later.put("date", "2026-02-02T03:04:05Z");
    assertTrue(ResultsFile.open(file, "short", later).isContinued());
  }

  @Test
  void completeForeignAndUnnamedResultsAreMovedAsideNotLost() throws Exception {
    ResultsFile results = open("abc");
    results.put(pairs());
    results.complete();
    assertFalse(open("abc").isContinued());
    assertEquals(1, Results.read(folder.resolve("bench-2026-01-02T030405Z.json")).all().size());

    assertFalse(open("other").isContinued());
    open("abc-dirty").put(pairs());
    assertFalse(open("abc-dirty").isContinued());
    open("unknown").put(pairs());
    assertFalse(open("unknown").isContinued());
    assertFalse(ResultsFile.open(file, "full", Runs.of("unknown")).isContinued());
    Files.writeString(file, "{");
    assertFalse(open("abc").isContinued());
    assertTrue(Files.exists(folder.resolve("bench-unreadable.json")));
    try (var files = Files.list(folder)) {
      assertEquals(9, files.count(), "every file is still there");
    }
  }

  /** A result that nobody could read back would cost all the others. */
  @Test
  void whatTheFileCannotHoldIsAFailure() throws Exception {
    ResultsFile results = open("abc");
    results.put(pairs());
    for (double time : new double[] {Double.NaN, 0, -1, Double.POSITIVE_INFINITY}) {
      Result put = results.put(Result.of(SECOND, "us", new double[] {1, time}, Map.of()));
      assertTrue(put.failure().orElseThrow().startsWith("no result: "), put.failure().get());
    }
    Result strange = results.put(Result.of(SECOND, "us", new double[] {1}, Map.of("mood", 1)));
    assertEquals("no result: details.mood is not known", strange.failure().orElseThrow());
    assertEquals(2, Results.read(file).all().size());
  }

  @Test
  void aFileIsCompleteWhenAllIsThereThatWasAskedFor() throws Exception {
    ResultsFile first = open("abc");
    first.asked(List.of("pairs", "kernels", "start"));
    first.finished("pairs");
    first.cut(List.of("kernels"));
    assertEquals(List.of("kernels", "start"), first.unfinished());

    ResultsFile second = open("abc");
    second.asked(List.of("pairs", "start"));
    second.finished("pairs");
    second.finished("start");
    assertEquals(List.of("kernels"), second.unfinished(), "it was not asked for that");
    assertEquals(List.of("kernels"), Results.read(file).unfinished());

    ResultsFile third = open("abc");
    third.asked(List.of("kernels"));
    third.finished("kernels");
    assertEquals(List.of(), third.unfinished());
  }

  /** Each replaces the file: what the other has put there would be lost. */
  @Test
  void oneRunAtATimeWritesAFile() throws Exception {
    Path elsewhere = folder.resolve("new/other.json");
    try (RunLock first = RunLock.take(file);
        RunLock other = RunLock.take(elsewhere)) {
      assertTrue(first != other);
      IOException refused = assertThrows(IOException.class, () -> RunLock.take(file));
      assertTrue(refused.toString().contains("another run writes " + file), refused.toString());
    }
    RunLock.take(file).close();
    Path blocked = Files.writeString(folder.resolve("file"), "").resolve("bench.json");
    IOException refused = assertThrows(IOException.class, () -> RunLock.take(blocked));
    assertTrue(refused.toString().contains("cannot be written"), refused.toString());
  }

  /** Results that were taken apart from each other are no pairs, however many there are. */
  @Test
  void contendersThatTookTurnsInOneRunArePairs() throws Exception {
    Result theirs = turns("torch", 3, 10, 20, 40);
    Result ours = turns("Culebra", 3, 5, 10, 20);
    assertEquals(0.5, ours.ratioTo(theirs).orElseThrow().median());
    assertTrue(ours.ratioTo(turns("torch", 2, 10, 20)).isEmpty());
    assertTrue(ours.ratioTo(turns("torch", 1, 10, 20, 40)).isEmpty());
    Result untold = Result.of(SECOND, "us", new double[] {1, 2, 3}, Map.of());
    assertTrue(untold.ratioTo(untold).isEmpty());
    assertTrue(ours.ratioTo(theirs.inRun(1)).isEmpty());
    assertTrue(ours.ratioTo(Result.failed(SECOND, "us", "wrong")).isEmpty());
    Result.Key elsewhere = new Result.Key("kernels", "max", "torch");
    assertTrue(
        ours.ratioTo(Result.of(elsewhere, "us", new double[] {1, 2, 3}, Map.of("turns", 3)))
            .isEmpty());
  }

  private static Result turns(String who, int turns, double... samples) {
    return Result.of(new Result.Key("kernels", "sum", who), "us", samples, Map.of("turns", turns));
  }

  @Test
  void aLaterRoundAddsSamples() throws Exception {
    ResultsFile results = open("abc");
    results.put(Result.of(SECOND, "us", new double[] {3}, Map.of("rounds", 1)));
    results.put(results.find(SECOND).orElseThrow().plus(4, 5).with("rounds", 2));
    Result read = Results.read(file).find(SECOND).orElseThrow();
    assertArrayEquals(new double[] {3, 4, 5}, read.samples());
    assertEquals(2, read.number("rounds").orElseThrow());
  }

  @Test
  void whatDoesNotFitTheSchemaIsRefusedWithItsPlace() throws Exception {
    open("abc").put(pairs());
    String text = Files.readString(file);
    refuse(text.replace("\"schema\" : 2", "\"schema\" : 1"), "$.schema is 1, not 2");
    refuse(text.replace("\"unit\" : \"ns\"", "\"unit\" : \"hours\""), "results[0].unit is hours");
    refuse(text.replace("\"who\"", "\"whom\""), "$.results[0]");
    refuse(text.replaceAll("\"samples\" : \\[[^]]*]", "\"samples\" : [ 0.0 ]"), "not more than 0");
    refuse(text.replaceAll("\"samples\" : \\[[^]]*]", "\"samples\" : [ ]"), "fewer than 1");
    refuse(text.replace("\"group\"", "\"grope\""), "details.grope is not known");
    refuse("[]", "not of type object");
    refuse("{", "not JSON");
    refuse("", "not of type object");
    refuse(text + "}", "not JSON");
    refuse(text.replaceFirst("\"samples\" : \\[ ", "$01e999, "), "samples[0] is not of type");
    refuse(
        text.replaceFirst("\"baseline_samples\" : \\[ ", "$01.0, "),
        "call (Culebra) has 3 samples and 4 of its baseline");
    refuse(text.replace("\"run\" : 0", "\"run\" : 1"), "is of run 1 of 1");
    refuse(text.replaceAll("\"baseline_samples\" : \\[[^]]*],", ""), "no samples of its baseline");
    int at = text.indexOf("\"results\" : [") + 13;
    String result = text.substring(at, text.lastIndexOf(']'));
    refuse(
        text.substring(0, at) + result + "," + result + text.substring(at + result.length()),
        "twice");
    refuse(text.substring(0, at + result.length() / 2), "not JSON");
  }

  @Test
  void aFileThatIsNotThereIsCalledSo() {
    IOException missing = assertThrows(IOException.class, () -> Results.read(file));
    assertEquals(file + " is not there", missing.getMessage());
  }

  private void refuse(String text, String expected) throws IOException {
    Files.writeString(file, text);
    String message = assertThrows(IOException.class, () -> Results.read(file)).toString();
    assertTrue(message.contains(expected), message);
    assertTrue(message.contains("bench.json"), message);
  }
}

package dev.culebra.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
  @TempDir Path folder;

  @Test
  void holdsWhatWasAdded() throws Exception {
    Report report = new Report(folder.resolve("r.json"), Map.of("commit", "abc \"quoted\""));
    report.add("pairs", Map.of("ns", new double[] {1.5, Double.NaN}));
    report.add("pairs", Map.of("count", 3));
    assertEquals(
        "{\"schema\":1,\"commit\":\"abc\\\"quoted\\\"\",\"pairs\":[{\"ns\":[1.5,\"NaN\"]},{\"count\":3}]}",
        Files.readString(report.file()).replaceAll("\\s", ""));
    assertFalse(Files.exists(folder.resolve("r.json.new")));
  }
}

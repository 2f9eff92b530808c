package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.isolated.CloseRaceMain;
import dev.culebra.isolated.ExitMain;
import dev.culebra.isolated.LeakMain;
import dev.culebra.isolated.PoisonMain;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What cannot be tried in a process that goes on: faults, exits, leaks. */
@Tag("isolated")
class IsolatedTest {

  private static final String FIRST_SAYS = "KernelFaultException: ";

  @TempDir Path folder;

  @BeforeEach
  void needsADriver() {
    String driver = System.getenv("CULEBRA_DRIVER");
    Assumptions.assumeTrue(
        driver == null || driver.isEmpty() || Files.exists(Path.of(driver)),
        () -> driver + " is not there; build it with 'make -C emulator'");
  }

  private record Outcome(Map<String, String> values, String errors) {
    String get(String name) {
      return values.getOrDefault(name, "not printed");
    }
  }

  private Outcome run(Class<?> main, String... options) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:-CreateCoredumpOnCrash"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    Path output = folder.resolve("output");
    Path errors = folder.resolve("errors");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile())
            .start();
    assertTrue(process.waitFor(2, TimeUnit.MINUTES), () -> main + " hangs");
    String said = Files.readString(errors);
    assertEquals(0, process.exitValue(), () -> said);
    Map<String, String> values = new HashMap<>();
    for (String line : Files.readAllLines(output)) {
      int equals = line.indexOf('=');
      values.put(line.substring(0, equals), line.substring(equals + 1));
    }
    return new Outcome(values, said);
  }

  @Test
  @DisplayName(
      "101, 116, 117, 118: a fault is told once with its suspects, then everything fails fast and closes quietly")
  void aFaultPoisonsTheProcess() throws Exception {
    Outcome outcome = run(PoisonMain.class);
    String first = outcome.get("sync");
    assertTrue(first.startsWith(FIRST_SAYS), first);
    assertTrue(first.contains("culebra_selftest_write_at_u32"), first);
    assertTrue(first.contains("restart"), first);
    for (String path :
        List.of(
            "again",
            "isDone",
            "eventIsDone",
            "allocate",
            "allocateEmpty",
            "newStream",
            "newEvent",
            "copyTo",
            "copyFrom",
            "zero",
            "async",
            "segment",
            "launch",
            "unset",
            "other")) {
      String said = outcome.get(path);
      assertTrue(said.startsWith("PoisonedContextException: "), path + " says " + said);
      assertTrue(said.contains("restart"), path + " says " + said);
    }
    assertEquals("true", outcome.get("poisoned"));
    for (String close :
        List.of("closeBuffer", "closePinned", "closeEvent", "closeStream", "closeContext")) {
      assertEquals("nothing", outcome.get(close));
    }
  }

  @Test
  @DisplayName("20: a close that races with uses gives IllegalStateException, never a dead handle")
  void closingRacesWithUses() throws Exception {
    Outcome outcome = run(CloseRaceMain.class);
    assertEquals("true", outcome.get("worked"));
    assertEquals("null", outcome.get("other"));
  }

  @Test
  @DisplayName("16: a process may end with everything open and work in flight")
  void endsWithEverythingOpen() throws Exception {
    assertEquals("now", run(ExitMain.class).get("ends"));
  }

  @Test
  @DisplayName(
      "29: a leak is reported once, with the place where it was created, and nothing is freed by the collector")
  void leaksAreReported() throws Exception {
    Outcome outcome = run(LeakMain.class, "-Dculebra.leaks=trace");
    String said = outcome.errors();
    assertEquals(2, said.split("leak: DeviceBuffer<F32> of 1234", -1).length, said);
    assertTrue(said.contains("became unreachable"), said);
    assertTrue(said.contains("LeakMain.leakABuffer"), said);
    assertFalse(said.contains("of 77"), said);
    assertTrue(said.contains("leak: event"), said);
    assertEquals("0", outcome.get("freedByCollector"));
    assertEquals("now", outcome.get("ends"));
  }

  @Test
  void leaksAreNotReportedUnlessAskedFor() throws Exception {
    assertFalse(run(LeakMain.class).errors().contains("leak"));
    String report = run(LeakMain.class, "-Dculebra.leaks=report").errors();
    assertTrue(report.contains("leak: DeviceBuffer<F32> of 1234"), report);
    assertTrue(report.contains("-Dculebra.leaks=trace"), report);
    assertTrue(run(LeakMain.class, "-Dculebra.leaks=loud").errors().contains("is not one of"));
  }
}

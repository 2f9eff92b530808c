package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.isolated.CloseRaceMain;
import dev.culebra.isolated.ExitMain;
import dev.culebra.isolated.FailureMain;
import dev.culebra.isolated.LeakMain;
import dev.culebra.isolated.PoisonMain;
import dev.culebra.isolated.SpreadRowsMain;
import dev.culebra.isolated.TwoDevicesMain;
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

  private static final String NOTHING_LEFT = "culebra-emulator: at exit: nothing is left";
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
    return run(Map.of(), main, options);
  }

  private Outcome run(Map<String, String> environment, Class<?> main, String... options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:-CreateCoredumpOnCrash"));
    command.add("--enable-native-access=ALL-UNNAMED");
    command.addAll(List.of(options));
    command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
    Path output = folder.resolve("output");
    Path errors = folder.resolve("errors");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectOutput(output.toFile())
            .redirectError(errors.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
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
    Outcome outcome = run(Map.of("CULEBRA_EMU_REPORT", "1"), CloseRaceMain.class);
    assertEquals("none", outcome.get("wrong"), outcome.errors());
    assertEquals("true", outcome.get("worked"));
    assertEquals("", outcome.errors().replace(NOTHING_LEFT, "").strip());
  }

  @Test
  @Tag("emulator-only")
  @DisplayName("rows spread over two devices have one softmax")
  void rowsSpreadOverTwoDevices() throws Exception {
    Outcome outcome = run(Map.of("CULEBRA_EMU_DEVICES", "2"), SpreadRowsMain.class);
    assertEquals("right", outcome.get("softmax"), outcome.errors());
  }

  @Test
  @Tag("emulator-only")
  @DisplayName("7, 103: another device's context is restored, and its things are refused")
  void twoDevicesAreKeptApart() throws Exception {
    Outcome outcome = run(Map.of("CULEBRA_EMU_DEVICES", "2"), TwoDevicesMain.class);
    for (String step :
        List.of("stream", "event", "timedEvent", "buffer", "kernel", "launch", "close")) {
      assertEquals("restored, nothing", outcome.get(step), step);
    }
    String memory = outcome.get("memory");
    assertTrue(memory.startsWith("restored, OutOfDeviceMemoryException: "), memory);
    for (String step : List.of("argument", "launchStream", "fromPinned", "toPinned", "copy")) {
      String said = outcome.get(step);
      assertTrue(said.startsWith("restored, IllegalArgumentException: "), step + " says " + said);
      assertTrue(said.contains("belongs to the context of"), step + " says " + said);
    }
  }

  @Test
  @Tag("emulator-only")
  @DisplayName("4: a refused call tells function and code, leaks nothing, and the next one works")
  void refusalsLeakNothing() throws Exception {
    Outcome outcome =
        run(
            Map.of(
                "CULEBRA_EMU_REPORT",
                "1",
                "CULEBRA_EMU_FAULT",
                String.join(
                    ";",
                    "oom:1",
                    "fail:cuDevicePrimaryCtxRetain:1:2",
                    "fail:cuStreamCreateWithPriority:1:999",
                    "fail:cuEventCreate:1:2",
                    "fail:cuMemHostAlloc:1:2",
                    "fail:cuLibraryGetModule:1:209",
                    // The third event is the slab's second.
                    "fail:cuEventCreate:3:999")),
            FailureMain.class);
    Map<String, String> refusals =
        Map.of(
            "context1", "cuDevicePrimaryCtxRetain 2",
            "stream1", "cuStreamCreateWithPriority 999",
            "event1", "cuEventCreate 2",
            "buffer1", "cuMemAllocAsync 2",
            "pinned1", "cuMemHostAlloc 2",
            "kernel1", "cuLibraryGetModule 209",
            "copy1", "cuEventCreate 999");
    refusals.forEach(
        (step, said) -> {
          assertEquals(said, outcome.get(step), step);
          assertEquals("nothing", outcome.get(step.replace('1', '2')), step);
        });
    assertEquals("false", outcome.get("active"));
    assertEquals(NOTHING_LEFT, outcome.errors().strip());
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

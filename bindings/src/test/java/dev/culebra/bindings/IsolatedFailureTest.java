package dev.culebra.bindings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.bindings.DriverProbe.Reason;
import dev.culebra.bindings.isolated.ProbeMain;
import dev.culebra.generated.cuda_h;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What can be wrong with a driver, each in a process of its own. */
@Tag("isolated")
class IsolatedFailureTest {
  private static final String ENABLE_ON_CLASS_PATH = "--enable-native-access=ALL-UNNAMED";

  /** What a process printed: its outcomes by name, and its standard error. */
  private record Outcome(Map<String, String> values, String errors) {
    String get(String name) {
      return values.getOrDefault(name, "not printed");
    }

    /** There is no usable driver: every call says why, in the same words, time and again. */
    void assertUnavailable(Reason reason, String... parts) {
      assertEquals(reason.name(), get("reason"));
      for (String part : parts) {
        assertTrue(get("message").contains(part), () -> get("message") + " lacks " + part);
      }
      String expected = "DriverUnavailableException: " + get("message");
      for (String call : List.of("init", "current", "param", "alloc", "generated")) {
        assertEquals(expected, get(call + 1));
        assertEquals(expected, get(call + 2));
      }
    }
  }

  @Test
  void noLibrary(@TempDir Path folder) throws Exception {
    Path missing = folder.resolve("libcuda.so.1");
    run(missing, Map.of())
        .assertUnavailable(
            Reason.NO_LIBRARY,
            missing.toString(),
            "No such file or directory",
            "-Dculebra.driver=PATH");
  }

  @Test
  @DisplayName("a file that is no library is named with the loader's own complaint")
  void notALibrary(@TempDir Path folder) throws Exception {
    Path text = Files.writeString(folder.resolve("libcuda.so.1"), "x".repeat(1000));
    run(text, Map.of()).assertUnavailable(Reason.NO_LIBRARY, "invalid ELF header");
  }

  @Test
  void notADriver() throws Exception {
    Path library = FakeDriver.compile("src/test/c/not_a_driver.c", "libnot-a-driver.so");
    run(library, Map.of())
        .assertUnavailable(Reason.NOT_A_DRIVER, library.toString(), "lacks cuInit");
  }

  @Test
  void stub() throws Exception {
    run(fake(), Map.of("FAKE_STUB", "1"))
        .assertUnavailable(Reason.STUB_LIBRARY, "stub", "LD_LIBRARY_PATH");
  }

  @Test
  void tooOld() throws Exception {
    Outcome outcome = run(fake(), Map.of("FAKE_VERSION", "11080"));
    outcome.assertUnavailable(Reason.DRIVER_TOO_OLD, "CUDA 11.8", "CUDA 12.0 or newer");
    assertEquals("11080", outcome.get("version"));
  }

  @Test
  @DisplayName("a driver without cuGetProcAddress is too old, whatever version it says")
  void noProcAddress() throws Exception {
    Path library = FakeDriver.build("libfake-old-driver.so", "-DNO_PROC_ADDRESS");
    run(library, Map.of("FAKE_VERSION", "12000")).assertUnavailable(Reason.DRIVER_TOO_OLD);
  }

  @ParameterizedTest
  @CsvSource({"FAKE_INIT, 100", "FAKE_DEVICES, 0"})
  void noDevice(String setting, String value) throws Exception {
    run(fake(), Map.of(setting, value))
        .assertUnavailable(Reason.NO_DEVICE, "sees no device", "CUDA_VISIBLE_DEVICES");
  }

  @Test
  void initFails() throws Exception {
    run(fake(), Map.of("FAKE_INIT", "803"))
        .assertUnavailable(Reason.INIT_FAILED, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)", "reboot");
  }

  @Test
  @DisplayName("a function newer than the driver is named with both versions; all others work")
  void functionTooNew() throws Exception {
    Outcome outcome = run(fake(), Map.of("FAKE_VERSION", "12020"));
    assertEquals("AVAILABLE", outcome.get("reason"));
    for (int round = 1; round <= 2; round++) {
      assertEquals("12020", outcome.get("init" + round));
      assertEquals("74", outcome.get("current" + round));
      assertEquals(
          "UnsupportedByDriverException: cuFuncGetParamInfo is not in this driver; it needs a driver"
              + " for CUDA 12.4 or newer, the installed one is for CUDA 12.2: update the driver",
          outcome.get("param" + round));
      assertEquals("1", outcome.get("generated" + round));
    }
  }

  @Test
  @DisplayName("a function that a driver withholds breaks nothing else")
  void functionMissing() throws Exception {
    Outcome outcome = run(fake(), Map.of("FAKE_MISSING", "cuMemAllocAsync"));
    assertTrue(outcome.get("alloc2").startsWith("UnsupportedByDriverException: cuMemAllocAsync"));
    assertEquals(outcome.get("alloc1"), outcome.get("alloc2"));
    assertEquals("Optional[ParamInfo[offset=8, bytes=4]]", outcome.get("param1"));
  }

  @Test
  @DisplayName("denied native access on the class path: the exact flag")
  void deniedOnClassPath() throws Exception {
    List<String> options = new ArrayList<>(deny());
    options.addAll(List.of("-cp", System.getProperty("java.class.path")));
    run(fake(), Map.of(), options)
        .assertUnavailable(Reason.NATIVE_ACCESS_DENIED, ENABLE_ON_CLASS_PATH);
  }

  @Test
  @DisplayName(
      "denied native access on the module path: the exact flag, with the one module to name")
  void deniedOnModulePath() throws Exception {
    List<String> options = new ArrayList<>(deny());
    options.addAll(onModulePath());
    run(fake(), Map.of(), options)
        .assertUnavailable(
            Reason.NATIVE_ACCESS_DENIED, "--enable-native-access=dev.culebra.bindings");
  }

  @Test
  @DisplayName("native access for bindings alone is enough, also for the generated functions")
  void enabledForBindingsAlone() throws Exception {
    List<String> options = new ArrayList<>(List.of("--enable-native-access=dev.culebra.bindings"));
    if (Runtime.version().feature() >= 24) options.add("--illegal-native-access=deny");
    options.addAll(onModulePath());
    Outcome outcome = run(fake(), Map.of(), options);
    assertEquals("AVAILABLE", outcome.get("reason"));
    assertEquals("74", outcome.get("current2"));
    assertEquals("1", outcome.get("generated2"));
    assertEquals("", outcome.errors(), "no warning either");
  }

  @Test
  @DisplayName("the driver's own names are tried in order, and never the one for linking")
  void defaultNames() throws Exception {
    Outcome outcome = run(null, Map.of());
    String attempts = outcome.get("attempts");
    assertTrue(attempts.startsWith("[Attempt[name=libcuda.so.1, answer="), attempts);
    if (outcome.get("reason").equals("NO_LIBRARY")) {
      assertTrue(attempts.contains("/usr/lib/wsl/lib/libcuda.so.1"), attempts);
    }
    assertTrue(!attempts.contains("name=libcuda.so,"), attempts);
  }

  @Test
  @DisplayName("the property wins over the variable")
  void propertyWins() throws Exception {
    List<String> options = new ArrayList<>(List.of("-Dculebra.driver=" + fake()));
    options.addAll(onClassPath());
    Outcome outcome = run(Path.of("/nonexistent/libcuda.so.1"), Map.of(), options);
    assertEquals("AVAILABLE", outcome.get("reason"));
    assertNotEquals("not printed", outcome.get("current1"));
  }

  private static Path fake() {
    return FakeDriver.build("libfake-driver-isolated.so");
  }

  private static List<String> onClassPath() {
    return List.of(ENABLE_ON_CLASS_PATH, "-cp", System.getProperty("java.class.path"));
  }

  private static List<String> onModulePath() throws URISyntaxException {
    return List.of(
        "-p",
        location(Driver.class) + File.pathSeparator + location(cuda_h.class),
        "--add-modules",
        "dev.culebra.bindings",
        "-cp",
        location(ProbeMain.class));
  }

  private static String location(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
  }

  /** Before Java 24 there is no flag to deny: naming another module does. */
  private static List<String> deny() {
    return Runtime.version().feature() >= 24
        ? List.of("--illegal-native-access=deny")
        : List.of("--enable-native-access=java.logging", "--add-modules", "java.logging");
  }

  private static Outcome run(@Nullable Path driver, Map<String, String> settings) throws Exception {
    return run(driver, settings, onClassPath());
  }

  private static Outcome run(
      @Nullable Path driver, Map<String, String> settings, List<String> options)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx64m", "-XX:TieredStopAtLevel=1"));
    command.addAll(options);
    command.add(ProbeMain.class.getName());

    var builder = new ProcessBuilder(command);
    builder.environment().remove("CULEBRA_DRIVER");
    if (driver != null) builder.environment().put("CULEBRA_DRIVER", driver.toString());
    builder.environment().putAll(settings);
    Path errors = Files.createTempFile("culebra-isolated", ".err");
    try {
      Process process = builder.redirectError(errors.toFile()).start();
      String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      int status = process.waitFor();
      String said = Files.readString(errors);
      assertEquals(0, status, () -> output + said);
      Map<String, String> values = new HashMap<>();
      output
          .lines()
          .forEach(
              line -> {
                int equals = line.indexOf('=');
                values.put(line.substring(0, equals), line.substring(equals + 1));
              });
      return new Outcome(values, said);
    } finally {
      Files.delete(errors);
    }
  }
}

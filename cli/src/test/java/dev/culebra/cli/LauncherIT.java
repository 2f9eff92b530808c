package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culebra.io.DType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The packaged command in a process of its own, by {@code bin/culebra}. Runs in Maven's package
 * phase, when the jars are there.
 */
class LauncherIT {
  private static final Path LAUNCHER =
      Path.of(Objects.requireNonNull(System.getenv("CULEBRA_ROOT")), "bin", "culebra");

  @TempDir Path folder;

  private record Result(int status, String out, String err) {}

  @Test
  void runsFromAnywhereAndThroughLinks() throws Exception {
    Path link = Files.createSymbolicLink(folder.resolve("link"), LAUNCHER);
    Files.createSymbolicLink(folder.resolve("culebra"), link.getFileName());
    Result result = run(Map.of(), folder.resolve("culebra").toString(), "--version");
    assertEquals(0, result.status(), result::err);
    assertTrue(result.out().startsWith("culebra "), result::out);
    assertEquals("", result.err());
  }

  @Test
  void handsArgumentsOnAsTheyAre() throws Exception {
    Result result = run(Map.of(), LAUNCHER.toString(), "softmax", "a file *.npy", "-o", "x $y.npy");
    assertEquals(3, result.status());
    assertEquals("culebra: a file *.npy: no such file" + System.lineSeparator(), result.err());
  }

  @Test
  void computesThroughPipes() throws Exception {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[] {5, 5}, 1, 2);
    Process process =
        builder(Map.of(), LAUNCHER.toString(), "softmax", "-", "-o", "-")
            .redirectInput(in.toFile())
            .redirectError(folder.resolve("err").toFile())
            .start();
    Path out = Files.write(folder.resolve("out.npy"), process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), () -> text(folder.resolve("err")));
    assertEquals(List.of(0.5, 0.5), boxed(TensorFiles.read(out).values()));
  }

  @Test
  void anOutputThatIsFullIsAnError() throws Exception {
    Path full = Path.of("/dev/full");
    assumeTrue(Files.exists(full), "there is no /dev/full here");
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[] {5, 5}, 1, 2);
    for (String[] command :
        new String[][] {
          {LAUNCHER.toString(), "softmax", in.toString(), "-o", "-"},
          {LAUNCHER.toString(), "reduce", in.toString(), "--op", "sum"}
        }) {
      Process process =
          builder(Map.of(), command)
              .redirectOutput(full.toFile())
              .redirectError(folder.resolve("err").toFile())
              .start();
      assertEquals(3, process.waitFor(), () -> text(folder.resolve("err")));
      assertTrue(text(folder.resolve("err")).contains("culebra: standard output"));
    }
  }

  @Test
  void saysInOneLineThatItRunsOnTheEmulator() throws Exception {
    Result result = run(UNNAMED, LAUNCHER.toString(), "info", "--json");
    assertEquals(0, result.status(), result::err);
    Map<String, Object> json = JsonText.parse(result.out());
    // Where there is an NVIDIA driver nothing is said, for nothing stands in for it.
    if (json.containsKey("insteadOf")) {
      assertEquals(1, result.err().lines().count(), result::err);
      assertTrue(result.err().contains("running on the emulator"), result::err);
      assertTrue(String.valueOf(json.get("devices")).contains("name="), result::out);
    } else {
      assertEquals("", result.err());
    }
  }

  @Test
  void aNamedDriverIsNeverReplaced() throws Exception {
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[] {5, 5}, 1, 2);
    String missing = folder.resolve("libmissing.so").toString();
    Result result =
        run(
            Map.of("CULEBRA_DRIVER", missing),
            LAUNCHER.toString(),
            "softmax",
            in.toString(),
            "-o",
            folder.resolve("out.npy").toString());
    assertEquals(4, result.status(), result::err);
    assertTrue(result.err().contains(missing), result::err);
    Result info = run(Map.of("CULEBRA_DRIVER", missing), LAUNCHER.toString(), "info");
    assertEquals(4, info.status(), info::err);
    assertTrue(info.out().contains(missing), info::out);
    assertEquals(List.of("in.npy"), names());
  }

  @Test
  void anInterruptedRunLeavesNothing() throws Exception {
    assumeFalse(isInterruptIgnored(), "the test itself was started with SIGINT ignored");
    int rows = 4096;
    int length = 4096;
    Path in =
        TensorFiles.write(
            folder.resolve("in.npy"), DType.F32, new double[rows * length], rows, length);
    Process process =
        builder(
                Map.of(),
                LAUNCHER.toString(),
                "softmax",
                in.toString(),
                "-o",
                folder.resolve("out.npy").toString())
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .redirectError(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
      while (names().size() < 2) {
        if (!process.isAlive() || System.nanoTime() > deadline) {
          fail("no output was begun");
        }
        Thread.sleep(5);
      }
      assertTrue(names().stream().anyMatch(name -> name.endsWith(".partial")), names()::toString);
      new ProcessBuilder("kill", "-INT", Long.toString(process.pid())).start().waitFor();
      assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    } finally {
      process.destroyForcibly();
    }
    assertEquals(130, process.exitValue());
    assertEquals(List.of("in.npy"), names());
  }

  @Test
  void aJavaThatCannotBeRunIsNamed() throws Exception {
    Result result = run(Map.of("CULEBRA_JAVA", "/no/such/java"), LAUNCHER.toString(), "--version");
    assertEquals(2, result.status());
    assertTrue(result.err().contains("CULEBRA_JAVA is /no/such/java"), result::err);
  }

  /** An environment that names no driver; an empty value counts as none. */
  private static final Map<String, String> UNNAMED =
      Map.of("CULEBRA_DRIVER", "", "CULEBRA_KERNELS", "");

  private Result run(Map<String, String> environment, String... command) throws Exception {
    Path out = folder.resolveSibling(folder.getFileName() + ".out");
    Path err = folder.resolveSibling(folder.getFileName() + ".err");
    try {
      int status =
          builder(environment, command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start()
              .waitFor();
      return new Result(status, text(out), text(err));
    } finally {
      Files.deleteIfExists(out);
      Files.deleteIfExists(err);
    }
  }

  private ProcessBuilder builder(Map<String, String> environment, String... command) {
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().putAll(environment);
    return builder;
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static List<Double> boxed(double[] values) {
    List<Double> list = new ArrayList<>();
    for (double value : values) {
      list.add(value);
    }
    return list;
  }

  private static String text(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Background jobs of some shells begin so, and the JVM then leaves it at that. */
  private static boolean isInterruptIgnored() throws IOException {
    Path status = Path.of("/proc/self/status");
    if (!Files.exists(status)) {
      return false;
    }
    return Files.readAllLines(status).stream()
        .filter(line -> line.startsWith("SigIgn:"))
        .map(line -> Long.parseUnsignedLong(line.substring("SigIgn:".length()).strip(), 16))
        .anyMatch(mask -> (mask & 0b10) != 0);
  }
}

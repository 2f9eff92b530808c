package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culebra.io.DType;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.Judgement;
import dev.culebra.testkit.ReductionReference;
import dev.culebra.testkit.SoftmaxReference;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
  void aRowMayBeLargerThanTheDevice() throws Exception {
    int length = 1 << 20;
    double[] logits = HardInput.NORMAL.rows(2, length, StorageType.F32, 1);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, logits, 2, length);
    Path out = folder.resolve("out.npy");
    String[] command = {LAUNCHER.toString(), "softmax", in.toString(), "-o", out.toString()};
    Result result = run(Map.of("CULEBRA_EMU_MEMORY", "2097152"), command);
    assertEquals(0, result.status(), result::err);
    Judgement.assertClose(
        SoftmaxReference.rows(logits, length, 1, false),
        TensorFiles.read(out).values(),
        4e-6,
        0x1p-126);
  }

  /** Its pieces go through four streams, and the same comes out in whatever order blocks run. */
  @Test
  void aReducedRowMayBeLargerThanTheDevice() throws Exception {
    int length = 1 << 20;
    double[] values = HardInput.NORMAL.rows(2, length, StorageType.F32, 2);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, 2, length);
    for (ReductionReference reduction :
        List.of(ReductionReference.SUM, ReductionReference.ARGMAX)) {
      String[] command = {
        LAUNCHER.toString(),
        "reduce",
        in.toString(),
        "--op",
        reduction.name().toLowerCase(Locale.ROOT)
      };
      Result result = run(Map.of("CULEBRA_EMU_MEMORY", "2097152"), command);
      assertEquals(0, result.status(), result::err);
      Judgement.assertClose(
          reduction.rows(values, 2, length),
          result.out().lines().mapToDouble(Double::parseDouble).toArray(),
          1e-6,
          0);
      Map<String, String> shuffled =
          Map.of("CULEBRA_EMU_MEMORY", "2097152", "CULEBRA_EMU_SHUFFLE", "7");
      assertEquals(result.out(), run(shuffled, command).out());
    }
  }

  /** Of few rows: what comes of a column takes more memory than the column. */
  @Test
  void reducedColumnsMayBeLargerThanTheDevice() throws Exception {
    int columns = 100_000;
    double[] values = HardInput.NORMAL.rows(3, columns, StorageType.F32, 3);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, values, 3, columns);
    Path out = folder.resolve("out.npy");
    Result result =
        run(
            Map.of("CULEBRA_EMU_MEMORY", "400000"),
            LAUNCHER.toString(),
            "reduce",
            in.toString(),
            "--op",
            "logsumexp",
            "--axis",
            "first",
            "-o",
            out.toString());
    assertEquals(0, result.status(), result::err);
    double[] actual = TensorFiles.read(out).values();
    for (int c = 0; c < columns; c++) {
      double[] column = {values[c], values[columns + c], values[2 * columns + c]};
      assertEquals(ReductionReference.LOGSUMEXP.of(column), actual[c], 1e-5);
    }
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
  void infoTellsOfKernelsThatWereNamedAndAreNotThere() throws Exception {
    Path nowhere = folder.resolve("nowhere");
    Result info = run(Map.of("CULEBRA_KERNELS", nowhere.toString()), LAUNCHER.toString(), "info");
    assertEquals(4, info.status(), info::err);
    assertTrue(info.out().contains("there is no kernels.index in " + nowhere), info::out);
    assertFalse(info.out().contains("\tat "), info::out);
    Files.createDirectory(nowhere);
    Files.write(nowhere.resolve("kernels.index"), new byte[] {1, 2, 3});
    Result damaged =
        run(Map.of("CULEBRA_KERNELS", nowhere.toString()), LAUNCHER.toString(), "info");
    assertEquals(4, damaged.status(), damaged::err);
    assertTrue(damaged.out().contains("is damaged, line 1"), damaged::out);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "no table",
        "CULEBRA_SOFTMAX(online, f32, 0, \"\")",
        "CULEBRA_SOFTMAX(online, f32, 4096, \"\")",
        "CULEBRA_SOFTMAX(online, f32)",
        ""
      })
  void aDamagedLaunchTableIsTold(String table) throws Exception {
    Path kernels = Path.of(Objects.requireNonNull(System.getenv("CULEBRA_KERNELS")));
    Path root = Files.createDirectory(folder.resolve("kernels"));
    try (Stream<Path> files = Files.list(kernels)) {
      for (Path file : files.toList()) {
        Files.createSymbolicLink(root.resolve(file.getFileName()), file);
      }
    }
    Files.delete(root.resolve("softmax.def"));
    Files.writeString(root.resolve("softmax.def"), table);
    Path in = TensorFiles.write(folder.resolve("in.npy"), DType.F32, new double[] {5, 5}, 1, 2);
    Result result =
        run(
            Map.of("CULEBRA_KERNELS", root.toString()),
            LAUNCHER.toString(),
            "softmax",
            "--algorithm",
            "online",
            in.toString(),
            "-o",
            folder.resolve("out.npy").toString());
    assertEquals(4, result.status(), result::err);
    assertFalse(result.err().contains("\tat "), result::err);
    assertEquals(List.of("in.npy", "kernels"), names());
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
  void aJavaThatIsTooOldOrNoneIsNamed() throws Exception {
    Path old = Files.createDirectories(folder.resolve("old/bin")).resolve("java");
    Files.writeString(folder.resolve("old/release"), "JAVA_VERSION=\"17.0.12\"\n");
    Files.writeString(old, "#!/bin/sh\necho started\n");
    Files.setPosixFilePermissions(old, PosixFilePermissions.fromString("rwxr-xr-x"));
    Result tooOld = run(Map.of("CULEBRA_JAVA", old.toString()), LAUNCHER.toString(), "--version");
    assertEquals(2, tooOld.status());
    assertEquals(
        "culebra: CULEBRA_JAVA is " + old + ", which is Java 17; it must be 22 or newer\n",
        tooOld.err());
    assertEquals("", tooOld.out());
    Result aFolder =
        run(Map.of("CULEBRA_JAVA", folder.toString()), LAUNCHER.toString(), "--version");
    assertEquals(2, aFolder.status());
    assertEquals(1, aFolder.err().lines().count(), aFolder::err);
    assertTrue(aFolder.err().contains("which cannot be run"), aFolder::err);
  }

  /**
   * The archive of classes, which the JVM makes, in a copy of the work tree as the launcher sees
   * it.
   */
  @Test
  void aDamagedArchiveOfClassesIsNoMatter() throws Exception {
    Path root = Path.of(Objects.requireNonNull(System.getenv("CULEBRA_ROOT")));
    Path copy = Files.createDirectory(folder.resolve("root"));
    Path launcher = Files.createDirectory(copy.resolve("bin")).resolve("culebra");
    Files.copy(LAUNCHER, launcher, StandardCopyOption.COPY_ATTRIBUTES);
    Files.createSymbolicLink(copy.resolve("make"), root.resolve("make"));
    Path target = Files.createDirectories(copy.resolve("cli/target"));
    Path lib = Files.createDirectory(target.resolve("lib"));
    try (Stream<Path> jars = Files.list(root.resolve("cli/target/lib"))) {
      for (Path jar : jars.toList()) {
        Files.createSymbolicLink(lib.resolve(jar.getFileName()), jar);
      }
    }
    Path archive = target.resolve("culebra.jsa");
    Result first = run(Map.of(), launcher.toString(), "--version");
    assertEquals(0, first.status(), first::err);
    byte[] whole = Files.readAllBytes(archive);
    for (int[] damage :
        new int[][] {{0, 4}, {4, 600}, {64, 200}, {whole.length / 2, 200_000}, {0, whole.length}}) {
      byte[] damaged = whole.clone();
      Arrays.fill(damaged, damage[0], damage[0] + damage[1], (byte) 0x5A);
      assertUnharmed(launcher, archive, damaged, first);
    }
    for (int length : new int[] {0, 100, whole.length / 2, whole.length - 1}) {
      assertUnharmed(launcher, archive, Arrays.copyOf(whole, length), first);
    }
  }

  private void assertUnharmed(Path launcher, Path archive, byte[] content, Result wanted)
      throws Exception {
    Files.write(archive, content);
    assertEquals(wanted, run(Map.of(), launcher.toString(), "--version"));
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

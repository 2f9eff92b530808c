package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.culebra.ops.LaunchTableFuzz;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Inputs that a fuzzer found, through the targets that fuzzers call. A finding of {@code make fuzz}
 * is kept by putting its file into the target's folder.
 */
public class FuzzRegressionTest {

  @TestFactory
  Stream<DynamicTest> kernelImage() throws Exception {
    return inputs("kernel-image", KernelImageFuzz::fuzzerTestOneInput);
  }

  @TestFactory
  Stream<DynamicTest> kernelIndex() throws Exception {
    return inputs("kernel-index", KernelIndexFuzz::fuzzerTestOneInput);
  }

  @TestFactory
  Stream<DynamicTest> launchTable() throws Exception {
    return inputs("launch-table", LaunchTableFuzz::fuzzerTestOneInput);
  }

  private static Stream<DynamicTest> inputs(String folder, Consumer<byte[]> target)
      throws Exception {
    URI place =
        Objects.requireNonNull(
                FuzzRegressionTest.class.getResource("fuzz/" + folder), () -> "no folder " + folder)
            .toURI();
    if (!place.getScheme().equals("jar")) {
      return tests(Path.of(place), target).stream();
    }
    try (FileSystem jar = FileSystems.newFileSystem(place, Map.of())) {
      return tests(jar.provider().getPath(place), target).stream();
    }
  }

  private static List<DynamicTest> tests(Path folder, Consumer<byte[]> target) throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      for (Path file : files.sorted().toList()) {
        byte[] input = Files.readAllBytes(file);
        tests.add(
            dynamicTest(
                file.getFileName().toString(),
                () -> assertDoesNotThrow(() -> target.accept(input))));
      }
    }
    return tests;
  }

  /** A refusal says of what it speaks, and why. */
  public static void checkMessage(RuntimeException e, String about) {
    String message = String.valueOf(e.getMessage());
    if (!message.contains(about) || message.length() < 8) {
      throw new AssertionError("a refusal that does not say of what, or why: " + message, e);
    }
  }
}

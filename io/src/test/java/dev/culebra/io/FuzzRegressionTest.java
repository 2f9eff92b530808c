package dev.culebra.io;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/**
 * Inputs that a fuzzer found, and the ordinary fixtures, through the targets that fuzzers call. A
 * finding of {@code make fuzz} is kept by putting its file into the target's folder.
 */
class FuzzRegressionTest {

  interface Target {
    void accept(byte[] data) throws IOException;
  }

  @TestFactory
  Stream<DynamicTest> npy() throws Exception {
    return Stream.concat(
        inputs("fuzz/npy", "", NpyFuzz::fuzzerTestOneInput),
        inputs("", ".npy", NpyFuzz::fuzzerTestOneInput));
  }

  @TestFactory
  Stream<DynamicTest> safetensors() throws Exception {
    return Stream.concat(
        inputs("fuzz/safetensors", "", SafetensorsFuzz::fuzzerTestOneInput),
        inputs("", ".safetensors", SafetensorsFuzz::fuzzerTestOneInput));
  }

  private static Stream<DynamicTest> inputs(String folder, String suffix, Target target)
      throws Exception {
    URI place =
        Objects.requireNonNull(
                FuzzRegressionTest.class.getResource(folder.isEmpty() ? "." : folder),
                () -> "no folder " + folder)
            .toURI();
    try (Stream<Path> files = Files.list(Path.of(place))) {
      return files
          .filter(file -> Files.isRegularFile(file) && file.toString().endsWith(suffix))
          .sorted()
          .map(
              file ->
                  dynamicTest(
                      file.getFileName().toString(),
                      () -> assertDoesNotThrow(() -> target.accept(Files.readAllBytes(file)))))
          .toList()
          .stream();
    }
  }

  /** A refusal names the file and has a reason that a terminal can show. */
  static void checkMessage(TensorFormatException e) {
    String message = String.valueOf(e.getMessage());
    if (!message.startsWith("fuzz.") || message.length() < 15) {
      throw new AssertionError("a refusal without file or reason: " + message, e);
    }
    if (message.chars().anyMatch(Character::isISOControl)) {
      throw new AssertionError("a refusal with control characters of the file's", e);
    }
  }
}

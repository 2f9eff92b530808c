package dev.culebra.generated;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is committed is what `make generate` wrote, and nothing that must not be in it is. */
class ManifestTest {
  private static final Path OUTPUT = Path.of("src/jextract");
  private static final int FUNCTIONS = 449;

  @Test
  @DisplayName("every output file has the hash of MANIFEST, and there is no other file")
  void outputIsUntouched() throws Exception {
    Map<String, String> expected = new TreeMap<>();
    for (String[] line : manifest("sha256")) expected.put(line[2], line[1]);
    Map<String, String> actual = new TreeMap<>();
    for (Path file : outputFiles()) {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
      actual.put(file.toString().replace('\\', '/'), HexFormat.of().formatHex(digest));
    }
    assertEquals(expected, actual, "hand-edited? run `make generate`");
  }

  @Test
  void headerVersionIsThatOfTheClasses() throws IOException {
    assertEquals(Integer.toString(cuda_h.CUDA_VERSION()), manifest("cuda_version").getFirst()[1]);
  }

  @Test
  @DisplayName("449 functions, each with a line in driver-functions.tsv")
  void allFunctions() throws IOException {
    Set<String> inClass =
        Arrays.stream(cuda_h.class.getDeclaredMethods())
            .map(Method::getName)
            .filter(name -> name.startsWith("cu") && name.endsWith("$descriptor"))
            .map(name -> name.substring(0, name.indexOf('$')))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> inTable =
        DriverFunction.all().stream()
            .map(DriverFunction::symbol)
            .collect(Collectors.toCollection(TreeSet::new));
    assertEquals(FUNCTIONS, inClass.size());
    assertEquals(inClass, inTable);
    assertEquals(Integer.toString(FUNCTIONS), manifest("functions").getFirst()[1]);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"C_LONG", "findOrThrow", "libraryLookup", "loaderLookup", "withTargetLayout"})
  void rewritesLeftNothing(String forbidden) throws IOException {
    for (Path file : outputFiles()) {
      // C_LONG_LONG is 64 bits everywhere.
      String text = Files.readString(file).replace("C_LONG_LONG", "");
      assertFalse(text.contains(forbidden), () -> file + " has " + forbidden);
    }
  }

  private static List<String[]> manifest(String key) throws IOException {
    return Files.readAllLines(Path.of("MANIFEST")).stream()
        .map(line -> line.split("\t", -1))
        .filter(fields -> fields[0].equals(key))
        .toList();
  }

  private static List<Path> outputFiles() throws IOException {
    try (Stream<Path> files = Files.walk(OUTPUT)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }
}

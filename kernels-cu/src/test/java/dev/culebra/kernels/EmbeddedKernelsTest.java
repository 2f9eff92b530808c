package dev.culebra.kernels;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EmbeddedKernelsTest {

  @Test
  void opensAFileBesideTheClassAndBelow() throws IOException {
    assertEquals("not an image", new String(read("sm_0/probe.cubin"), StandardCharsets.UTF_8));
  }

  @Test
  void aFileThatIsNotThereIsNull() {
    assertNull(EmbeddedKernels.open("sm_0/none.cubin"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "/kernels.index",
        "../kernels/sm_0/probe.cubin",
        "sm_0/../../kernels.index",
        "./x",
        "sm_0//x",
        "sm_0/"
      })
  void aNameThatLeavesTheRootIsRefused(String name) {
    assertThrows(IllegalArgumentException.class, () -> EmbeddedKernels.open(name));
  }

  /** Only after `make -C kernels-cu`; a jar without kernels is legal. */
  @Test
  void everyImageOfTheIndexIsThereByteForByte() throws IOException {
    List<String[]> lines = index();
    assertEquals(List.of("culebra-kernels", "1"), List.of(lines.getFirst()));
    assertAll(
        lines.stream()
            .filter(line -> line[0].equals("image"))
            .map(
                image ->
                    () -> {
                      byte[] bytes = read(image[3]);
                      assertEquals(Long.parseLong(image[4]), bytes.length, image[3]);
                      assertEquals(image[5], sha256(bytes), image[3]);
                    }));
  }

  @Test
  void everyKernelOfTheIndexHasParametersAndEveryFamilyATable() throws IOException {
    List<String[]> lines = index();
    List<String[]> kernels = lines.stream().filter(line -> line[0].equals("kernel")).toList();
    assertTrue(kernels.size() > 1, "kernels in the index");
    for (String[] kernel : kernels) {
      assertTrue(
          lines.stream().anyMatch(line -> line[0].equals("param") && line[1].equals(kernel[1])),
          kernel[1]);
      assertNotNull(EmbeddedKernels.open(kernel[2] + ".def"), kernel[2]);
    }
  }

  private static List<String[]> index() throws IOException {
    assumeTrue(isBuilt(), "the native build has not run");
    return new String(read("kernels.index"), StandardCharsets.UTF_8)
        .lines()
        .filter(line -> !line.startsWith("#"))
        .map(line -> line.split("\t", -1))
        .toList();
  }

  private static boolean isBuilt() throws IOException {
    try (InputStream index = EmbeddedKernels.open("kernels.index")) {
      return index != null;
    }
  }

  private static byte[] read(String name) throws IOException {
    try (InputStream file = EmbeddedKernels.open(name)) {
      assertNotNull(file, name);
      return file.readAllBytes();
    }
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JDK has SHA-256", e);
    }
  }
}

package dev.culebra;

import static dev.culebra.Messages.assertTells;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.bindings.InvalidImageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelCatalogTest extends DeviceTier {

  @TempDir Path folder;

  private KernelCatalog catalogOf(String... lines) throws IOException {
    Files.writeString(
        folder.resolve("kernels.index"),
        ("culebra-kernels|1\n" + String.join("\n", lines) + "\n").replace('|', '\t'));
    return KernelCatalog.open(folder);
  }

  @Test
  void everyKernelOfTheRootFitsTheDriversViewOfIt() {
    KernelCatalog catalog = KernelCatalog.open();
    assertFalse(catalog.kernels().isEmpty());
    assertFalse(catalog.images().isEmpty());
    for (String symbol : catalog.kernels()) {
      Kernel kernel = catalog.kernel(context, symbol);
      assertEquals(symbol, kernel.name());
      assertTrue(kernel.isVerified());
      assertTrue(kernel.maxThreadsPerBlock() >= 32);
    }
  }

  @Test
  void anotherNameIsToldWithNearOnes() {
    assertTells(
        assertThrows(
            IllegalArgumentException.class,
            () -> KernelCatalog.open().kernel(context, "culebra_softmax_onlin_f32")),
        "culebra_softmax_onlin_f32",
        "near names are [culebra_softmax_online_f32");
  }

  @Test
  void aRootWithoutAnIndexOrWithADamagedOneIsTold() throws IOException {
    assertTells(
        assertThrows(InvalidImageException.class, () -> KernelCatalog.open(folder)),
        "kernels.index",
        folder.toString(),
        "make kernels");
    assertTells(
        assertThrows(InvalidImageException.class, () -> catalogOf("image|x")), "line 2", "damaged");
  }

  @Test
  void aDeviceThatNoImageFitsIsToldWithThoseThereAre() throws IOException {
    KernelCatalog catalog =
        catalogOf(
            "image|f|sm_10|sm_10/f.cubin|1|00",
            "image|g|compute_10|x|1|00",
            "kernel|k|f|32",
            "kernel|m|none|32");
    assertTells(
        assertThrows(InvalidImageException.class, () -> catalog.kernel(context, "k")),
        "family f",
        "sm_" + context.device().computeCapability().sm(),
        "[sm_10]",
        "make kernels ARCHS=");
    assertTells(
        assertThrows(InvalidImageException.class, () -> catalog.kernel(context, "m")),
        "none at all");
  }

  @Test
  void anImageThatIsMissingOrNotTheOneListedIsRefused() throws IOException {
    KernelCatalog catalog =
        catalogOf("image|f|compute_10|f.ptx|4|" + "0".repeat(64), "kernel|k|f|32");
    assertTells(
        assertThrows(InvalidImageException.class, () -> catalog.kernel(context, "k")),
        "f.ptx",
        "is not in");
    Files.writeString(folder.resolve("f.ptx"), "four");
    assertTells(
        assertThrows(InvalidImageException.class, () -> catalog.kernel(context, "k")),
        "f.ptx",
        "SHA-256");
  }

  @Test
  void aKernelThatAllowsFewerThreadsThanTheIndexSaysIsRefused() throws IOException {
    String symbol = "culebra_selftest_fill_f32";
    KernelRoot root = KernelRoot.configured();
    String index = new String(root.read("kernels.index").orElseThrow(), UTF_8);
    String wrong = index.replaceFirst("(kernel\t" + symbol + "\tselftest\t)\\d+", "$14096");
    assertNotEquals(index, wrong);
    Files.writeString(folder.resolve("kernels.index"), wrong);
    for (KernelCatalog.Image image : KernelCatalog.open().images()) {
      Path copy = folder.resolve(image.file());
      Files.createDirectories(copy.getParent());
      Files.write(copy, root.read(image.file()).orElseThrow());
    }
    KernelCatalog catalog = KernelCatalog.open(folder);
    assertTells(
        assertThrows(InvalidImageException.class, () -> catalog.kernel(context, symbol)),
        symbol,
        "the index says 4096",
        "build the kernels again");
  }

  @Test
  void filesOutsideOfTheRootAreNotRead() throws IOException {
    Path inner = Files.createDirectory(folder.resolve("inner"));
    Files.writeString(folder.resolve("secret.def"), "x");
    assertTrue(new KernelRoot.Folder(inner).read("../secret.def").isEmpty());
    assertTrue(new KernelRoot.Folder(folder).read("secret.def").isPresent());
  }
}

package dev.culebra;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.culebra.bindings.InvalidImageException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * A kernel root: the index of its kernels, their launch tables, and their images for several
 * architectures.
 *
 * <p>Culebra's own come from the jar of {@code culebra-kernels-cu}, or from the folder that the
 * system property {@code culebra.kernels} or the environment variable {@code CULEBRA_KERNELS}
 * names. A folder with kernels of a user's own is made by {@code culebra-image}.
 *
 * <p>Immutable; any thread may use it.
 */
public final class KernelCatalog {

  /**
   * An image in the catalog.
   *
   * @param family the kernels it holds, such as {@code softmax}
   * @param target what it was compiled for
   * @param file its file within the kernel root
   * @param byteSize its size in bytes
   * @param sha256 the SHA-256 of its bytes, in lower case hex
   */
  public record Image(
      String family, KernelTarget target, String file, long byteSize, String sha256) {}

  private static final String INDEX = "kernels.index";

  private final KernelRoot root;
  private final KernelIndex index;

  private KernelCatalog(KernelRoot root, KernelIndex index) {
    this.root = root;
    this.index = index;
  }

  /**
   * Opens the kernel root in use and reads its index.
   *
   * @return the catalog
   * @throws InvalidImageException if there is no index, or it is damaged
   */
  public static KernelCatalog open() {
    return open(KernelRoot.configured());
  }

  /**
   * Opens a folder, such as {@code culebra-image} makes of a user's own kernels.
   *
   * @param folder the kernel root
   * @return the catalog
   * @throws InvalidImageException if there is no index, or it is damaged
   */
  public static KernelCatalog open(Path folder) {
    return open(new KernelRoot.Folder(folder));
  }

  static KernelCatalog open(KernelRoot root) {
    byte[] bytes =
        root.read(INDEX)
            .orElseThrow(
                () ->
                    InvalidImage.because(
                        "there is no "
                            + INDEX
                            + " in "
                            + root
                            + ": build the kernels with 'make kernels', or name a folder that has them"));
    try {
      return new KernelCatalog(root, KernelIndex.parse(new String(bytes, UTF_8).lines().toList()));
    } catch (IllegalArgumentException e) {
      throw InvalidImage.because(INDEX + " in " + root + " is damaged, " + e.getMessage());
    }
  }

  /** {@return the symbols of all kernels, sorted} */
  public Set<String> kernels() {
    return java.util.Collections.unmodifiableSet(new TreeSet<>(index.kernels().keySet()));
  }

  /** {@return all images} */
  public List<Image> images() {
    return index.images();
  }

  /** {@return where the kernels come from, for people} */
  public String origin() {
    return root.toString();
  }

  /**
   * The launch table of a family, the file that the kernels themselves include.
   *
   * @param family such as {@code softmax}
   * @return the lines of {@code family.def}
   * @throws InvalidImageException if the root has none
   */
  public List<String> launchTable(String family) {
    String name = family + ".def";
    return root.read(name)
        .map(bytes -> new String(bytes, UTF_8).lines().toList())
        .orElseThrow(
            () -> InvalidImage.because("there is no launch table " + name + " in " + root));
  }

  /**
   * Binds a kernel for a context: chooses the best image for its device, loads it unless this
   * context has it already, and compares the driver's view of the parameters and of the most
   * threads a block with the index.
   *
   * @param context the context to run in
   * @param symbol the kernel's name
   * @return the kernel; it lives as long as the context
   * @throws IllegalArgumentException if there is no kernel of that name
   * @throws InvalidImageException if no image fits the device, its file is missing or not what the
   *     index says, or the kernel allows fewer threads than the index says
   */
  public Kernel kernel(Context context, String symbol) {
    KernelIndex.Entry entry = index.kernels().get(symbol);
    if (entry == null) {
      throw new IllegalArgumentException(
          "there is no kernel "
              + symbol
              + " in "
              + root
              + NearNames.hint(symbol, index.kernels().keySet()));
    }
    Image image = choose(entry.family(), context.device().computeCapability());
    CudaLibrary library = context.sharedLibrary(image.sha256(), () -> read(image));
    Kernel kernel = library.kernel(symbol, entry.signature());
    if (kernel.maxThreadsPerBlock() < entry.maxThreads()) {
      throw InvalidImage.because(
          "kernel "
              + symbol
              + " of "
              + image.file()
              + " allows "
              + kernel.maxThreadsPerBlock()
              + " threads a block, the index says "
              + entry.maxThreads()
              + "; build the kernels again");
    }
    return kernel;
  }

  private Image choose(String family, ComputeCapability device) {
    return index
        .choose(family, device)
        .orElseThrow(
            () -> {
              List<String> targets =
                  index.images().stream()
                      .filter(image -> image.family().equals(family))
                      .map(image -> image.target().toString())
                      .sorted()
                      .toList();
              return InvalidImage.because(
                  "no image of the kernel family "
                      + family
                      + " fits sm_"
                      + device.sm()
                      + "; "
                      + root
                      + " has "
                      + (targets.isEmpty() ? "none at all" : targets)
                      + "; build it with 'make kernels ARCHS="
                      + device.sm()
                      + "'");
            });
  }

  private KernelImage read(Image image) {
    byte[] bytes =
        root.read(image.file())
            .orElseThrow(
                () ->
                    InvalidImage.because(
                        "the index lists " + image.file() + ", but it is not in " + root));
    if (bytes.length != image.byteSize() || !sha256(bytes).equals(image.sha256())) {
      throw InvalidImage.because(
          image.file()
              + " in "
              + root
              + " is not the image that the index lists (its size or SHA-256 differs); build the kernels again");
    }
    return KernelImage.of(image.file(), bytes);
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }
}

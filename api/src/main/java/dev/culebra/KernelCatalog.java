package dev.culebra;

/** Culebra's own kernels. */
public final class KernelCatalog {

  private KernelCatalog() {}

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
}

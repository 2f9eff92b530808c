package dev.culebra;

import dev.culebra.bindings.InvalidImageException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Compiled kernels as bytes, checked: a cubin (machine code for one architecture) or PTX.
 *
 * <p>The check matters. The driver crashes the process when a cubin is cut off near its end, and
 * answers one code for several different mistakes. An image that can be made here has all its
 * tables inside the file and names its architecture.
 *
 * <p>Immutable; any thread may use it.
 */
public final class KernelImage {

  /** What the bytes are. */
  public enum Format {
    /** Machine code in an ELF file, as {@code nvcc -cubin} writes it. */
    CUBIN,
    /** PTX text, as {@code nvcc -ptx} writes it. */
    PTX
  }

  private static final int FAT_BINARY_MAGIC = 0xBA55ED50;

  private final String name;
  private final byte[] bytes;
  private final Format format;
  private final ComputeCapability capability;
  private final List<String> entryPoints;

  private KernelImage(
      String name,
      byte[] bytes,
      Format format,
      ComputeCapability capability,
      List<String> entryPoints) {
    this.name = name;
    this.bytes = bytes;
    this.format = format;
    this.capability = capability;
    this.entryPoints = entryPoints;
  }

  /**
   * Checks an image.
   *
   * @param name what messages call it, such as its file name
   * @param bytes the image; copied
   * @return the image
   * @throws InvalidImageException if it is neither a cubin nor PTX, is cut off, or is damaged
   */
  public static KernelImage of(String name, byte[] bytes) {
    byte[] image = bytes.clone();
    try {
      if (image.length == 0) {
        throw new MalformedImage("it is empty");
      }
      if (ElfCubin.looksLike(image)) {
        ElfCubin.Summary cubin = ElfCubin.read(image);
        return new KernelImage(name, image, Format.CUBIN, cubin.capability(), cubin.entryPoints());
      }
      if (PtxText.looksLike(image)) {
        PtxText ptx = PtxText.read(image);
        return new KernelImage(name, image, Format.PTX, ptx.capability(), ptx.entryPoints());
      }
      if (isFatBinary(image)) {
        throw new MalformedImage("it is a fat binary; compile with -cubin or -ptx instead");
      }
      throw new MalformedImage("it is neither a cubin (ELF) nor PTX");
    } catch (MalformedImage e) {
      throw InvalidImage.because("kernel image " + name + " cannot be loaded: " + e.what());
    }
  }

  /**
   * Reads and checks an image.
   *
   * @param file a cubin or PTX file
   * @return the image, named as the file
   * @throws IOException if the file cannot be read
   * @throws InvalidImageException as {@link #of} says
   */
  public static KernelImage read(Path file) throws IOException {
    return of(file.toString(), Files.readAllBytes(file));
  }

  /** {@return what messages call the image} */
  public String name() {
    return name;
  }

  /** {@return what the bytes are} */
  public Format format() {
    return format;
  }

  /**
   * The architecture the image was compiled for. Whether code for 9.0 uses features of exactly 9.0
   * (sm_90a) cannot be seen.
   *
   * @return the compute capability
   */
  public ComputeCapability capability() {
    return capability;
  }

  /**
   * The kernels that the image seems to hold, for messages; a cubin may name device functions too.
   *
   * @return symbols, perhaps none
   */
  public List<String> entryPoints() {
    return entryPoints;
  }

  /** {@return the size in bytes} */
  public int byteSize() {
    return bytes.length;
  }

  /**
   * A copy of the bytes.
   *
   * @return the image as it was given
   */
  public byte[] toByteArray() {
    return bytes.clone();
  }

  /** Why a device cannot run this image, if so. */
  Optional<String> misfit(ComputeCapability device) {
    KernelTarget.Form form =
        format == Format.PTX ? KernelTarget.Form.PTX : KernelTarget.Form.MACHINE_CODE;
    if (new KernelTarget(form, capability).fits(device)) {
      return Optional.empty();
    }
    return Optional.of(
        "kernel image "
            + name
            + " is "
            + (format == Format.PTX ? "PTX for compute_" : "machine code for sm_")
            + capability.sm()
            + ", the device is sm_"
            + device.sm()
            + "; compile it with -arch=sm_"
            + device.sm());
  }

  private static boolean isFatBinary(byte[] image) {
    return image.length >= 4
        && ((image[0] & 0xff)
                | (image[1] & 0xff) << 8
                | (image[2] & 0xff) << 16
                | (image[3] & 0xff) << 24)
            == FAT_BINARY_MAGIC;
  }

  /** {@return name, format and architecture} */
  @Override
  public String toString() {
    return name + " (" + format + " " + capability + ", " + bytes.length + " bytes)";
  }
}

package dev.culebra;

import dev.culebra.bindings.InvalidImageException;
import java.util.Arrays;

/**
 * What a fuzzer calls with bytes for a kernel image: the answer is an image that says of itself
 * what it is, or an {@link InvalidImageException}.
 */
public final class KernelImageFuzz {
  private KernelImageFuzz() {}

  /** Called by Jazzer, and by {@link FuzzRegressionTest} with what was found. */
  public static void fuzzerTestOneInput(byte[] data) {
    KernelImage image;
    try {
      image = KernelImage.of("fuzz", data);
    } catch (InvalidImageException e) {
      FuzzRegressionTest.checkMessage(e, "fuzz");
      return;
    }
    if (!Arrays.equals(data, image.toByteArray())) {
      throw new AssertionError("the image is not the bytes it was made of");
    }
    image.misfit(new ComputeCapability(9, 0));
    for (String entry : image.entryPoints()) {
      if (entry.isEmpty()) {
        throw new AssertionError("an entry point without a name");
      }
    }
  }
}

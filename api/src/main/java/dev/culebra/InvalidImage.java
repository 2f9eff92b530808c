package dev.culebra;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.InvalidImageException;

/** Makes the exception of an image that we refuse, the same that the driver's refusal gives. */
final class InvalidImage {

  private static final String FUNCTION = "cuLibraryLoadData";

  private InvalidImage() {}

  static InvalidImageException because(String why) {
    return make(CudaResult.INVALID_IMAGE, why);
  }

  static InvalidImageException noCodeForDevice(String why) {
    return make(CudaResult.NO_BINARY_FOR_GPU, why);
  }

  private static InvalidImageException make(CudaResult result, String why) {
    return (InvalidImageException) CudaException.of(FUNCTION, result.code(), why);
  }
}

package dev.culebra.ops;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;

/**
 * Makes the exception of a kernel root whose parts do not fit each other or this library: anybody
 * can name one, so it is no fault of ours, and an unloadable image would be told in the same way.
 */
final class DamagedRoot {

  private DamagedRoot() {}

  static CudaException because(String why) {
    return CudaException.of(
        "cuLibraryLoadData",
        CudaResult.INVALID_IMAGE.code(),
        why + "; build the kernels again, or name a folder of this version's");
  }
}

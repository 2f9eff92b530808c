package dev.culebra.bindings;

/**
 * An allocation found no memory: on the device or, for pinned memory, on the host. Not sticky: free
 * something and go on.
 */
public final class OutOfDeviceMemoryException extends CudaException {
  private static final long serialVersionUID = 1;

  OutOfDeviceMemoryException(String function, CudaResult result, String driverText, String hint) {
    super(function, result, driverText, hint);
  }
}

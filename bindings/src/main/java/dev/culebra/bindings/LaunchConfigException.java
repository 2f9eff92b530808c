package dev.culebra.bindings;

/**
 * The driver refused a launch: grid, block, cluster or shared memory do not fit the kernel or the
 * device.
 */
public final class LaunchConfigException extends CudaException {
  private static final long serialVersionUID = 1;

  LaunchConfigException(String function, CudaResult result, String driverText, String hint) {
    super(function, result, driverText, hint);
  }
}

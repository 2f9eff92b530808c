package dev.culebra.bindings;

/** The installed driver is too old for a function. All others can be used. */
public final class UnsupportedByDriverException extends CudaException {
  private static final long serialVersionUID = 1;

  private final int requiredVersion;
  private final int driverVersion;

  UnsupportedByDriverException(String function, int requiredVersion, int driverVersion) {
    this(
        function,
        requiredVersion,
        driverVersion,
        "it needs a driver for CUDA %s or newer, the installed one is for CUDA %s: update the driver"
            .formatted(Versions.format(requiredVersion), Versions.format(driverVersion)));
  }

  private UnsupportedByDriverException(
      String function, int requiredVersion, int driverVersion, String hint) {
    super(
        function + " is not in this driver; " + hint,
        function,
        CudaResult.NOT_FOUND,
        "",
        hint,
        null);
    this.requiredVersion = requiredVersion;
    this.driverVersion = driverVersion;
  }

  /** The CUDA version that brought the function, as 1000 * major + 10 * minor. */
  public int requiredVersion() {
    return requiredVersion;
  }

  /** The CUDA version of the installed driver, as 1000 * major + 10 * minor. */
  public int driverVersion() {
    return driverVersion;
  }
}

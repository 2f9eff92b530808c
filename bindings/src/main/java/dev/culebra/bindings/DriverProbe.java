package dev.culebra.bindings;

import java.io.Serializable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of looking for a driver.
 *
 * @param reason the outcome
 * @param attempts the libraries tried, in order, and what the system's loader answered
 * @param library the library that was opened; null if none was
 * @param driverVersion the CUDA version of the driver, as 1000 * major + 10 * minor; 0 if unknown
 * @param deviceCount the number of devices; 0 if unknown
 * @param initCode the {@code CUresult} of {@code cuInit}; -1 if it was not called
 * @param message one sentence for people: what is the case and, if something is wrong, what to do
 */
public record DriverProbe(
    Reason reason,
    List<Attempt> attempts,
    @Nullable String library,
    int driverVersion,
    int deviceCount,
    int initCode,
    String message)
    implements Serializable {

  /** The possible outcomes. */
  public enum Reason {
    /** There is a driver and at least one device. */
    AVAILABLE,
    /** No library of the driver's name could be opened. */
    NO_LIBRARY,
    /** A library was opened that lacks the driver's functions. */
    NOT_A_DRIVER,
    /** The toolkit's link-time stub was opened instead of a driver. */
    STUB_LIBRARY,
    /** The driver is older than the oldest that Culebra can use. */
    DRIVER_TOO_OLD,
    /** The JVM was not started with permission for native calls. */
    NATIVE_ACCESS_DENIED,
    /** The driver works and sees no device. */
    NO_DEVICE,
    /** {@code cuInit} failed otherwise; {@code initCode} tells how. */
    INIT_FAILED
  }

  /**
   * One library that was tried.
   *
   * @param name the name or path given to the loader
   * @param answer {@code opened}, or the loader's own text
   */
  public record Attempt(String name, String answer) implements Serializable {}

  /** Copies the attempts. */
  public DriverProbe {
    attempts = List.copyOf(attempts);
  }

  /**
   * Looks for the driver, initialises it and counts the devices, anew at each call. Never throws.
   * The driver itself may remember a failure of {@code cuInit} for the life of the process.
   */
  public static DriverProbe run() {
    return DriverLibrary.open().probe();
  }

  /** Whether there is a driver with a device. */
  public boolean isAvailable() {
    return reason == Reason.AVAILABLE;
  }

  /**
   * The nearest {@code CUresult}: that of {@code cuInit}, else {@code CUDA_ERROR_NO_DEVICE} or
   * {@code CUDA_ERROR_NOT_INITIALIZED}.
   */
  public CudaResult result() {
    if (initCode > 0) return CudaResult.of(initCode);
    return switch (reason) {
      case AVAILABLE -> CudaResult.SUCCESS;
      case NO_DEVICE -> CudaResult.NO_DEVICE;
      case STUB_LIBRARY -> CudaResult.STUB_LIBRARY;
      case NO_LIBRARY, NOT_A_DRIVER, DRIVER_TOO_OLD, NATIVE_ACCESS_DENIED, INIT_FAILED ->
          CudaResult.NOT_INITIALIZED;
    };
  }
}

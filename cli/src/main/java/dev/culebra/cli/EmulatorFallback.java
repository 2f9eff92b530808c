package dev.culebra.cli;

import dev.culebra.bindings.DriverProbe;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Selects the emulator where there is no NVIDIA driver, so that Culebra can be tried out anywhere.
 *
 * <p>Only for the command, never for a program that uses the API; and only if the user named no
 * driver: what was named must work or fail. It is selected by the same two properties with which
 * anybody can.
 */
final class EmulatorFallback {
  /** Set by the launcher: the folder in which the emulator was built. */
  private static final String FOLDER_PROPERTY = "culebra.emulator";

  private static final String DRIVER_PROPERTY = "culebra.driver";
  private static final String KERNELS_PROPERTY = "culebra.kernels";

  private EmulatorFallback() {}

  /**
   * Looks for a driver and, if there is none, names the emulator instead, with one line about it.
   * To be called before anything else touches the driver.
   *
   * @return what the search for a driver gave, before the emulator was considered
   */
  static DriverProbe apply(PrintWriter err) {
    DriverProbe probe = DriverProbe.run();
    Path folder = folder();
    if (isEligible(probe) && folder != null) {
      System.setProperty(DRIVER_PROPERTY, folder.resolve("libculebra-emulator.so").toString());
      if (!areKernelsNamed()) {
        System.setProperty(KERNELS_PROPERTY, folder.resolve("kernels").toString());
      }
      err.println(
          "culebra: no usable NVIDIA driver here ("
              + probe.reason()
              + "): running on the emulator, which computes on the CPU");
    }
    return probe;
  }

  /** Whether a search that ended so may be answered with the emulator. */
  static boolean isEligible(DriverProbe probe) {
    return !probe.isAvailable()
        // The emulator is opened by the same calls, and would be denied as well.
        && probe.reason() != DriverProbe.Reason.NATIVE_ACCESS_DENIED
        && !isDriverNamed();
  }

  /** Whether the user, or this class, chose a driver by name. */
  static boolean isDriverNamed() {
    return isNamed(DRIVER_PROPERTY, "CULEBRA_DRIVER");
  }

  /** The same for the kernels. */
  static boolean areKernelsNamed() {
    return isNamed(KERNELS_PROPERTY, "CULEBRA_KERNELS");
  }

  private static boolean isNamed(String property, String variable) {
    return !System.getProperty(property, "").isEmpty() || !getenv(variable).isEmpty();
  }

  private static String getenv(String variable) {
    String value = System.getenv(variable);
    return value == null ? "" : value;
  }

  private static @Nullable Path folder() {
    String name = System.getProperty(FOLDER_PROPERTY, "");
    if (name.isEmpty()) {
      return null;
    }
    Path folder = Path.of(name);
    return Files.exists(folder.resolve("libculebra-emulator.so"))
            && Files.exists(folder.resolve("kernels").resolve("kernels.index"))
        ? folder
        : null;
  }
}

package dev.culebra.benchmarks.session;

import dev.culebra.Device;
import dev.culebra.benchmarks.results.Result;
import dev.culebra.benchmarks.results.ResultsFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;

/**
 * One run of the suite.
 *
 * @param results where results go
 * @param scale how much is measured
 * @param device what runs the kernels
 * @param allowance how long each section may go on
 */
public record Session(ResultsFile results, Scale scale, Device device, Allowance allowance) {
  /** The name by which the emulator says what it is. */
  private static final String EMULATOR = "Culebra emulator (CPU)";

  /** Whether the device is no GPU: kernels run in tiny sizes then, and their times say nothing. */
  public boolean isEmulated() {
    return isEmulator(device);
  }

  /** Whether a device is no GPU. */
  public static boolean isEmulator(Device device) {
    return device.name().equals(EMULATOR);
  }

  /** Whether a contender has been measured already. */
  public boolean has(String section, String problem, String who) {
    return results.find(new Result.Key(section, problem, who)).isPresent();
  }

  /** The root of a failure, in one line. */
  public static String reason(Throwable thrown) {
    Throwable root = thrown;
    while (true) {
      if (root.getCause() != null) {
        root = root.getCause();
      } else if (root.getSuppressed().length > 0) {
        root = root.getSuppressed()[0]; // where JMH puts what a benchmark threw
      } else {
        break;
      }
    }
    // Some put their whole search for a library into the message.
    return root.toString().lines().findFirst().orElse("");
  }

  /** Notes that a contender has no time, and why. */
  public void failed(String section, String problem, String who, String unit, String reason)
      throws IOException {
    System.out.printf("%-40s %-24s not measured: %s%n", problem, who, reason);
    results.put(Result.failed(new Result.Key(section, problem, who), unit, reason));
  }

  /** The folder beside the results for what other tools write, named after the file. */
  public Path folder(String name) {
    Path file = results.file().toAbsolutePath();
    String base =
        Objects.requireNonNull(file.getFileName()).toString().replaceFirst("\\.json$", "");
    return file.resolveSibling(base + "-" + name);
  }
}

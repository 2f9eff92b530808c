package dev.culebra.benchmarks;

import dev.culebra.Device;
import dev.culebra.DeviceAttribute;
import dev.culebra.bindings.DriverProbe;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Runs the benchmarks and writes the report.
 *
 * <p>{@code Suite [--out FILE] [--only calls,pairs,softmax] [--smoke]}. Exit status 1 if a result
 * was wrong or something did not run.
 */
public final class Suite {
  private static final List<String> SECTIONS = List.of("calls", "pairs", "softmax");

  private Suite() {}

  /** Runs the suite on device 0. */
  public static void main(String[] arguments) throws Exception {
    Path out = Path.of("bench.json");
    Set<String> sections = new TreeSet<>(SECTIONS);
    boolean smoke = false;
    for (int i = 0; i < arguments.length; i++) {
      switch (arguments[i]) {
        case "--smoke" -> smoke = true;
        case "--out" -> out = Path.of(value(arguments, ++i));
        case "--only" -> sections = new TreeSet<>(List.of(value(arguments, ++i).split(",")));
        default -> throw usage("unknown option " + arguments[i]);
      }
    }
    if (!SECTIONS.containsAll(sections)) {
      throw usage("unknown section in " + sections);
    }

    DriverProbe driver = DriverProbe.run();
    if (!driver.isAvailable()) {
      System.err.println(driver.message());
      System.exit(1);
    }
    Device device = Device.of(0);
    Map<String, Object> about = Machine.about(driver, smoke);
    about.put("device", describe(device));
    Files.createDirectories(out.toAbsolutePath().getParent());
    Report report = new Report(out, about);
    System.out.println("on " + device.name() + (smoke ? ", tiny sizes: no figure counts" : ""));

    if (sections.contains("pairs")) {
      new CallComparison(report, smoke).measure(device);
    }
    if (sections.contains("softmax")) {
      SoftmaxCheck.measure(device, report, smoke);
    }
    // Last, as it forks: nothing of ours runs beside it.
    if (sections.contains("calls")) {
      CallCosts.measure(report, smoke);
    }
    System.out.println("report: " + report.file());
  }

  private static String value(String[] arguments, int index) {
    if (index == arguments.length) {
      throw usage(arguments[index - 1] + " needs a value");
    }
    return arguments[index];
  }

  private static IllegalArgumentException usage(String problem) {
    return new IllegalArgumentException(
        problem + "; usage: [--out FILE] [--only " + String.join(",", SECTIONS) + "] [--smoke]");
  }

  private static Map<String, Object> describe(Device device) {
    Map<String, Object> entry = new LinkedHashMap<>();
    entry.put("ordinal", device.ordinal());
    entry.put("name", device.name());
    entry.put("uuid", device.uuidText());
    entry.put("compute_capability", device.computeCapability());
    entry.put("multiprocessors", device.attribute(DeviceAttribute.MULTIPROCESSOR_COUNT));
    entry.put("memory_bytes", device.totalMemoryBytes());
    return entry;
  }
}

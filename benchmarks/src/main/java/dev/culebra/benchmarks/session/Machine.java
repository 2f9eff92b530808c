package dev.culebra.benchmarks.session;

import dev.culebra.Device;
import dev.culebra.DeviceAttribute;
import dev.culebra.bindings.DriverProbe;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where and with what a run is made: without it a figure means nothing. */
public final class Machine {
  private Machine() {}

  /** What a run says of itself. */
  public static Map<String, @Nullable Object> about(DriverProbe driver, Device device) {
    Map<String, @Nullable Object> about = new LinkedHashMap<>();
    String commit = System.getenv("CULEBRA_COMMIT");
    about.put("commit", commit == null ? "unknown" : commit);
    about.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString());
    about.put("machine", machine());
    Map<String, @Nullable Object> library = new LinkedHashMap<>();
    String path = driver.library();
    library.put("path", path == null ? "" : withoutFolders(path));
    library.put("version", driver.driverVersion());
    about.put("driver", library);
    about.put("device", describe(device));
    double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    if (load >= 0) {
      about.put("load", load);
    }
    return about;
  }

  private static Map<String, @Nullable Object> machine() {
    Map<String, @Nullable Object> machine = new LinkedHashMap<>();
    machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put("arch", System.getProperty("os.arch"));
    machine.put("cpu", cpu());
    machine.put("cores", Runtime.getRuntime().availableProcessors());
    machine.put("memory_bytes", memoryBytes());
    firstLine("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", machine);
    machine.put("jdk", Runtime.version().toString());
    machine.put(
        "vm", System.getProperty("java.vm.vendor") + " " + System.getProperty("java.vm.name"));
    machine.put(
        "vm_arguments",
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .map(Machine::withoutFolders)
            .toList());
    return machine;
  }

  private static Map<String, @Nullable Object> describe(Device device) {
    Map<String, @Nullable Object> entry = new LinkedHashMap<>();
    entry.put("ordinal", device.ordinal());
    entry.put("name", device.name());
    entry.put("emulator", Session.isEmulator(device));
    entry.put("uuid", device.uuidText());
    entry.put("compute_capability", device.computeCapability().toString());
    entry.put("multiprocessors", device.attribute(DeviceAttribute.MULTIPROCESSOR_COUNT));
    entry.put("memory_bytes", device.totalMemoryBytes());
    entry.put("l2_bytes", device.attribute(DeviceAttribute.L2_CACHE_SIZE));
    return entry;
  }

  /** Results are shown to others, whom our folders do not concern. */
  static String withoutFolders(String text) {
    return text.replaceAll("(?<![^=:])/\\S*/", "");
  }

  private static String cpu() {
    try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
      return lines
          .filter(line -> line.startsWith("model name"))
          .map(line -> line.substring(line.indexOf(':') + 1).strip())
          .findFirst()
          .orElse("unknown");
    } catch (IOException e) {
      return "unknown"; // not Linux
    }
  }

  private static long memoryBytes() {
    return ManagementFactory.getOperatingSystemMXBean()
            instanceof com.sun.management.OperatingSystemMXBean system
        ? system.getTotalMemorySize()
        : 0;
  }

  private static void firstLine(String file, Map<String, @Nullable Object> machine) {
    try (var lines = Files.lines(Path.of(file))) {
      lines.findFirst().ifPresent(line -> machine.put("governor", line));
    } catch (IOException e) {
      // The system does not tell; a virtual machine's usually does not.
    }
  }
}

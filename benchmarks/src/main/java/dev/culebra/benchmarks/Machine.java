package dev.culebra.benchmarks;

import dev.culebra.bindings.DriverProbe;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;

/** Where and with what a run was made: without it a figure means nothing. */
final class Machine {
  private Machine() {}

  static Map<String, Object> about(DriverProbe driver, boolean smoke) {
    Map<String, Object> about = new LinkedHashMap<>();
    String commit = System.getenv("CULEBRA_COMMIT");
    about.put("commit", commit == null ? "unknown" : commit);
    about.put("date", Instant.now().truncatedTo(ChronoUnit.SECONDS));
    about.put("machine", machine());
    Map<String, Object> library = new LinkedHashMap<>();
    library.put("path", driver.library());
    library.put("version", driver.driverVersion());
    about.put("driver", library);
    about.put("smoke", smoke);
    return about;
  }

  private static Map<String, Object> machine() {
    Map<String, Object> machine = new LinkedHashMap<>();
    machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put("arch", System.getProperty("os.arch"));
    machine.put("cpu", cpu());
    machine.put("cores", Runtime.getRuntime().availableProcessors());
    machine.put("jdk", Runtime.version());
    machine.put(
        "vm", System.getProperty("java.vm.vendor") + " " + System.getProperty("java.vm.name"));
    machine.put("vm_arguments", ManagementFactory.getRuntimeMXBean().getInputArguments());
    return machine;
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
}

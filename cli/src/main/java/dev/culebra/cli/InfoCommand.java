package dev.culebra.cli;

import dev.culebra.Device;
import dev.culebra.DeviceAttribute;
import dev.culebra.KernelCatalog;
import dev.culebra.bindings.DriverProbe;
import dev.culebra.bindings.InvalidImageException;
import java.io.PrintWriter;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.core.JsonGenerator;

/**
 * {@code culebra info}: the driver, the kernels and the devices. Without a usable driver it says
 * what was tried, and succeeds: that is the answer. Only a driver or kernels that the user named
 * must be usable.
 */
@Command(name = "info", description = "Shows the driver, the kernel images and the devices.")
final class InfoCommand implements Callable<Integer> {
  private final Surroundings surroundings;

  @Mixin private final DeviceOption device = new DeviceOption();

  @Option(names = "--json", description = "Print one JSON object, with all attributes.")
  private boolean json;

  InfoCommand(Surroundings surroundings) {
    this.surroundings = surroundings;
  }

  @Override
  public Integer call() {
    DriverProbe search = EmulatorFallback.apply(surroundings.err());
    DriverProbe probe = search.isAvailable() ? search : DriverProbe.run();
    List<Device> devices =
        !probe.isAvailable()
            ? List.of()
            : device.isGiven() ? List.of(device.resolve()) : Device.all();
    Kernels kernels = Kernels.find();
    if (json) {
      Json.print(surroundings.out(), out -> writeJson(out, search, probe, kernels, devices));
    } else {
      printText(surroundings.out(), search, probe, kernels, devices);
    }
    boolean failed =
        (!probe.isAvailable() && EmulatorFallback.isDriverNamed())
            || (kernels.catalog() == null && EmulatorFallback.areKernelsNamed());
    return failed ? ExitStatus.DEVICE : ExitStatus.OK;
  }

  /** What there is to launch, or why there is nothing. */
  private record Kernels(@Nullable KernelCatalog catalog, String problem) {
    static Kernels find() {
      try {
        return new Kernels(KernelCatalog.open(), "");
      } catch (InvalidImageException e) {
        return new Kernels(null, String.valueOf(e.getMessage()));
      }
    }

    /** The families that each target has, {@code sm_90a: reduce softmax}. */
    static TreeMap<String, TreeSet<String>> familiesByTarget(KernelCatalog catalog) {
      TreeMap<String, TreeSet<String>> families = new TreeMap<>();
      for (KernelCatalog.Image image : catalog.images()) {
        families
            .computeIfAbsent(image.target().toString(), target -> new TreeSet<>())
            .add(image.family());
      }
      return families;
    }
  }

  private static void printText(
      PrintWriter out,
      DriverProbe search,
      DriverProbe probe,
      Kernels kernels,
      List<Device> devices) {
    out.println("culebra   " + Version.number() + ", Java " + Runtime.version());
    if (!search.isAvailable()) {
      out.println("driver    " + VisibleText.lines(search.message()));
    }
    if (probe.isAvailable()) {
      out.println(
          "driver    "
              + VisibleText.of(String.valueOf(probe.library()))
              + ", CUDA "
              + cudaVersion(probe.driverVersion()));
    }
    KernelCatalog catalog = kernels.catalog();
    if (catalog == null) {
      out.println("kernels   none: " + VisibleText.lines(kernels.problem()));
    } else {
      out.println(
          "kernels   " + catalog.kernels().size() + " in " + VisibleText.of(catalog.origin()));
      Kernels.familiesByTarget(catalog)
          .forEach(
              (target, families) ->
                  out.println("          " + target + ": " + String.join(" ", families)));
      if (catalog.images().isEmpty()) {
        out.println("          no images: they are built where nvcc is, by 'make kernels'");
      }
    }
    devices.forEach(device -> printDevice(out, device));
    out.flush();
  }

  private static void printDevice(PrintWriter out, Device device) {
    out.printf("device %-2d %s%n", device.ordinal(), device.name());
    line(out, "UUID", device.uuidText());
    line(out, "compute capability", device.computeCapability().toString());
    line(out, "memory", Quantities.bytes(device.totalMemoryBytes()));
    line(out, "multiprocessors", value(device, DeviceAttribute.MULTIPROCESSOR_COUNT));
    line(out, "L2 cache", value(device, DeviceAttribute.L2_CACHE_SIZE));
    line(
        out,
        "shared memory a block",
        value(device, DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
    line(out, "registers a block", value(device, DeviceAttribute.MAX_REGISTERS_PER_BLOCK));
    line(out, "threads a block", value(device, DeviceAttribute.MAX_THREADS_PER_BLOCK));
  }

  private static void line(PrintWriter out, String label, String value) {
    out.printf("          %-22s %s%n", label, value);
  }

  private static String value(Device device, DeviceAttribute attribute) {
    Integer value = device.attributes().get(attribute);
    if (value == null) {
      return "unknown to this driver";
    }
    return attribute.unit() == DeviceAttribute.Unit.BYTES
        ? Quantities.bytes(value)
        : value.toString();
  }

  private static String cudaVersion(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }

  private static void writeJson(
      JsonGenerator json,
      DriverProbe search,
      DriverProbe probe,
      Kernels kernels,
      List<Device> devices) {
    json.writeStringProperty("culebra", Version.number());
    json.writeStringProperty("java", Runtime.version().toString());
    writeProbe(json, "driver", probe);
    if (!search.isAvailable() && probe.isAvailable()) {
      writeProbe(json, "insteadOf", search);
    }
    json.writeObjectPropertyStart("kernels");
    KernelCatalog catalog = kernels.catalog();
    if (catalog == null) {
      json.writeStringProperty("problem", kernels.problem());
    } else {
      json.writeStringProperty("origin", catalog.origin());
      json.writeNumberProperty("count", catalog.kernels().size());
      json.writeArrayPropertyStart("images");
      for (KernelCatalog.Image image : catalog.images()) {
        json.writeStartObject();
        json.writeStringProperty("family", image.family());
        json.writeStringProperty("target", image.target().toString());
        json.writeStringProperty("file", image.file());
        json.writeNumberProperty("bytes", image.byteSize());
        json.writeEndObject();
      }
      json.writeEndArray();
    }
    json.writeEndObject();
    json.writeArrayPropertyStart("devices");
    devices.forEach(device -> writeDevice(json, device));
    json.writeEndArray();
  }

  private static void writeProbe(JsonGenerator json, String name, DriverProbe probe) {
    json.writeObjectPropertyStart(name);
    json.writeStringProperty("reason", probe.reason().name());
    json.writeStringProperty("message", probe.message());
    json.writeStringProperty("library", probe.library());
    json.writeNumberProperty("version", probe.driverVersion());
    json.writeArrayPropertyStart("attempts");
    for (DriverProbe.Attempt attempt : probe.attempts()) {
      json.writeStartObject();
      json.writeStringProperty("name", attempt.name());
      json.writeStringProperty("answer", attempt.answer());
      json.writeEndObject();
    }
    json.writeEndArray();
    json.writeEndObject();
  }

  private static void writeDevice(JsonGenerator json, Device device) {
    json.writeStartObject();
    json.writeNumberProperty("ordinal", device.ordinal());
    json.writeStringProperty("name", device.name());
    json.writeStringProperty("uuid", device.uuidText());
    json.writeStringProperty("computeCapability", device.computeCapability().toString());
    json.writeNumberProperty("totalMemoryBytes", device.totalMemoryBytes());
    json.writeObjectPropertyStart("attributes");
    device
        .attributes()
        .forEach((attribute, value) -> json.writeNumberProperty(attribute.name(), value));
    json.writeEndObject();
    json.writeEndObject();
  }
}

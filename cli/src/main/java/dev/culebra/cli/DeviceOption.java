package dev.culebra.cli;

import dev.culebra.Device;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** {@code --device}, the same for every command that computes. */
final class DeviceOption {
  @Option(
      names = "--device",
      paramLabel = "N|UUID",
      description = "The device: its ordinal, or its UUID or the beginning of it. Default: 0.")
  private @Nullable String name;

  /** Whether it was given. */
  boolean isGiven() {
    return name != null;
  }

  /**
   * The device that is meant, the first if none was named.
   *
   * @throws NoSuchDeviceException with a list of those that are there
   */
  Device resolve() {
    if (name == null) {
      return Device.of(0);
    }
    try {
      return Device.parse(name);
    } catch (IllegalArgumentException e) {
      List<Device> all = Device.all();
      throw new NoSuchDeviceException(
          all.stream()
              .map(
                  device ->
                      "  " + device.ordinal() + "  " + device.uuidText() + "  " + device.name())
              .collect(
                  Collectors.joining(
                      System.lineSeparator(),
                      "--device "
                          + VisibleText.of(name)
                          + ": there is no such device; there are"
                          + System.lineSeparator(),
                      "")));
    }
  }
}

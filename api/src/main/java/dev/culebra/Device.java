package dev.culebra;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.Driver;
import dev.culebra.bindings.DriverUnavailableException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A GPU that this process may use, as it was when it was asked: a value, equal to another of the
 * same device.
 *
 * <p>Which devices there are and in which order is the driver's business, so {@code
 * CUDA_VISIBLE_DEVICES} is honoured. Immutable; any thread may use it.
 */
public final class Device {

  private static final String UUID_PREFIX = "GPU-";

  private final int ordinal;
  private final int handle;
  private final String name;
  private final UUID uuid;
  private final long totalMemoryBytes;
  private final Map<DeviceAttribute, Integer> attributes;
  private final ComputeCapability computeCapability;

  private Device(int ordinal) {
    this.ordinal = ordinal;
    this.handle = Driver.deviceGet(ordinal);
    this.name = Driver.deviceGetName(handle);
    ByteBuffer bytes = ByteBuffer.wrap(Driver.deviceGetUuid(handle));
    this.uuid = new UUID(bytes.getLong(), bytes.getLong());
    this.totalMemoryBytes = Driver.deviceTotalMem(handle);
    this.attributes = readAttributes(handle);
    this.computeCapability =
        new ComputeCapability(
            attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR),
            attribute(DeviceAttribute.COMPUTE_CAPABILITY_MINOR));
  }

  private static Map<DeviceAttribute, Integer> readAttributes(int handle) {
    Map<DeviceAttribute, Integer> known = new EnumMap<>(DeviceAttribute.class);
    for (DeviceAttribute attribute : DeviceAttribute.values()) {
      try {
        known.put(attribute, Driver.deviceGetAttribute(attribute.code(), handle));
      } catch (CudaException e) {
        // That is how a driver answers that is older than the attribute.
        if (!e.result().equals(CudaResult.INVALID_VALUE)) {
          throw e;
        }
      }
    }
    return Collections.unmodifiableMap(known);
  }

  /**
   * All devices in the driver's order.
   *
   * @return at least one device
   * @throws DriverUnavailableException if there is no driver or no device
   */
  public static List<Device> all() {
    List<Device> devices = new ArrayList<>();
    int count = Driver.deviceGetCount();
    for (int ordinal = 0; ordinal < count; ordinal++) {
      devices.add(new Device(ordinal));
    }
    return List.copyOf(devices);
  }

  /**
   * The device of an ordinal.
   *
   * @param ordinal its place in {@link #all()}
   * @return the device
   * @throws IllegalArgumentException if there is no such device
   * @throws DriverUnavailableException if there is no driver or no device
   */
  public static Device of(int ordinal) {
    int count = Driver.deviceGetCount();
    if (ordinal < 0 || ordinal >= count) {
      throw new IllegalArgumentException(
          "there is no device " + ordinal + "; this process sees devices 0 to " + (count - 1));
    }
    return new Device(ordinal);
  }

  /**
   * The device that a person named.
   *
   * @param text an ordinal such as {@code 0}, or a UUID such as {@code GPU-4a1c...} or its
   *     beginning if that is enough
   * @return the device
   * @throws IllegalArgumentException if it names no device, or more than one
   * @throws DriverUnavailableException if there is no driver or no device
   */
  public static Device parse(String text) {
    if (text.matches("[0-9]{1,9}")) {
      return of(Integer.parseInt(text));
    }
    List<Device> all = all();
    List<Device> matching =
        text.length() <= UUID_PREFIX.length()
            ? List.of()
            : all.stream().filter(device -> device.uuidText().startsWith(text)).toList();
    if (matching.size() != 1) {
      throw new IllegalArgumentException(
          "'"
              + text
              + "' names "
              + matching.size()
              + " devices; there are "
              + all.stream()
                  .map(device -> device.ordinal + " (" + device.uuidText() + ")")
                  .toList());
    }
    return matching.get(0);
  }

  /** {@return the place of the device in {@link #all()}} */
  public int ordinal() {
    return ordinal;
  }

  /** The {@code CUdevice}. */
  int handle() {
    return handle;
  }

  /** {@return the product's name} */
  public String name() {
    return name;
  }

  /** {@return the number that names this device on every machine and in every order} */
  public UUID uuid() {
    return uuid;
  }

  /** {@return the UUID as NVIDIA's tools write it, with {@code GPU-} before it} */
  public String uuidText() {
    return UUID_PREFIX + uuid;
  }

  /** {@return the size of device memory in bytes} */
  public long totalMemoryBytes() {
    return totalMemoryBytes;
  }

  /** {@return the architecture} */
  public ComputeCapability computeCapability() {
    return computeCapability;
  }

  /**
   * All attributes that the driver knows.
   *
   * @return an unmodifiable map in the order of the enum
   */
  public Map<DeviceAttribute, Integer> attributes() {
    return attributes;
  }

  /**
   * One attribute.
   *
   * @param attribute what to ask
   * @return its value; see {@link DeviceAttribute#unit()}
   * @throws IllegalArgumentException if the driver is older than the attribute
   */
  public int attribute(DeviceAttribute attribute) {
    Integer value = attributes.get(attribute);
    if (value == null) {
      throw new IllegalArgumentException(
          "the driver does not know the attribute " + attribute + "; update it");
    }
    return value;
  }

  /**
   * Whether the device has a property. A driver too old to be asked means no.
   *
   * @param attribute an attribute of unit {@link DeviceAttribute.Unit#BOOLEAN}
   * @return true if it has
   * @throws IllegalArgumentException if the attribute is not of that unit
   */
  public boolean supports(DeviceAttribute attribute) {
    if (attribute.unit() != DeviceAttribute.Unit.BOOLEAN) {
      throw new IllegalArgumentException(
          attribute + " is not a yes or no but a " + attribute.unit());
    }
    return attributes.getOrDefault(attribute, 0) != 0;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Device that && ordinal == that.ordinal && uuid.equals(that.uuid);
  }

  @Override
  public int hashCode() {
    return uuid.hashCode();
  }

  /** {@return ordinal, name and architecture} */
  @Override
  public String toString() {
    return "device " + ordinal + " (" + name + ", sm_" + computeCapability.sm() + ")";
  }
}

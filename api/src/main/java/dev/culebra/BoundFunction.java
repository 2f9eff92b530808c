package dev.culebra;

import dev.culebra.bindings.Driver;
import dev.culebra.bindings.UnsupportedByDriverException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A {@code CUfunction} of a loaded library with what the driver knows of it. One object for each
 * name of a library.
 */
final class BoundFunction {

  private static final int MAX_THREADS_PER_BLOCK = 0;
  private static final int SHARED_SIZE_BYTES = 1;
  private static final int LOCAL_SIZE_BYTES = 3;
  private static final int NUM_REGS = 4;
  private static final int MAX_DYNAMIC_SHARED_SIZE_BYTES = 8;
  private static final int REQUIRED_CLUSTER_WIDTH = 11;
  private static final int REQUIRED_CLUSTER_HEIGHT = 12;
  private static final int REQUIRED_CLUSTER_DEPTH = 13;
  private static final int NON_PORTABLE_CLUSTER_SIZE_ALLOWED = 14;

  private final CudaLibrary library;
  private final String name;
  private final long handle;
  private final LaunchLimits limits;
  private final int registers;
  private final int localBytes;
  private final @Nullable List<Driver.ParamInfo> parameters;
  // What the driver was told so far; changed under this object's lock.
  private volatile int dynamicSharedBytes;
  private volatile boolean nonPortableClusters;

  private BoundFunction(CudaLibrary library, String name, long handle) {
    this.library = library;
    this.name = name;
    this.handle = handle;
    Device device = library.context().device();
    this.limits =
        new LaunchLimits(
            new Dim3(
                device.attribute(DeviceAttribute.MAX_GRID_DIM_X),
                device.attribute(DeviceAttribute.MAX_GRID_DIM_Y),
                device.attribute(DeviceAttribute.MAX_GRID_DIM_Z)),
            new Dim3(
                device.attribute(DeviceAttribute.MAX_BLOCK_DIM_X),
                device.attribute(DeviceAttribute.MAX_BLOCK_DIM_Y),
                device.attribute(DeviceAttribute.MAX_BLOCK_DIM_Z)),
            device.attribute(DeviceAttribute.MAX_THREADS_PER_BLOCK),
            Driver.funcGetAttribute(MAX_THREADS_PER_BLOCK, handle),
            device.attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK),
            device.attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
            Driver.funcGetAttribute(SHARED_SIZE_BYTES, handle),
            clusterLimits(device, handle));
    this.registers = Driver.funcGetAttribute(NUM_REGS, handle);
    this.localBytes = Driver.funcGetAttribute(LOCAL_SIZE_BYTES, handle);
    this.dynamicSharedBytes = Driver.funcGetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, handle);
    this.parameters = readParameters(handle);
  }

  private static ClusterLimits clusterLimits(Device device, long handle) {
    boolean supported = device.attribute(DeviceAttribute.CLUSTER_LAUNCH) != 0;
    Dim3 required = null;
    if (supported && Driver.funcGetAttribute(REQUIRED_CLUSTER_WIDTH, handle) != 0) {
      required =
          new Dim3(
              Driver.funcGetAttribute(REQUIRED_CLUSTER_WIDTH, handle),
              Driver.funcGetAttribute(REQUIRED_CLUSTER_HEIGHT, handle),
              Driver.funcGetAttribute(REQUIRED_CLUSTER_DEPTH, handle));
    }
    return new ClusterLimits(supported, device.toString(), device.computeCapability(), required);
  }

  /**
   * Needs the context to be current. The code is loaded now: at the first launch it would wait for
   * what runs on the device.
   */
  static BoundFunction of(CudaLibrary library, String name, long kernel) {
    long function = Driver.kernelGetFunction(kernel);
    try {
      Driver.funcLoad(function);
    } catch (UnsupportedByDriverException e) {
      // Then the driver loads it at the first launch; nothing else differs.
    }
    return new BoundFunction(library, name, function);
  }

  /** What the driver knows of the parameters; null if it is too old to be asked. */
  private static @Nullable List<Driver.ParamInfo> readParameters(long function) {
    List<Driver.ParamInfo> all = new ArrayList<>();
    try {
      while (true) {
        Optional<Driver.ParamInfo> next = Driver.funcGetParamInfo(function, all.size());
        if (next.isEmpty()) {
          return List.copyOf(all);
        }
        all.add(next.get());
      }
    } catch (UnsupportedByDriverException e) {
      return null;
    }
  }

  String name() {
    return name;
  }

  long handle() {
    return handle;
  }

  LaunchLimits limits() {
    return limits;
  }

  int registers() {
    return registers;
  }

  int localBytes() {
    return localBytes;
  }

  boolean canVerify() {
    return parameters != null;
  }

  /** Compares a signature with the driver's view and tells all differences. */
  void verify(KernelSignature signature) {
    List<Driver.ParamInfo> actual = parameters;
    if (actual == null) {
      return;
    }
    List<String> differences = new ArrayList<>();
    List<KernelParameter> stated = signature.parameters();
    for (int i = 0; i < Math.max(stated.size(), actual.size()); i++) {
      if (i >= stated.size()) {
        differences.add("parameter " + i + " is missing (" + describe(actual.get(i)) + ")");
      } else if (i >= actual.size()) {
        differences.add("parameter " + i + " (" + stated.get(i) + ") is one too many");
      } else {
        Driver.ParamInfo info = actual.get(i);
        if (signature.offset(i) != info.offset()
            || stated.get(i).type().byteSize() != info.bytes()) {
          differences.add(
              "parameter "
                  + i
                  + " ("
                  + stated.get(i)
                  + ") has "
                  + stated.get(i).type().byteSize()
                  + " bytes at offset "
                  + signature.offset(i)
                  + ", the kernel's has "
                  + describe(info));
        }
      }
    }
    if (!differences.isEmpty()) {
      throw new IllegalArgumentException(
          "the signature "
              + signature
              + " is not that of kernel "
              + name
              + ": "
              + String.join("; ", differences));
    }
  }

  private static String describe(Driver.ParamInfo info) {
    return info.bytes() + " bytes at offset " + info.offset();
  }

  /**
   * Lets the kernel have that much dynamic shared memory. Only ever raised, so that no other launch
   * loses what it was promised.
   */
  void allowDynamicSharedBytes(int bytes) {
    // Mostly it is allowed already, and then a change of a launch takes no lock.
    if (bytes <= dynamicSharedBytes) {
      return;
    }
    synchronized (this) {
      if (bytes > dynamicSharedBytes) {
        setAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes);
        dynamicSharedBytes = bytes;
      }
    }
  }

  /** Lets the kernel have clusters of more blocks than every device with clusters has. */
  void allowNonPortableClusters() {
    if (nonPortableClusters) {
      return;
    }
    synchronized (this) {
      if (!nonPortableClusters) {
        setAttribute(NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
        nonPortableClusters = true;
      }
    }
  }

  private void setAttribute(int attribute, int value) {
    library.bound(
        "cuFuncSetAttribute",
        () -> {
          Driver.funcSetAttribute(handle, attribute, value);
          return true;
        });
  }
}

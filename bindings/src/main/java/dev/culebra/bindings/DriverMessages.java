package dev.culebra.bindings;

import dev.culebra.bindings.DriverProbe.Attempt;
import java.util.List;
import java.util.stream.Collectors;

/** The sentences of a {@link DriverProbe}: what is the case, and what to do. */
final class DriverMessages {
  private DriverMessages() {}

  static String available(String library, int version, int devices) {
    return "%s: driver for CUDA %s, %d device%s"
        .formatted(library, Versions.format(version), devices, devices == 1 ? "" : "s");
  }

  static String noLibrary(List<Attempt> attempts) {
    return "no NVIDIA driver could be opened ("
        + attempts.stream().map(Attempt::answer).collect(Collectors.joining("; "))
        + "). Install the driver, run the container with its GPUs (docker run --gpus all), or name the"
        + " library with -D"
        + DriverNames.PROPERTY
        + "=PATH or "
        + DriverNames.VARIABLE;
  }

  static String notADriver(String library) {
    return library
        + " is a library, but not an NVIDIA driver: it lacks cuInit, cuDriverGetVersion or"
        + " cuDeviceGetCount. Check -D"
        + DriverNames.PROPERTY
        + " and "
        + DriverNames.VARIABLE;
  }

  static String stub(String library) {
    return library
        + " is the CUDA toolkit's stub, made for linking only. Take the toolkit's stubs folder out of"
        + " LD_LIBRARY_PATH, so that the driver's own libcuda.so.1 is found";
  }

  static String tooOld(String library, int version) {
    return "%s is a driver for CUDA %s; CUDA %s or newer is needed: update the driver"
        .formatted(
            library, Versions.format(version), Versions.format(DriverLibrary.OLDEST_VERSION));
  }

  static String noDevice(String library, int version) {
    return ("%s (CUDA %s) sees no device. nvidia-smi lists what the system has; check"
            + " CUDA_VISIBLE_DEVICES and the container's GPU options")
        .formatted(library, Versions.format(version));
  }

  static String initFailed(String library, int code) {
    CudaResult result = CudaResult.of(code);
    String hint = Hints.of("cuInit", result);
    return "cuInit of " + library + " failed: " + result + (hint.isEmpty() ? "" : "; " + hint);
  }

  static String nativeAccessDenied() {
    Module module = DriverMessages.class.getModule();
    return "this JVM denies native access to Culebra: start it with --enable-native-access="
        + (module.isNamed() ? module.getName() : "ALL-UNNAMED");
  }
}

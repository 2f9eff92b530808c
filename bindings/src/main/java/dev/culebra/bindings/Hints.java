package dev.culebra.bindings;

/** What to do about a result, where we know more than the driver's text says. */
final class Hints {
  private Hints() {}

  static String of(String function, CudaResult result) {
    if (result.isSticky()) {
      return "the context is poisoned and this process cannot use the device again: restart it."
          + " compute-sanitizer finds the kernel that did it";
    }
    return switch (result.code()) {
      case 1 ->
          function.startsWith("cuLaunchKernel")
              ? "grid, block or dynamic shared memory exceed a limit of the device or of the kernel"
              : "";
      case 2 ->
          function.startsWith("cuMemHostAlloc")
              ? "the host has no pinned memory left: allocate less, or raise the limit (ulimit -l)"
              : "free buffers, use a smaller batch, or look for other processes with nvidia-smi";
      case 3 -> "in a child process made by fork() the driver cannot be used: start the child anew";
      case 200 -> "the image is damaged or is not a cubin, fatbin or PTX";
      case 201 -> "no context is current on this thread";
      case 209 -> "the image has no code for this device's architecture";
      case 218 -> "the PTX has an error, or names a target or version this driver does not know";
      case 222 ->
          "the PTX is newer than the driver: update the driver or build for an older version";
      case 400 -> "a handle was destroyed, or belongs to another context";
      case 500 -> "there is no such name in the image; extern \"C\" keeps names unmangled";
      case 701 -> "too many registers or too much shared memory for this block size";
      case 720 -> "a cooperative grid must fit on the device at once: use fewer blocks";
      case 802 -> "the system is not ready; on NVSwitch machines the fabric manager must run";
      case 803 -> "the driver's library and its kernel module differ in version: reboot";
      case 900, 901, 906 -> "the call is not allowed while a stream is being captured";
      case 912 ->
          "the grid must be a multiple of the cluster, and a cluster has at most 8 blocks, or 16 where"
              + " the device and the kernel allow it";
      default -> "";
    };
  }
}

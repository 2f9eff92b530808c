package dev.culebra;

import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a device and a kernel allow. The driver answers one code for every violation; here each is
 * named.
 *
 * @param maxGrid most blocks along each axis
 * @param maxBlock most threads along each axis
 * @param maxBlockThreads most threads of a block on the device
 * @param kernelBlockThreads most threads of a block of this kernel (registers, launch bounds)
 * @param sharedBytes shared memory of a block without opting in
 * @param optInSharedBytes shared memory of a block after opting in
 * @param staticSharedBytes what the kernel declares itself
 */
record LaunchLimits(
    Dim3 maxGrid,
    Dim3 maxBlock,
    int maxBlockThreads,
    int kernelBlockThreads,
    int sharedBytes,
    int optInSharedBytes,
    int staticSharedBytes) {

  /** What is wrong with a configuration, if anything. */
  Optional<String> violation(LaunchConfig config) {
    String axis = axisViolation("grid", config.gridBlocks(), maxGrid, "blocks");
    if (axis == null) {
      axis = axisViolation("block", config.blockThreads(), maxBlock, "threads");
    }
    if (axis != null) {
      return Optional.of(axis);
    }
    // Each axis is within its limit now, so the product cannot overflow.
    long threads = config.blockThreads().count();
    if (threads > maxBlockThreads) {
      return Optional.of(
          "block "
              + config.blockThreads()
              + " has "
              + threads
              + " threads; the device allows "
              + maxBlockThreads
              + " a block");
    }
    if (threads > kernelBlockThreads) {
      return Optional.of(
          "block "
              + config.blockThreads()
              + " has "
              + threads
              + " threads; this kernel allows "
              + kernelBlockThreads
              + " (its registers or __launch_bounds__)");
    }
    long shared = (long) staticSharedBytes + config.dynamicSharedBytes();
    if (shared > optInSharedBytes) {
      return Optional.of(
          "dynamic shared memory of "
              + config.dynamicSharedBytes()
              + " bytes is too much: the device allows "
              + optInSharedBytes
              + " bytes a block, of which the kernel declares "
              + staticSharedBytes
              + " itself, so at most "
              + (optInSharedBytes - staticSharedBytes));
    }
    return Optional.empty();
  }

  /** Whether the kernel has to opt in to more shared memory than every kernel gets. */
  boolean needsOptIn(LaunchConfig config) {
    return (long) staticSharedBytes + config.dynamicSharedBytes() > sharedBytes;
  }

  private static @Nullable String axisViolation(String what, Dim3 size, Dim3 limit, String unit) {
    if (size.x() > limit.x()) {
      return axisMessage(what + ".x", size.x(), limit.x(), unit);
    }
    if (size.y() > limit.y()) {
      return axisMessage(what + ".y", size.y(), limit.y(), unit);
    }
    if (size.z() > limit.z()) {
      return axisMessage(what + ".z", size.z(), limit.z(), unit);
    }
    return null;
  }

  private static String axisMessage(String axis, int size, int limit, String unit) {
    return axis + " is " + size + " " + unit + "; the device allows " + limit;
  }
}

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
 * @param clusters what holds for clusters
 */
record LaunchLimits(
    Dim3 maxGrid,
    Dim3 maxBlock,
    int maxBlockThreads,
    int kernelBlockThreads,
    int sharedBytes,
    int optInSharedBytes,
    int staticSharedBytes,
    ClusterLimits clusters) {

  /** What is wrong with a configuration but for its cluster, if anything. */
  Optional<String> violation(LaunchConfig config) {
    Dim3 grid = config.gridBlocks();
    Dim3 block = config.blockThreads();
    String found = gridViolation(grid.x(), grid.y(), grid.z());
    if (found == null) {
      found = blockViolation(block.x(), block.y(), block.z());
    }
    if (found == null) {
      found = sharedViolation(config.dynamicSharedBytes());
    }
    return Optional.ofNullable(found);
  }

  // Each alone, by plain numbers, for the changes of a prepared launch, which allocate nothing.

  @Nullable String gridViolation(int x, int y, int z) {
    return axisViolation("grid", "blocks", x, y, z, maxGrid);
  }

  @Nullable String blockViolation(int x, int y, int z) {
    String axis = axisViolation("block", "threads", x, y, z, maxBlock);
    if (axis != null) {
      return axis;
    }
    // Each axis is within its limit now, so the product cannot overflow.
    long threads = (long) x * y * z;
    if (threads > maxBlockThreads) {
      return "block "
          + new Dim3(x, y, z)
          + " has "
          + threads
          + " threads; the device allows "
          + maxBlockThreads
          + " a block";
    }
    if (threads > kernelBlockThreads) {
      return "block "
          + new Dim3(x, y, z)
          + " has "
          + threads
          + " threads; this kernel allows "
          + kernelBlockThreads
          + " (its registers or __launch_bounds__)";
    }
    return null;
  }

  @Nullable String sharedViolation(int dynamicSharedBytes) {
    long shared = (long) staticSharedBytes + dynamicSharedBytes;
    if (shared <= optInSharedBytes) {
      return null;
    }
    return "dynamic shared memory of "
        + dynamicSharedBytes
        + " bytes is too much: the device allows "
        + optInSharedBytes
        + " bytes a block, of which the kernel declares "
        + staticSharedBytes
        + " itself, so at most "
        + (optInSharedBytes - staticSharedBytes);
  }

  /** Whether the kernel has to opt in to more shared memory than every kernel gets. */
  boolean needsOptIn(int dynamicSharedBytes) {
    return (long) staticSharedBytes + dynamicSharedBytes > sharedBytes;
  }

  private static @Nullable String axisViolation(
      String what, String unit, int x, int y, int z, Dim3 limit) {
    if (x > limit.x()) {
      return axisMessage(what + ".x", x, limit.x(), unit);
    }
    if (y > limit.y()) {
      return axisMessage(what + ".y", y, limit.y(), unit);
    }
    if (z > limit.z()) {
      return axisMessage(what + ".z", z, limit.z(), unit);
    }
    return null;
  }

  private static String axisMessage(String axis, int size, int limit, String unit) {
    return axis + " is " + size + " " + unit + "; the device allows " + limit;
  }
}

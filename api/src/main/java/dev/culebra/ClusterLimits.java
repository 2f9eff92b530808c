package dev.culebra;

import org.jspecify.annotations.Nullable;

/**
 * What a device and a kernel allow of clusters. An x of 0 stands for a launch that names no
 * cluster.
 *
 * @param supported whether the device launches clusters
 * @param device the device, as messages name it
 * @param capability its compute capability
 * @param required the cluster that the kernel was compiled for ({@code __cluster_dims__}), if any
 */
record ClusterLimits(
    boolean supported, String device, ComputeCapability capability, @Nullable Dim3 required) {

  /** What every device with clusters can do. */
  static final int PORTABLE_BLOCKS = 8;

  /** What a kernel can be allowed on top of that. */
  static final int MOST_BLOCKS = 16;

  /**
   * Refuses any cluster on a device without.
   *
   * @throws IllegalArgumentException naming the device
   */
  void requireSupport(int x) {
    if (x != 0 && !supported) {
      throw new IllegalArgumentException(
          device
              + " has compute capability "
              + capability
              + " and launches no clusters; they need 9.0: launch without one there");
    }
  }

  /** What is wrong with clusters of a shape, or null. */
  @Nullable String shapeViolation(int x, int y, int z) {
    if (x == 0) {
      return null;
    }
    Dim3 compiled = required;
    if (compiled != null && (x != compiled.x() || y != compiled.y() || z != compiled.z())) {
      return "cluster "
          + new Dim3(x, y, z)
          + " is not that of the kernel, which was compiled for "
          + compiled
          + " blocks (__cluster_dims__): use that, or none";
    }
    // Axis by axis first: the product of three large ones would overflow.
    if (x > MOST_BLOCKS || y > MOST_BLOCKS || z > MOST_BLOCKS || x * y * z > MOST_BLOCKS) {
      return "cluster "
          + new Dim3(x, y, z)
          + " is too large: a cluster has at most "
          + PORTABLE_BLOCKS
          + " blocks, on some devices "
          + MOST_BLOCKS;
    }
    return null;
  }

  /** What keeps a grid from being cut into the launch's clusters, or the kernel's; or null. */
  @Nullable String gridViolation(int gridX, int gridY, int gridZ, int x, int y, int z) {
    if (x != 0) {
      return indivisible(gridX, gridY, gridZ, x, y, z);
    }
    Dim3 compiled = required;
    return compiled == null
        ? null
        : indivisible(gridX, gridY, gridZ, compiled.x(), compiled.y(), compiled.z());
  }

  private @Nullable String indivisible(int gridX, int gridY, int gridZ, int x, int y, int z) {
    if (gridX % x != 0) {
      return indivisible(".x", gridX, x);
    }
    if (gridY % y != 0) {
      return indivisible(".y", gridY, y);
    }
    if (gridZ % z != 0) {
      return indivisible(".z", gridZ, z);
    }
    return null;
  }

  private String indivisible(String axis, int blocks, int cluster) {
    return "grid"
        + axis
        + " is "
        + blocks
        + " blocks, not a multiple of cluster"
        + axis
        + ", which is "
        + cluster
        + (required == null ? "" : " (the kernel's __cluster_dims__)")
        + ": enlarge the grid"
        + (required == null ? " or choose another cluster" : "");
  }

  /** Whether the kernel has to be allowed more blocks than every device has. */
  boolean needsNonPortable(int x, int y, int z) {
    Dim3 compiled = required;
    return x != 0
        ? x * y * z > PORTABLE_BLOCKS
        : compiled != null && compiled.count() > PORTABLE_BLOCKS;
  }
}

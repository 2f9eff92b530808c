package dev.culebra;

import org.jspecify.annotations.Nullable;

/**
 * How a kernel is launched. What a device and a kernel allow is checked by {@link Kernel#prepare}.
 *
 * @param gridBlocks blocks of the grid
 * @param blockThreads threads of a block
 * @param dynamicSharedBytes shared memory of each block besides what the kernel declares itself, in
 *     bytes
 * @param clusterBlocks blocks of a cluster, whose blocks run at the same time and reach each
 *     other's shared memory; the grid has to be a multiple of it along each axis. Null for none:
 *     then a kernel compiled for clusters has those, and any other has no clusters
 */
public record LaunchConfig(
    Dim3 gridBlocks, Dim3 blockThreads, int dynamicSharedBytes, @Nullable Dim3 clusterBlocks) {

  /**
   * Checks that every size is positive.
   *
   * @throws IllegalArgumentException naming the axis
   */
  public LaunchConfig {
    requirePositive("grid", "blocks", gridBlocks);
    requirePositive("block", "threads", blockThreads);
    requireNotNegative(dynamicSharedBytes);
    if (clusterBlocks != null) {
      requirePositive("cluster", "blocks", clusterBlocks);
    }
  }

  /**
   * The same without a cluster.
   *
   * @param gridBlocks blocks of the grid
   * @param blockThreads threads of a block
   * @param dynamicSharedBytes shared memory of each block besides what the kernel declares itself,
   *     in bytes
   */
  public LaunchConfig(Dim3 gridBlocks, Dim3 blockThreads, int dynamicSharedBytes) {
    this(gridBlocks, blockThreads, dynamicSharedBytes, null);
  }

  /**
   * A grid and a block in one dimension.
   *
   * @param gridBlocks blocks of the grid
   * @param blockThreads threads of a block
   * @return the configuration, without dynamic shared memory
   */
  public static LaunchConfig of(int gridBlocks, int blockThreads) {
    return new LaunchConfig(Dim3.of(gridBlocks), Dim3.of(blockThreads), 0);
  }

  /**
   * A one-dimensional grid with at least one thread an element.
   *
   * @param elements how many elements, at least 1
   * @param blockThreads threads of a block
   * @return the configuration, without dynamic shared memory
   * @throws IllegalArgumentException if that is no block (launch nothing instead) or more blocks
   *     than an {@code int} holds (let threads walk over several elements)
   */
  public static LaunchConfig forElements(long elements, int blockThreads) {
    requirePositive("block", "threads", Dim3.of(blockThreads));
    if (elements < 1) {
      throw new IllegalArgumentException(elements + " elements need no launch");
    }
    long blocks = Math.ceilDiv(elements, (long) blockThreads);
    if (blocks > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          elements
              + " elements need "
              + blocks
              + " blocks of "
              + blockThreads
              + " threads, more than a grid has");
    }
    return of((int) blocks, blockThreads);
  }

  /**
   * The same with other dynamic shared memory.
   *
   * @param bytes shared memory of each block, in bytes
   * @return the configuration
   */
  public LaunchConfig withDynamicSharedBytes(int bytes) {
    return new LaunchConfig(gridBlocks, blockThreads, bytes, clusterBlocks);
  }

  /**
   * The same with another grid.
   *
   * @param blocks blocks of the grid
   * @return the configuration
   */
  public LaunchConfig withGridBlocks(Dim3 blocks) {
    return new LaunchConfig(blocks, blockThreads, dynamicSharedBytes, clusterBlocks);
  }

  /**
   * The same with another block.
   *
   * @param threads threads of a block
   * @return the configuration
   */
  public LaunchConfig withBlockThreads(Dim3 threads) {
    return new LaunchConfig(gridBlocks, threads, dynamicSharedBytes, clusterBlocks);
  }

  /**
   * The same in clusters of that shape. They need compute capability 9.0. Up to 8 blocks run on
   * every such device, up to 16 on some.
   *
   * @param blocks blocks of a cluster, which the grid's have to be a multiple of
   * @return the configuration
   */
  public LaunchConfig withClusterBlocks(Dim3 blocks) {
    return new LaunchConfig(gridBlocks, blockThreads, dynamicSharedBytes, blocks);
  }

  /**
   * The same without a cluster of its own.
   *
   * @return the configuration
   */
  public LaunchConfig withoutCluster() {
    return new LaunchConfig(gridBlocks, blockThreads, dynamicSharedBytes, null);
  }

  private static void requirePositive(String what, String unit, Dim3 size) {
    requirePositive(what, unit, size.x(), size.y(), size.z());
  }

  /** Allocates nothing unless it throws: prepared launches ask it with every change. */
  static void requirePositive(String what, String unit, int x, int y, int z) {
    if (x < 1) {
      throw notPositive(what, ".x", unit, x);
    }
    if (y < 1) {
      throw notPositive(what, ".y", unit, y);
    }
    if (z < 1) {
      throw notPositive(what, ".z", unit, z);
    }
  }

  private static IllegalArgumentException notPositive(
      String what, String axis, String unit, int size) {
    return new IllegalArgumentException(
        what + axis + " is " + size + " " + unit + "; it has to be at least 1");
  }

  static void requireNotNegative(int dynamicSharedBytes) {
    if (dynamicSharedBytes < 0) {
      throw new IllegalArgumentException(
          "dynamic shared memory of " + dynamicSharedBytes + " bytes is negative");
    }
  }
}

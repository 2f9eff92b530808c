package dev.culebra;

/**
 * How a kernel is launched. What a device and a kernel allow is checked by {@link Kernel#prepare}.
 *
 * @param gridBlocks blocks of the grid
 * @param blockThreads threads of a block
 * @param dynamicSharedBytes shared memory of each block besides what the kernel declares itself, in
 *     bytes
 */
public record LaunchConfig(Dim3 gridBlocks, Dim3 blockThreads, int dynamicSharedBytes) {

  /**
   * Checks that every size is positive.
   *
   * @throws IllegalArgumentException naming the axis
   */
  public LaunchConfig {
    requirePositive("grid", "blocks", gridBlocks);
    requirePositive("block", "threads", blockThreads);
    if (dynamicSharedBytes < 0) {
      throw new IllegalArgumentException(
          "dynamic shared memory of " + dynamicSharedBytes + " bytes is negative");
    }
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
    return new LaunchConfig(gridBlocks, blockThreads, bytes);
  }

  /**
   * The same with another grid.
   *
   * @param blocks blocks of the grid
   * @return the configuration
   */
  public LaunchConfig withGridBlocks(Dim3 blocks) {
    return new LaunchConfig(blocks, blockThreads, dynamicSharedBytes);
  }

  /**
   * The same with another block.
   *
   * @param threads threads of a block
   * @return the configuration
   */
  public LaunchConfig withBlockThreads(Dim3 threads) {
    return new LaunchConfig(gridBlocks, threads, dynamicSharedBytes);
  }

  private static void requirePositive(String what, String unit, Dim3 size) {
    requirePositive(what + ".x", unit, size.x());
    requirePositive(what + ".y", unit, size.y());
    requirePositive(what + ".z", unit, size.z());
  }

  private static void requirePositive(String axis, String unit, int size) {
    if (size < 1) {
      throw new IllegalArgumentException(
          axis + " is " + size + " " + unit + "; it has to be at least 1");
    }
  }
}

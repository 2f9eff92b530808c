package dev.culebra.ops;

import dev.culebra.DeviceRange;
import dev.culebra.Dim3;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A prepared launch whose arguments are put one after the other, in an order that is named once.
 * Putting and launching allocate nothing but a new grid's or block's shape.
 */
final class ArgumentList {

  private final PreparedLaunch launch;
  private final int[] slots;
  private int next;
  private int blocks;
  private int threads;
  private @Nullable LaunchConfig lastConfig;

  /**
   * A list of all arguments of a kernel.
   *
   * @param names the order in which they will be put
   */
  ArgumentList(PreparedLaunch launch, String... names) {
    this.launch = launch;
    this.slots = new int[names.length];
    for (int i = 0; i < names.length; i++) {
      try {
        slots[i] = launch.slot(names[i]);
      } catch (IllegalArgumentException e) {
        throw DamagedRoot.because(String.valueOf(e.getMessage()));
      }
    }
    this.blocks = launch.config().gridBlocks().x();
    this.threads = launch.config().blockThreads().x();
  }

  /** Begins with the first; what was put before a failure does not count. */
  ArgumentList begin() {
    next = 0;
    return this;
  }

  ArgumentList put(DeviceRange<?> value) {
    launch.set(slots[next++], value);
    return this;
  }

  ArgumentList putNull() {
    launch.setNull(slots[next++]);
    return this;
  }

  /** Nothing is the null pointer. */
  ArgumentList putOrNull(@Nullable DeviceRange<?> value) {
    return value == null ? putNull() : put(value);
  }

  ArgumentList put(long value) {
    launch.set(slots[next++], value);
    return this;
  }

  ArgumentList put(int value) {
    launch.set(slots[next++], value);
    return this;
  }

  ArgumentList put(double value) {
    launch.set(slots[next++], value);
    return this;
  }

  /**
   * Launches with the arguments that were put.
   *
   * @param work how many blocks have something to do; a grid has no more than it can have, and its
   *     blocks go on with what is left
   * @param blockThreads threads of a block
   */
  void launch(long work, int blockThreads, Stream stream) {
    requireAllPut();
    int needed = (int) Math.min(work, Integer.MAX_VALUE);
    if (needed != blocks) {
      launch.gridBlocks(Dim3.of(needed));
      blocks = needed;
    }
    if (blockThreads != threads) {
      launch.blockThreads(Dim3.of(blockThreads));
      threads = blockThreads;
    }
    launch.launch(stream);
  }

  /**
   * Launches with the arguments that were put. An object whose launches are of this kind has none
   * of the other.
   *
   * @param config grid, block, shared memory and cluster
   */
  void launch(LaunchConfig config, Stream stream) {
    requireAllPut();
    if (!config.equals(lastConfig)) {
      launch.config(config);
      lastConfig = config;
    }
    launch.launch(stream);
  }

  private void requireAllPut() {
    if (next != slots.length) {
      throw new IllegalStateException(next + " of " + slots.length + " arguments were put");
    }
  }
}

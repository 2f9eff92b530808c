package dev.culebra.benchmarks.calls;

import dev.culebra.KernelImage;

/**
 * The kernel that every contender launches: {@code culebra_selftest_fill(float* out, float value,
 * long count)} with one block, so small that the launch is what costs.
 *
 * @param image the image that holds the kernel
 * @param symbol the kernel's name
 * @param out device address of {@code count} floats
 * @param value what is written
 * @param count how many floats are written
 */
public record LaunchTarget(KernelImage image, String symbol, long out, float value, long count) {
  /** Launches between two waits for the stream: the queue of a device takes about a thousand. */
  public static final int SYNC_EVERY = 512;

  /** Threads of the one block. */
  public static final int BLOCK_THREADS = 32;
}

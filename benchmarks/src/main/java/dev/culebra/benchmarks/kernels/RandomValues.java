package dev.culebra.benchmarks.kernels;

import dev.culebra.ElementType;
import dev.culebra.testkit.StorageType;
import java.util.function.LongToDoubleFunction;

/**
 * Random values, in [-8, 8) or, of integers, in [0, 2^24), that need not be kept: element {@code i}
 * is a function of the seed and of {@code i}. The device makes the same ones (kernel {@code
 * culebra_ceilings_random}), so that any row can be made again to be compared, without trusting
 * what was on the device.
 *
 * @param seed another one each run
 */
record RandomValues(long seed) {
  private static final int FRACTION_BITS = 20;

  /** Of the 2^24 values that there are. */
  private static final int HALF = 1 << 23;

  /** Element {@code i} as a multiple of 2^-20. */
  int scaled(long i) {
    // The finaliser of SplitMix64 over a Weyl sequence.
    long z = seed + (i + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return (int) (z >>> 40) - HALF;
  }

  /** The element of a number, in the values of a type. */
  LongToDoubleFunction in(ElementType<?> type) {
    if (type == ElementType.I32 || type == ElementType.I64) {
      return i -> scaled(i) + HALF;
    }
    StorageType storage = TensorSpec.storage(type);
    return i -> at(i, storage);
  }

  /** Element {@code i}, rounded to the type it is stored in. */
  double at(long i, StorageType type) {
    return type.round(Math.scalb((double) scaled(i), -FRACTION_BITS));
  }
}

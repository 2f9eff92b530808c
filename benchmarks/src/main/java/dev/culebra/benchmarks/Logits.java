package dev.culebra.benchmarks;

/**
 * Random logits in [-10, 10) that need not be kept: element {@code i} is a function of the seed and
 * of {@code i}, so that any row can be made again to be compared, without trusting what was on the
 * device.
 *
 * @param seed another one each run
 */
record Logits(long seed) {
  /** Element {@code i}, before it is rounded to the type it is stored in. */
  double at(long i) {
    // The finaliser of SplitMix64 over a Weyl sequence.
    long z = seed + (i + 1) * 0x9E3779B97F4A7C15L;
    z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    z ^= z >>> 31;
    return (z >>> 11) * 0x1p-53 * 20 - 10;
  }
}

package dev.culebra.testkit;

/**
 * Philox 4x32-10, as its paper describes it (Salmon et al., SC'11), and the random bits that
 * sampling takes from it.
 */
public final class PhiloxReference {
  private static final int ROUNDS = 10;
  private static final long MULTIPLIER_0 = 0xD2511F53L;
  private static final long MULTIPLIER_1 = 0xCD9E8D57L;
  private static final int WEYL_0 = 0x9E3779B9;
  private static final int WEYL_1 = 0xBB67AE85;

  private PhiloxReference() {}

  /**
   * Four random words.
   *
   * @param counter four words, the lowest first
   * @param key two words, the lower first
   */
  public static int[] block(int[] counter, int[] key) {
    int[] x = counter.clone();
    int key0 = key[0];
    int key1 = key[1];
    for (int round = 0; round < ROUNDS; round++) {
      long a = MULTIPLIER_0 * Integer.toUnsignedLong(x[0]);
      long b = MULTIPLIER_1 * Integer.toUnsignedLong(x[2]);
      x =
          new int[] {
            (int) (b >>> 32) ^ x[1] ^ key0, (int) b, (int) (a >>> 32) ^ x[3] ^ key1, (int) a
          };
      key0 += WEYL_0;
      key1 += WEYL_1;
    }
    return x;
  }

  /** The first 64 bits of the block that a seed has at (offset, row). */
  public static long bits(long seed, long offset, long row) {
    int[] words =
        block(
            new int[] {(int) offset, (int) (offset >>> 32), (int) row, (int) (row >>> 32)},
            new int[] {(int) seed, (int) (seed >>> 32)});
    return Integer.toUnsignedLong(words[1]) << 32 | Integer.toUnsignedLong(words[0]);
  }
}

package dev.culebra.ops;

import dev.culebra.ComputeCapability;
import dev.culebra.Dim3;
import dev.culebra.ElementType;
import dev.culebra.LaunchConfig;
import java.util.Locale;

/**
 * How the softmax of rows of one length is launched, or its gradient: a row of
 * CULEBRA_SOFTMAX_PLAN, of which the launch follows. No device is needed to make one.
 *
 * @param variant who shares a row and where it is kept, as the kernels name it
 * @param threads of a block, at most
 * @param cluster blocks that share a row
 * @param residentRows how many rows of that length a team keeps on chip at a time
 */
record SoftmaxPlan(Variant variant, int threads, int cluster, int residentRows) {

  /** The variants, with the packs that a thread of theirs has in registers. */
  enum Variant {
    /** Lanes of a warp share a row, one pack each. */
    LANES1(1),
    /** The same, two packs each. */
    LANES2(2),
    /** The same, four packs each. */
    LANES4(4),
    /** A block shares a row, two packs a thread. */
    REGISTERS2(2),
    /** The same, four packs a thread. */
    REGISTERS4(4),
    /** A block shares a row, kept in shared memory. */
    SHARED(0),
    /** A cluster of blocks shares a row, kept in shared memory. */
    CLUSTER(0),
    /** Rows in pieces, read twice. */
    SPLIT(0);

    private final int packs;

    Variant(int packs) {
      this.packs = packs;
    }

    String symbol() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  private static final String ROW = "CULEBRA_SOFTMAX_PLAN";
  private static final int TARGET = 0;
  private static final int TYPE = 1;
  private static final int MOST_ROWS = 2;
  private static final int LONGEST_ROW = 3;
  private static final int VARIANT = 4;
  private static final int THREADS = 5;
  private static final int CLUSTER = 6;

  private static final String ANY = "any";
  private static final int WARP_THREADS = 32;

  /** kPackBytes of the kernels. */
  private static final int PACK_BYTES = 16;

  /** What a kernel needs of shared memory for itself, at most: see team.cuh. */
  private static final int TEAM_BYTES = 8 * 1024;

  /** What is asked of a plan. */
  enum Wanted {
    /** The first that fits. */
    ANY,
    /** The first that reads a row once. */
    FUSED,
    /** In pieces. */
    SPLIT;

    private boolean allows(Variant variant) {
      return this == ANY || (this == SPLIT) == (variant == Variant.SPLIT);
    }
  }

  /**
   * The first row of the table that fits.
   *
   * @param capability the device's
   * @param sharedBytes what a block may have of shared memory
   * @param residentRows how many rows of that length a team keeps on chip at a time
   * @throws IllegalArgumentException if only pieces would do and they are not wanted
   */
  static SoftmaxPlan choose(
      LaunchTable table,
      ComputeCapability capability,
      int sharedBytes,
      int residentRows,
      ElementType<?> type,
      long rows,
      long length,
      Wanted wanted) {
    String target = Integer.toString(capability.major() * 10);
    boolean known =
        table.rows().stream()
            .anyMatch(row -> row.macro().equals(ROW) && row.word(TARGET).equals(target));
    int longest = 0;
    for (LaunchTable.Row row : table.rows()) {
      if (!row.macro().equals(ROW)
          || !row.word(TARGET).equals(known ? target : ANY)
          || !row.word(TYPE).equals(type.symbol())) {
        continue;
      }
      SoftmaxPlan plan = of(row, residentRows);
      if (!wanted.allows(plan.variant)) {
        continue;
      }
      int longestRow = row.number(LONGEST_ROW);
      longest = Math.max(longest, longestRow);
      int mostRows = row.natural(MOST_ROWS);
      if ((length <= longestRow || plan.variant == Variant.SPLIT)
          && (mostRows == 0 || rows <= mostRows)
          && plan.fits(type, length, sharedBytes)) {
        return plan;
      }
    }
    if (wanted == Wanted.FUSED) {
      throw new IllegalArgumentException(
          "rows of "
              + length
              + " elements of "
              + type
              + " do not fit on chip; the longest here are of "
              + longest
              + " or less. Algorithm AUTO takes any");
    }
    throw DamagedRoot.because(table.name() + " has no plan for " + type + ", rows of " + length);
  }

  private static SoftmaxPlan of(LaunchTable.Row row, int residentRows) {
    try {
      Variant variant = Variant.valueOf(row.word(VARIANT).toUpperCase(Locale.ROOT));
      return new SoftmaxPlan(variant, row.number(THREADS), row.number(CLUSTER), residentRows);
    } catch (IllegalArgumentException e) {
      throw DamagedRoot.because(row.place() + ": no variant " + row.word(VARIANT));
    }
  }

  /** Whether a row fits into what the variant keeps it in. */
  private boolean fits(ElementType<?> type, long length, int sharedBytes) {
    return switch (variant) {
      case LANES1, LANES2, LANES4 -> packs(type, length) <= (long) WARP_THREADS * variant.packs;
      case REGISTERS2, REGISTERS4 -> packs(type, length) <= (long) threads * variant.packs;
      case SHARED, CLUSTER ->
          rowBytes(type, length) <= sharedBytes - (long) TEAM_BYTES && length <= Integer.MAX_VALUE;
      case SPLIT -> true;
    };
  }

  private static long packs(ElementType<?> type, long length) {
    return Math.ceilDiv(length, PACK_BYTES / type.byteSize());
  }

  /** A block's part of the resident rows, in whole packs of each of its threads. */
  private long rowBytes(ElementType<?> type, long length) {
    long team = (long) threads * cluster;
    return Math.ceilDiv(packs(type, length), team) * threads * PACK_BYTES * residentRows;
  }

  /** The symbol of a family's kernel; of a plan that is not in pieces. */
  String symbol(String family, ElementType<?> type) {
    return "culebra_" + family + "_" + variant.symbol() + "_" + type.symbol();
  }

  /** Grid, block, shared memory and cluster for so many rows; of a plan that is not in pieces. */
  LaunchConfig launch(ElementType<?> type, long rows, long length) {
    long packs = packs(type, length);
    return switch (variant) {
      case LANES1, LANES2, LANES4 -> {
        long needed = Math.ceilDiv(packs, variant.packs);
        int lanes = needed <= 1 ? 1 : (int) Long.highestOneBit(needed - 1) * 2;
        int together = threads / lanes;
        yield LaunchConfig.of(blocks(Math.ceilDiv(rows, together), 1), threads)
            .withBlockThreads(new Dim3(lanes, together, 1));
      }
      case REGISTERS2, REGISTERS4 ->
          LaunchConfig.of(
              blocks(rows, 1),
              (int) Math.ceilDiv(packs, (long) variant.packs * WARP_THREADS) * WARP_THREADS);
      case SHARED ->
          LaunchConfig.of(blocks(rows, 1), threads)
              .withDynamicSharedBytes(sharedBytes(type, length));
      case CLUSTER ->
          LaunchConfig.of(blocks(rows, cluster), threads)
              .withDynamicSharedBytes(sharedBytes(type, length))
              .withClusterBlocks(Dim3.of(cluster));
      case SPLIT -> throw new IllegalStateException("rows in pieces have two launches");
    };
  }

  private int sharedBytes(ElementType<?> type, long length) {
    return Math.toIntExact(rowBytes(type, length));
  }

  /** Teams walk on with what is left where a grid cannot have as many. */
  private static int blocks(long teams, int each) {
    return (int) Math.min(teams, Integer.MAX_VALUE / each) * each;
  }
}

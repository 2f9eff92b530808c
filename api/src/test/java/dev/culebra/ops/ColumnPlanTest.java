package dev.culebra.ops;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.TensorView;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How columns are shared among threads and blocks, by the table's numbers for sums. */
class ColumnPlanTest {
  private static final int LANES = 32;
  private static final int BLOCKS = 1024;

  private static ColumnReduction.Plan plan(
      long matrices, long rows, long columns, int packElements, int threads) {
    return ColumnReduction.Plan.of(
        new TensorView.Columns(matrices, rows * columns, rows, columns, columns),
        packElements,
        threads,
        LANES,
        BLOCKS);
  }

  @ParameterizedTest(name = "{0} x {1} x {2}, {3} columns a pack, {4} threads")
  @DisplayName("lanes, threads a pack and pieces of the shapes that were measured")
  @CsvSource({
    // f32: many short matrices; many of middle length; one large; few and long columns
    "4096, 64, 4096, 4, 256, 256, 1, 1",
    "64, 4096, 4096, 4, 256, 32, 8, 1",
    "1, 32768, 32768, 4, 256, 32, 8, 4",
    "1, 16777216, 64, 4, 256, 16, 16, 1024",
    "1, 268435456, 4, 4, 256, 1, 256, 1024",
    // bf16
    "4096, 128, 4096, 8, 512, 256, 2, 1",
    "64, 8192, 4096, 8, 512, 32, 16, 1",
    "1, 65536, 32768, 8, 512, 32, 16, 8",
    // short columns, and few of them
    "1, 3, 1000000000, 4, 256, 256, 1, 1",
    "1, 64, 4096, 4, 256, 32, 8, 1",
    "1, 1, 1, 4, 256, 1, 1, 1"
  })
  void ofMeasuredShapes(
      long matrices,
      long rows,
      long columns,
      int packElements,
      int threads,
      int lanes,
      int threadsAPack,
      long pieces) {
    ColumnReduction.Plan plan = plan(matrices, rows, columns, packElements, threads);
    assertEquals(lanes, plan.lanes(), () -> plan.toString());
    assertEquals(threadsAPack, plan.threadsAPack(), () -> plan.toString());
    assertEquals(pieces, plan.pieces(), () -> plan.toString());
  }

  @Test
  @DisplayName("rows are given up for columns only while there are blocks enough")
  void blocksEnough() {
    long packsOfBlock = 256;
    // 2 turns a thread of 8: with all of them one below the other, 1024 blocks take 256 packs each.
    assertEquals(1, plan(BLOCKS * packsOfBlock, 64, 4, 4, 256).threadsAPack());
    assertEquals(2, plan(BLOCKS * packsOfBlock - 1, 64, 4, 4, 256).threadsAPack());
    assertEquals(4, plan(BLOCKS * packsOfBlock / 2 - 1, 64, 4, 4, 256).threadsAPack());
    assertEquals(8, plan(BLOCKS * packsOfBlock / 4 - 1, 64, 4, 4, 256).threadsAPack());
  }

  @Test
  @DisplayName("every plan covers all columns and rows, with no thread too many")
  void covers() {
    for (long matrices : new long[] {1, 3, 5000, 1L << 33}) {
      for (long rows : new long[] {0, 1, 5, 63, 64, 1000, 1L << 32}) {
        for (long columns : new long[] {1, 4, 7, 1000, 1L << 20}) {
          ColumnReduction.Plan plan = plan(matrices, rows, columns, 4, 256);
          String told = matrices + " x " + rows + " x " + columns + ": " + plan;
          assertTrue(plan.lanes() * plan.threadsAPack() <= 256, told);
          assertEquals(1, Integer.bitCount(plan.lanes()), told);
          assertEquals(1, Integer.bitCount(plan.threadsAPack()), told);
          assertTrue(plan.tiles() * plan.lanes() >= matrices * Math.ceilDiv(columns, 4L), told);
          assertTrue(plan.pieces() * plan.pieceLength() >= rows, told);
          assertTrue(rows == 0 || (plan.pieces() - 1) * plan.pieceLength() < rows, told);
        }
      }
    }
  }
}

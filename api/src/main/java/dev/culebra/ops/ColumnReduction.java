package dev.culebra.ops;

import dev.culebra.DeviceRange;
import dev.culebra.Dim3;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import org.jspecify.annotations.Nullable;

/** The kernel that reduces columns of one type, and how a shape is given to its blocks. */
final class ColumnReduction {
  private static final String ROW = "CULEBRA_REDUCE_COLUMNS";
  private static final int THREADS = 2;
  private static final int LANES = 4;
  private static final int BLOCKS = 5;

  /** What a thread reads at once: kPackBytes of the kernels. */
  private static final int PACK_BYTES = 16;

  /** Rows that a thread reads before it takes in the first: kRows of the kernels. */
  private static final int ROWS = 4;

  /** A piece has at least so many times the rows that a block reads at once. */
  private static final int LEAST_TURNS = 4;

  /**
   * A thread with fewer turns has little to do beside joining the others of its pack. Measured on
   * an H200, 4096 x 64 x 4096 of F32: 3.28 TB/s with 2, 4.28 with 16; BF16 of 128 rows 2.33 and
   * 3.98.
   */
  private static final int ENOUGH_TURNS = 16;

  /**
   * How columns are shared among threads and blocks. By the shape alone, so that the bits do not
   * depend on the device.
   *
   * @param lanes packs of columns that a block has side by side, a power of two
   * @param threadsAPack threads that share the rows of a pack, a power of two
   * @param tiles blocks side by side
   * @param pieceLength rows of a piece
   * @param pieces of a column, at least 1
   */
  record Plan(int lanes, int threadsAPack, long tiles, long pieceLength, long pieces) {

    /**
     * The plan of a shape with at least one column.
     *
     * @param packElements columns of a pack
     * @param threads the most of a block
     * @param mostLanes as many side by side where there are other threads for the rows
     * @param blocks as many are wanted
     */
    static Plan of(
        TensorView.Columns shape, int packElements, int threads, int mostLanes, int blocks) {
      long packs =
          Math.multiplyExact(shape.count(), Math.ceilDiv(shape.columns(), (long) packElements));
      long turns = Math.max(1, Math.ceilDiv(shape.length(), (long) ROWS));
      int lanes = (int) Math.min(powerOfTwo(packs), mostLanes);
      int down = (int) Math.min(powerOfTwo(turns), threads / lanes);
      while (down > 1
          && turns / down < ENOUGH_TURNS
          && packs / blocks >= threads / (down / 2)) { // still as many blocks as are wanted
        down /= 2;
      }
      // Threads that a short column has no rows for take further columns.
      lanes = (int) Math.min(powerOfTwo(packs), threads / down);
      long tiles = Math.ceilDiv(packs, (long) lanes);
      long unit = (long) down * ROWS;
      long wanted = Math.min(blocks / tiles, shape.length() / (unit * LEAST_TURNS));
      if (wanted <= 1) {
        return new Plan(lanes, down, tiles, shape.length(), 1);
      }
      long pieceLength = Math.ceilDiv(Math.ceilDiv(shape.length(), wanted), unit) * unit;
      return new Plan(lanes, down, tiles, pieceLength, Math.ceilDiv(shape.length(), pieceLength));
    }

    /** The smallest that is not below; at most 2^30. */
    private static long powerOfTwo(long atLeast) {
      return atLeast <= 1 ? 1 : Long.highestOneBit(Math.min(atLeast, 1L << 30) - 1) << 1;
    }
  }

  private final KernelFamily family;
  private final ReductionForm form;
  private final int threads;
  private final int mostLanes;
  private final int blocks;
  private @Nullable ArgumentList arguments;

  ColumnReduction(KernelFamily family, ReductionForm form) {
    LaunchTable.Row row = family.table().row(ROW, form.kernel(), form.input().symbol());
    this.family = family;
    this.form = form;
    this.threads = row.number(THREADS);
    this.mostLanes = row.number(LANES);
    this.blocks = row.number(BLOCKS);
  }

  static String symbol(ReductionForm form) {
    return "culebra_reduce_columns_" + form.kernel() + "_" + form.input().symbol();
  }

  Plan plan(TensorView.Columns shape) {
    return Plan.of(shape, PACK_BYTES / form.input().byteSize(), threads, mostLanes, blocks);
  }

  /** Results, one for each column; the plan has one piece. */
  void toResults(
      DeviceRange<?> in,
      TensorView.Columns shape,
      Plan plan,
      double divisor,
      DeviceRange<?> out,
      Stream stream) {
    launch(in, shape, plan, divisor, 0, out, stream);
  }

  /** States, those of a column's pieces side by side. */
  void toStates(
      DeviceRange<?> in,
      TensorView.Columns shape,
      Plan plan,
      DeviceRange<?> states,
      Stream stream) {
    launch(in, shape, plan, 1, 1, states, stream);
  }

  private void launch(
      DeviceRange<?> in,
      TensorView.Columns shape,
      Plan plan,
      double divisor,
      int toStates,
      DeviceRange<?> out,
      Stream stream) {
    int grid = (int) Math.min(plan.tiles * plan.pieces, Integer.MAX_VALUE);
    arguments()
        .begin()
        .put(out)
        .put(in)
        .put(shape.count())
        .put(shape.length())
        .put(shape.columns())
        .put(shape.matrixStride())
        .put(shape.rowStride())
        .put(plan.pieceLength)
        .put(plan.pieces)
        .put(divisor)
        .put(toStates)
        .launch(new LaunchConfig(Dim3.of(grid), Dim3.of(plan.lanes, plan.threadsAPack), 0), stream);
  }

  private ArgumentList arguments() {
    ArgumentList known = arguments;
    if (known == null) {
      known =
          new ArgumentList(
              family.prepared(symbol(form), threads),
              "out",
              "in",
              "outer",
              "length",
              "columns",
              "in_outer_stride",
              "in_row_stride",
              "piece_length",
              "pieces",
              "divisor",
              "to_states");
      arguments = known;
    }
    return known;
  }
}

package dev.culebra.ops;

import dev.culebra.DeviceRange;
import dev.culebra.Dim3;
import dev.culebra.ElementType;
import dev.culebra.In;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import org.jspecify.annotations.Nullable;

/**
 * A prepared kernel that gives each row to a block. What it is asked by name and by table is asked
 * once, here, so that an operation repeated allocates nothing.
 */
final class RowKernel {

  private static final int WARP_THREADS = 32;

  /** What a thread reads at once: kPackBytes of the kernels. */
  private static final int PACK_BYTES = 16;

  private final PreparedLaunch launch;
  private final int out;
  private final int in;
  private final int rows;
  private final int rowLength;
  private final int inRowStride;
  private int blocks;
  private int threads;
  private @Nullable In<?> lastIn;

  RowKernel(PreparedLaunch launch) {
    this.launch = launch;
    this.out = launch.slot("out");
    this.in = launch.slot("in");
    this.rows = launch.slot("rows");
    this.rowLength = launch.slot("row_length");
    this.inRowStride = launch.slot("in_row_stride");
    this.blocks = launch.config().gridBlocks().x();
    this.threads = launch.config().blockThreads().x();
  }

  /** The number of an argument that only this family's kernels have. */
  int slot(String name) {
    try {
      return launch.slot(name);
    } catch (IllegalArgumentException e) {
      throw DamagedRoot.because(String.valueOf(e.getMessage()));
    }
  }

  void set(int slot, long value) {
    launch.set(slot, value);
  }

  void set(int slot, double value) {
    launch.set(slot, value);
  }

  /**
   * How many threads of a block a row has work for, in whole warps. A thread takes 16 bytes at a
   * time, so the warps that are left out would have nothing but neutral elements: the result has
   * the same bits without them.
   *
   * @param most what the launch table says
   */
  static int threads(TensorView.Rows rows, ElementType<?> type, int most) {
    return threads(rows.length(), type, most);
  }

  /** The same for pieces of rows, of so many elements. */
  static int threads(long length, ElementType<?> type, int most) {
    long packs = Math.ceilDiv(length * type.byteSize(), PACK_BYTES);
    long warps = Math.max(1, Math.ceilDiv(packs, WARP_THREADS));
    return (int) Math.min(most, warps * WARP_THREADS);
  }

  /** The wrapper of the launch before is kept: that none is allocated must not hang on inlining. */
  private In<?> readOnly(DeviceRange<?> from) {
    In<?> known = lastIn;
    if (known == null || known.range() != from) {
      known = In.of(from);
      lastIn = known;
    }
    return known;
  }

  /** Sets the threads of a block for the launches to come. */
  void threads(int blockThreads) {
    if (blockThreads != threads) {
      launch.blockThreads(Dim3.of(blockThreads));
      threads = blockThreads;
    }
  }

  /**
   * Sets the arguments that all families have, and launches. One block a row; if there are more
   * rows than a grid has blocks, blocks go on with further rows.
   */
  void launch(DeviceRange<?> from, TensorView.Rows shape, DeviceRange<?> to, Stream stream) {
    launch(from, shape, shape.count(), to, stream);
  }

  /** The same with another number of blocks that have something to do. */
  void launch(
      DeviceRange<?> from, TensorView.Rows shape, long work, DeviceRange<?> to, Stream stream) {
    int needed = (int) Math.min(work, Integer.MAX_VALUE);
    if (needed != blocks) {
      launch.gridBlocks(Dim3.of(needed));
      blocks = needed;
    }
    launch.set(out, to);
    launch.set(in, readOnly(from));
    launch.set(rows, shape.count());
    launch.set(rowLength, shape.length());
    launch.set(inRowStride, shape.stride());
    launch.launch(stream);
  }
}

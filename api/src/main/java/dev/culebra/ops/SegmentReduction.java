package dev.culebra.ops;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.Dim3;
import dev.culebra.ElementType;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import org.jspecify.annotations.Nullable;

/**
 * The kernels that reduce segments of one type. A segment gets a few lanes of a warp, by the
 * average length; only where there are elements enough for one that is too long for them, two
 * further launches reduce such segments in pieces.
 */
final class SegmentReduction {
  private static final String ROW = "CULEBRA_REDUCE_SEGMENTS";
  private static final String MERGE_ROW = "CULEBRA_REDUCE_SEGMENTS_MERGE";
  private static final int THREADS = 2;
  private static final int LONGEST_OF_LANE = 4;
  private static final int PIECE = 5;

  private static final int PACK_BYTES = 16;

  /** Packs that a lane reads at once: kPacksOfLane of the kernels. */
  private static final int PACKS_OF_LANE = 2;

  private static final int WARP_THREADS = 32;

  /** Elements of a listed piece: its segment, and the segment's first piece. */
  private static final int PIECE_WORDS = 2;

  /**
   * Of the launches over the list: several times what a device runs at once, and few enough not to
   * cost where the list is empty. A block goes on to further pieces.
   */
  private static final int MOST_BLOCKS = 4096;

  private final KernelFamily family;
  private final ReductionForm form;
  private final int threads;
  private final int mergeThreads;
  private final int longestOfLane;
  private final long pieceLength;
  private @Nullable ArgumentList teams;
  private @Nullable ArgumentList pieces;
  private @Nullable ArgumentList merge;

  SegmentReduction(KernelFamily family, ReductionForm form) {
    LaunchTable.Row row = family.table().row(ROW, form.kernel(), form.input().symbol());
    this.family = family;
    this.form = form;
    this.threads = row.number(THREADS);
    this.longestOfLane = row.number(LONGEST_OF_LANE);
    this.pieceLength = row.number(PIECE);
    this.mergeThreads =
        family.table().row(MERGE_ROW, form.kernel(), form.merged().symbol()).number(THREADS);
  }

  static String symbol(ReductionForm form) {
    return symbol(form, "", form.input());
  }

  private static String symbol(ReductionForm form, String infix, ElementType<?> type) {
    return "culebra_reduce_segments_" + infix + form.kernel() + "_" + type.symbol();
  }

  /**
   * How many lanes of a warp share a segment, a power of two.
   *
   * @param average elements of a segment
   */
  static int lanes(double average, ElementType<?> type) {
    int lanes = 1;
    double ofLane = (double) PACKS_OF_LANE * PACK_BYTES / type.byteSize();
    while (lanes < WARP_THREADS && lanes * ofLane < average) {
      lanes *= 2;
    }
    return lanes;
  }

  /** Enqueues the reduction of at least one segment; what the views are has been checked. */
  void launch(
      TensorView<?> in, TensorView<?> offsets, TensorView<?> out, boolean mean, Stream stream) {
    long segments = out.elementCount();
    long elements = in.elementCount();
    int lanes = lanes((double) elements / segments, form.input());
    long longest = (long) lanes * longestOfLane;
    int teamsOfBlock = threads / lanes;
    int grid = (int) Math.min(Math.ceilDiv(segments, (long) teamsOfBlock), Integer.MAX_VALUE);
    LaunchConfig config = new LaunchConfig(Dim3.of(grid), Dim3.of(lanes, teamsOfBlock), 0);
    if (elements <= longest) {
      Call call = new Call(in, offsets, out, mean, longest, 0, null);
      put(teams(), call).launch(config, stream);
      return;
    }
    // Of ascending offsets there cannot be more pieces: each but the last of a segment is whole,
    // and so is what makes a segment too long.
    long limit = elements / pieceLength + elements / longest + 1;
    // Freed in stream order: closing does not wait for the launches.
    try (DeviceBuffer<ElementType.I64> list =
            family.context().allocate(ElementType.I64, (limit + 1) * PIECE_WORDS, stream);
        DeviceBuffer<?> states =
            family.context().allocate(form.state(), limit * form.stateLength(), stream)) {
      list.zero(stream);
      Scratch scratch = new Scratch(list.view(0, 1), list.view(PIECE_WORDS, list.length()), states);
      Call call = new Call(in, offsets, out, mean, longest, limit, scratch);
      put(teams(), call).launch(config, stream);
      long blocks = Math.min(limit, MOST_BLOCKS);
      put(pieces(), call).launch(blocks, threads, stream);
      put(merge(), call).launch(blocks, mergeThreads, stream);
    }
  }

  /** What the launches tell each other of long segments. */
  private record Scratch(DeviceRange<?> count, DeviceRange<?> pieces, DeviceRange<?> states) {}

  private record Call(
      TensorView<?> in,
      TensorView<?> offsets,
      TensorView<?> out,
      boolean mean,
      long longest,
      long limit,
      @Nullable Scratch scratch) {}

  private ArgumentList put(ArgumentList arguments, Call call) {
    arguments
        .begin()
        .put(call.out.range())
        .put(call.in.range())
        .put(call.offsets.range())
        .put(call.out.elementCount())
        .put(call.in.elementCount())
        .put(call.longest)
        .put(pieceLength)
        .put(call.limit);
    Scratch scratch = call.scratch;
    if (scratch == null) {
      arguments.putNull().putNull().putNull();
    } else {
      arguments.put(scratch.count).put(scratch.pieces).put(scratch.states);
    }
    return arguments.put(call.offsets.type().byteSize()).put(call.mean ? 1 : 0);
  }

  private ArgumentList teams() {
    ArgumentList known = teams;
    if (known == null) {
      known = list(symbol(form), threads);
      teams = known;
    }
    return known;
  }

  private ArgumentList pieces() {
    ArgumentList known = pieces;
    if (known == null) {
      known = list(symbol(form, "pieces_", form.input()), threads);
      pieces = known;
    }
    return known;
  }

  private ArgumentList merge() {
    ArgumentList known = merge;
    if (known == null) {
      known = list(symbol(form, "merge_", form.merged()), mergeThreads);
      merge = known;
    }
    return known;
  }

  private ArgumentList list(String symbol, int blockThreads) {
    return new ArgumentList(
        family.prepared(symbol, blockThreads),
        "out",
        "in",
        "offsets",
        "segments",
        "elements",
        "longest",
        "piece_length",
        "piece_limit",
        "piece_count",
        "pieces",
        "states",
        "offset_bytes",
        "mean");
  }
}

package dev.culebra.ops;

import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import org.jspecify.annotations.Nullable;

/**
 * The kernels that {@link TopK} launches for one K and one type: over whole rows, or over pieces of
 * them and then a merge. Each is prepared when first needed.
 */
final class TopKKernels {

  static final String FAMILY = "topk";

  private static final String ROW = "CULEBRA_TOPK";
  private static final int VARIANT = 0;
  private static final int TYPE = 1;
  private static final int MOST_K = 2;
  private static final int THREADS = 3;
  private static final int PACKS = 5;

  private static final String PIECES_ROW = "CULEBRA_TOPK_PIECES";
  private static final int PIECES = 0;
  private static final int LEAST_ELEMENTS = 1;

  private static final int WARP_THREADS = 32;

  /** kPackBytes of the kernels. */
  private static final int PACK_BYTES = 16;

  /** Of (m, d). */
  private static final int STATE_LENGTH = 2;

  private final KernelFamily family;
  private final ElementType<?> type;
  private final int k;
  private final String variant;
  private final int mostThreads;
  private final int threadElements;
  private final int wantedPieces;
  private final int leastElements;

  private @Nullable ArgumentList rows;
  private @Nullable ArgumentList pieces;
  private @Nullable ArgumentList merge;

  /** The largest K that there are kernels for. */
  static int mostK(LaunchTable table) {
    return table.rows().stream()
        .filter(row -> row.macro().equals(ROW))
        .mapToInt(row -> row.number(MOST_K))
        .max()
        .orElseThrow(() -> DamagedRoot.because(table.name() + " has no row " + ROW));
  }

  /** Of the first row of the launch table that allows that K. */
  TopKKernels(KernelFamily family, ElementType<?> type, int k) {
    LaunchTable table = family.table();
    LaunchTable.Row row =
        table.rows().stream()
            .filter(r -> r.macro().equals(ROW))
            .filter(r -> r.arguments().get(TYPE).equals(type.symbol()) && k <= r.number(MOST_K))
            .findFirst()
            .orElseThrow(
                () -> DamagedRoot.because(table.name() + " has no row for " + type + ", K " + k));
    this.family = family;
    this.type = type;
    this.k = k;
    this.variant = row.arguments().get(VARIANT);
    this.mostThreads = row.number(THREADS);
    this.threadElements = row.number(PACKS) * PACK_BYTES / type.byteSize();
    LaunchTable.Row cut = table.row(PIECES_ROW);
    this.wantedPieces = cut.number(PIECES);
    this.leastElements = cut.number(LEAST_ELEMENTS);
  }

  /** The symbol of the kernel over whole rows. */
  String symbol() {
    return symbol("");
  }

  private String symbol(String infix) {
    return "culebra_topk_" + infix + variant + "_" + type.symbol();
  }

  /**
   * Enqueues one top-k; what the views are has been checked, and there is at least one row.
   *
   * @param in rows of at least K elements
   * @param out K results a row
   * @param indices K places a row
   */
  void launch(
      TensorView<?> in,
      TensorView<?> out,
      TensorView<?> indices,
      TopK.Content content,
      double scale,
      Stream stream) {
    TensorView.Rows from = in.rows();
    long pieceElements = pieceElements(from);
    if (pieceElements >= from.length()) {
      rows()
          .begin()
          .put(out.range())
          .put(indices.range())
          .put(in.range())
          .put(from.count())
          .put(from.length())
          .put(from.stride())
          .put(out.rows().stride())
          .put(indices.rows().stride())
          .put(scale)
          .put(k)
          .put(content.code)
          .put(indices.type().byteSize())
          .launch(from.count(), threads(from.length()), stream);
      return;
    }
    int count = Math.toIntExact(Math.ceilDiv(from.length(), pieceElements));
    // Freed in stream order: closing does not wait for the second launch.
    try (DeviceBuffer<?> keys =
            family.context().allocate(ElementType.I64, from.count() * count * k, stream);
        DeviceBuffer<?> states =
            family
                .context()
                .allocate(ElementType.F32, from.count() * count * STATE_LENGTH, stream)) {
      pieces()
          .begin()
          .put(keys)
          .put(states)
          .put(in.range())
          .put(from.count())
          .put(from.length())
          .put(from.stride())
          .put(pieceElements)
          .put(scale)
          .put(count)
          .put(k)
          .put(content.code)
          .launch(from.count() * count, threads(pieceElements), stream);
      merge()
          .begin()
          .put(out.range())
          .put(indices.range())
          .put(keys)
          .put(states)
          .put(in.range())
          .put(from.count())
          .put(from.stride())
          .put(out.rows().stride())
          .put(indices.rows().stride())
          .put(scale)
          .put(count)
          .put(k)
          .put(content.code)
          .put(indices.type().byteSize())
          .launch(from.count(), mostThreads, stream);
    }
  }

  /**
   * Into how large pieces rows are cut: by the shape alone, so that the bits do not depend on the
   * device. At least the whole row where there are rows enough.
   */
  private long pieceElements(TensorView.Rows from) {
    long ofRow = Math.ceilDiv(wantedPieces, from.count());
    long elements = Math.ceilDiv(from.length(), ofRow);
    return Math.ceilDiv(elements, leastElements) * leastElements;
  }

  /** The whole warps that so many elements fill. */
  private int threads(long elements) {
    long warps = Math.ceilDiv(elements, (long) threadElements * WARP_THREADS);
    return (int) Math.min(mostThreads, warps * WARP_THREADS);
  }

  private ArgumentList rows() {
    ArgumentList known = rows;
    if (known == null) {
      known =
          new ArgumentList(
              family.prepared(symbol(), mostThreads),
              "out",
              "indices",
              "in",
              "rows",
              "row_length",
              "in_row_stride",
              "out_row_stride",
              "indices_row_stride",
              "scale",
              "k",
              "content",
              "index_bytes");
      rows = known;
    }
    return known;
  }

  private ArgumentList pieces() {
    ArgumentList known = pieces;
    if (known == null) {
      known =
          new ArgumentList(
              family.prepared(symbol("pieces_"), mostThreads),
              "keys",
              "states",
              "in",
              "rows",
              "row_length",
              "in_row_stride",
              "piece_elements",
              "scale",
              "pieces",
              "k",
              "content");
      pieces = known;
    }
    return known;
  }

  private ArgumentList merge() {
    ArgumentList known = merge;
    if (known == null) {
      known =
          new ArgumentList(
              family.prepared(symbol("merge_"), mostThreads),
              "out",
              "indices",
              "keys",
              "states",
              "in",
              "rows",
              "in_row_stride",
              "out_row_stride",
              "indices_row_stride",
              "scale",
              "pieces",
              "k",
              "content",
              "index_bytes");
      merge = known;
    }
    return known;
  }
}

package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.DeviceRange;
import dev.culebra.Dim3;
import dev.culebra.ElementType;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The kernels that {@link Sampling} launches: one launch, for which the table says how many blocks
 * share a row. What was found for a shape is kept for the last one. Confined to a thread, as
 * prepared launches are.
 */
final class SamplingKernels {

  static final String FAMILY = "sampling";

  private static final String ROW = "CULEBRA_SAMPLING";
  private static final int THREADS = 1;
  private static final int PACKS = 2;
  private static final int SHARED_BYTES = 3;

  private static final String PLAN = "CULEBRA_SAMPLING_PLAN";
  private static final int MOST_ROWS = 0;
  private static final int LEAST_ELEMENTS = 1;
  private static final int CLUSTER = 2;

  private static final int WARP_THREADS = 32;

  /** kPackBytes of the kernels. */
  private static final int PACK_BYTES = 16;

  private static final String[] ARGUMENTS = {
    "tokens",
    "probabilities",
    "in",
    "rows",
    "row_length",
    "in_row_stride",
    "temperatures",
    "top_ks",
    "top_ps",
    "min_ps",
    "seeds",
    "offsets",
    "temperature",
    "top_p",
    "min_p",
    "seed",
    "offset",
    "first_row",
    "top_k",
    "token_bytes"
  };

  /** Of the last shape. */
  private record Choice(
      ElementType<?> type, long rows, long length, ArgumentList arguments, LaunchConfig config) {

    boolean isFor(ElementType<?> other, TensorView.Rows shape) {
      return type == other && rows == shape.count() && length == shape.length();
    }
  }

  private final KernelFamily family;
  private final boolean hasClusters;
  private final Map<String, ArgumentList> prepared = new HashMap<>();
  private @Nullable Choice last;

  SamplingKernels(Context context) {
    this.family = new KernelFamily(context, FAMILY);
    this.hasClusters = context.device().attribute(DeviceAttribute.CLUSTER_LAUNCH) != 0;
  }

  static void requireType(ElementType<?> type) {
    AccumulatorType.requireFloating(type);
    if (type == ElementType.F64) {
      throw new IllegalArgumentException(
          "logits of F64: tokens are drawn from F16, BF16 and F32; convert them first");
    }
  }

  String symbol(ElementType<?> type, long rows, long length) {
    requireType(type);
    return symbol(type, cluster(rows, length));
  }

  private static String symbol(ElementType<?> type, int cluster) {
    return "culebra_sampling_" + (cluster > 1 ? "cluster_" : "block_") + type.symbol();
  }

  /** How many blocks share a row. */
  private int cluster(long rows, long length) {
    if (!hasClusters) {
      return 1;
    }
    for (LaunchTable.Row row : family.table().rows()) {
      if (row.macro().equals(PLAN)) {
        int most = row.natural(MOST_ROWS);
        if ((most == 0 || rows <= most) && length >= row.number(LEAST_ELEMENTS)) {
          return row.number(CLUSTER);
        }
      }
    }
    throw DamagedRoot.because(family.table().name() + " has no plan for " + rows + " rows");
  }

  /** Enqueues the draws; what the views are has been checked. */
  void launch(
      TensorView<?> logits,
      TensorView<?> tokens,
      @Nullable DeviceRange<?> probabilities,
      Sampling.Parameters parameters,
      long offset,
      Stream stream) {
    TensorView.Rows rows = logits.rows();
    if (rows.count() == 0) {
      return;
    }
    Choice choice = last;
    if (choice == null || !choice.isFor(logits.type(), rows)) {
      choice = choose(logits.type(), rows);
      last = choice;
    }
    choice
        .arguments
        .begin()
        .put(tokens.range())
        .putOrNull(probabilities)
        .put(logits.range())
        .put(rows.count())
        .put(rows.length())
        .put(rows.stride())
        .putOrNull(parameters.temperature().ofRows())
        .putOrNull(parameters.topK().ofRows())
        .putOrNull(parameters.topP().ofRows())
        .putOrNull(parameters.minP().ofRows())
        .putOrNull(parameters.seed().ofRows())
        .putOrNull(parameters.offsets())
        .put(parameters.temperature().ofAll().doubleValue())
        .put(parameters.topP().ofAll().doubleValue())
        .put(parameters.minP().ofAll().doubleValue())
        .put(parameters.seed().ofAll().longValue())
        .put(offset)
        .put(parameters.firstRow())
        .put(parameters.topK().ofAll().intValue())
        .put(tokens.type().byteSize())
        .launch(choice.config, stream);
  }

  private Choice choose(ElementType<?> type, TensorView.Rows rows) {
    int cluster = cluster(rows.count(), rows.length());
    LaunchTable.Row row = family.table().row(ROW, type.symbol());
    int most = row.number(THREADS);
    // The whole warps that a block's part of a row fills.
    long warpElements = (long) row.number(PACKS) * PACK_BYTES / type.byteSize() * WARP_THREADS;
    long warps = Math.ceilDiv(Math.ceilDiv(rows.length(), cluster), warpElements);
    int threads = (int) Math.min(most, warps * WARP_THREADS);
    LaunchConfig config =
        LaunchConfig.of(
                (int) Math.min(rows.count(), Integer.MAX_VALUE / cluster) * cluster, threads)
            .withDynamicSharedBytes(row.number(SHARED_BYTES));
    if (cluster > 1) {
      config = config.withClusterBlocks(Dim3.of(cluster));
    }
    ArgumentList arguments =
        prepared.computeIfAbsent(
            symbol(type, cluster),
            symbol -> new ArgumentList(family.prepared(symbol, most), ARGUMENTS));
    return new Choice(type, rows.count(), rows.length(), arguments, config);
  }
}

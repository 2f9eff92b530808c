package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The kernels of the softmax that keep rows on chip, and those that do them in pieces: which of
 * them runs is looked up for each new shape, and kept for the last one. Confined to a thread, as
 * prepared launches are.
 */
final class MaskedSoftmax {

  private static final String FUSED = "softmax_fused";
  private static final String SPLIT = "softmax_split";
  private static final String SPLIT_ROW = "CULEBRA_SOFTMAX_SPLIT";
  private static final int SPLIT_THREADS = 1;

  /** The input, which becomes the output. */
  private static final int RESIDENT_ROWS = 1;

  /** Of (m, d). */
  private static final int STATE_LENGTH = 2;

  private static final String[] ARGUMENTS = {
    "out",
    "in",
    "rows",
    "row_length",
    "out_row_stride",
    "in_row_stride",
    "scale",
    "lengths",
    "mask",
    "mask_inner_rows",
    "mask_inner_stride",
    "mask_middle_rows",
    "mask_middle_stride",
    "mask_outer_stride",
    "log",
    "empty_is_zero"
  };
  private static final String[] ARGUMENTS_AND_PIECES =
      java.util.stream.Stream.concat(
              Arrays.stream(ARGUMENTS),
              java.util.stream.Stream.of("states", "pieces", "piece_length"))
          .toArray(String[]::new);

  /** What is asked of one softmax, beside memory and shape. */
  record Options(double scale, boolean log, boolean emptyIsZero, SoftmaxPlan.Wanted wanted) {}

  /** Of the last shape: one launch, or two of pieces. */
  private record Choice(
      ElementType<?> type,
      long rows,
      long length,
      SoftmaxPlan.Wanted wanted,
      String symbol,
      ArgumentList first,
      @Nullable ArgumentList second,
      LaunchConfig config,
      long pieces,
      long pieceLength) {

    boolean isFor(ElementType<?> other, TensorView.Rows shape, SoftmaxPlan.Wanted plan) {
      return type == other && rows == shape.count() && length == shape.length() && wanted == plan;
    }
  }

  private final Context context;
  private final KernelFamily fused;
  private final KernelFamily split;
  private final Map<String, ArgumentList> prepared = new HashMap<>();
  private final int sharedBytes;
  private @Nullable Choice last;

  MaskedSoftmax(Context context) {
    this.context = context;
    this.fused = new KernelFamily(context, FUSED);
    this.split = new KernelFamily(context, SPLIT);
    this.sharedBytes =
        context.device().attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  }

  /** The kernel that reads the rows of such a shape first. */
  String kernelName(ElementType<?> type, long rows, long length, SoftmaxPlan.Wanted wanted) {
    return choice(type, new TensorView.Rows(rows, length, length), wanted).symbol;
  }

  /**
   * Enqueues one softmax; what the views are has been checked, and there are elements.
   *
   * @param walk how the mask is walked for such an input
   */
  void launch(
      TensorView<?> in,
      TensorView<?> out,
      RowMask mask,
      RowMask.Walk walk,
      Options options,
      Stream stream) {
    Choice choice = choice(in.type(), in.rows(), options.wanted);
    if (choice.second == null) {
      put(choice.first, in, out, mask, walk, options).launch(choice.config, stream);
      return;
    }
    ElementType<?> number = AccumulatorType.of(in.type());
    // Freed in stream order: closing does not wait for the second launch.
    try (DeviceBuffer<?> states =
        context.allocate(number, choice.rows * choice.pieces * STATE_LENGTH, stream)) {
      for (ArgumentList step : new ArgumentList[] {choice.first, choice.second}) {
        put(step, in, out, mask, walk, options)
            .put(states)
            .put(choice.pieces)
            .put(choice.pieceLength)
            .launch(choice.config, stream);
      }
    }
  }

  private static ArgumentList put(
      ArgumentList list,
      TensorView<?> in,
      TensorView<?> out,
      RowMask mask,
      RowMask.Walk walk,
      Options options) {
    TensorView.Rows from = in.rows();
    list.begin()
        .put(out.range())
        .put(in.range())
        .put(from.count())
        .put(from.length())
        .put(out.rows().stride())
        .put(from.stride())
        .put(options.scale);
    putOrNull(list, mask.lengths());
    putOrNull(list, mask.bytes());
    return list.put(walk.innerRows())
        .put(walk.innerStride())
        .put(walk.middleRows())
        .put(walk.middleStride())
        .put(walk.outerStride())
        .put(options.log ? 1 : 0)
        .put(options.emptyIsZero ? 1 : 0);
  }

  private static void putOrNull(ArgumentList list, @Nullable DeviceRange<?> memory) {
    if (memory == null) {
      list.putNull();
    } else {
      list.put(memory);
    }
  }

  private Choice choice(ElementType<?> type, TensorView.Rows shape, SoftmaxPlan.Wanted wanted) {
    Choice known = last;
    if (known == null || !known.isFor(type, shape, wanted)) {
      known = choose(type, shape.count(), shape.length(), wanted);
      last = known;
    }
    return known;
  }

  private Choice choose(ElementType<?> type, long rows, long length, SoftmaxPlan.Wanted wanted) {
    AccumulatorType.requireFloating(type);
    SoftmaxPlan plan =
        SoftmaxPlan.choose(
            fused.table(),
            context.device().computeCapability(),
            sharedBytes,
            RESIDENT_ROWS,
            type,
            rows,
            length,
            wanted);
    if (plan.variant() == SoftmaxPlan.Variant.SPLIT) {
      return pieces(type, rows, length, wanted);
    }
    String symbol = plan.symbol(FUSED, type);
    LaunchConfig config = plan.launch(type, rows, length);
    return new Choice(
        type,
        rows,
        length,
        wanted,
        symbol,
        list(fused, symbol, ARGUMENTS),
        null,
        config,
        1,
        length);
  }

  private Choice pieces(ElementType<?> type, long rows, long length, SoftmaxPlan.Wanted wanted) {
    long pieceLength = RowPieces.pieceLength(split.table(), type, rows, length);
    long pieces = Math.ceilDiv(length, pieceLength);
    int threads = split.table().row(SPLIT_ROW, type.symbol()).number(SPLIT_THREADS);
    String states = "culebra_softmax_split_states_" + type.symbol();
    String finish = "culebra_softmax_split_finish_" + type.symbol();
    int blocks = (int) Math.min(rows * pieces, Integer.MAX_VALUE);
    return new Choice(
        type,
        rows,
        length,
        wanted,
        states,
        list(split, states, ARGUMENTS_AND_PIECES),
        list(split, finish, ARGUMENTS_AND_PIECES),
        LaunchConfig.of(blocks, threads),
        pieces,
        pieceLength);
  }

  private ArgumentList list(KernelFamily family, String symbol, String[] names) {
    return prepared.computeIfAbsent(
        symbol, absent -> new ArgumentList(family.prepared(symbol, 1), names));
  }
}

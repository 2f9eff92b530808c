package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The kernels of the gradient of a softmax: which of them runs is looked up for each new shape, and
 * kept for the last one. Confined to a thread, as prepared launches are.
 */
final class SoftmaxBackwardKernels {

  private static final String FAMILY = "softmax_backward";
  private static final String SPLIT_ROW = "CULEBRA_SOFTMAX_BACKWARD_SPLIT";
  private static final int SPLIT_THREADS = 1;

  /** y and dy. */
  private static final int RESIDENT_ROWS = 2;

  private static final String[] ARGUMENTS = {
    "dx",
    "y",
    "dy",
    "rows",
    "row_length",
    "dx_row_stride",
    "y_row_stride",
    "dy_row_stride",
    "scale",
    "log"
  };
  private static final String[] ARGUMENTS_AND_PIECES = {
    "dx",
    "y",
    "dy",
    "rows",
    "row_length",
    "dx_row_stride",
    "y_row_stride",
    "dy_row_stride",
    "scale",
    "log",
    "sums",
    "pieces",
    "piece_length"
  };

  /** Of the last shape: one launch, or two of pieces. */
  private record Choice(
      ElementType<?> type,
      long rows,
      long length,
      String symbol,
      ArgumentList first,
      @Nullable ArgumentList second,
      LaunchConfig config,
      long pieces,
      long pieceLength) {

    boolean isFor(ElementType<?> other, TensorView.Rows shape) {
      return type == other && rows == shape.count() && length == shape.length();
    }
  }

  private final Context context;
  private final KernelFamily family;
  private final Map<String, ArgumentList> prepared = new HashMap<>();
  private final int sharedBytes;
  private @Nullable Choice last;

  SoftmaxBackwardKernels(Context context) {
    this.context = context;
    this.family = new KernelFamily(context, FAMILY);
    this.sharedBytes =
        context.device().attribute(DeviceAttribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  }

  /** The kernel that reads the rows of such a shape first. */
  String kernelName(ElementType<?> type, long rows, long length) {
    return choice(type, new TensorView.Rows(rows, length, length)).symbol;
  }

  /** Enqueues one gradient; what the views are has been checked, and there are elements. */
  void launch(
      TensorView<?> y,
      TensorView<?> dy,
      TensorView<?> dx,
      double scale,
      boolean log,
      Stream stream) {
    Choice choice = choice(y.type(), y.rows());
    if (choice.second == null) {
      put(choice.first, y, dy, dx, scale, log).launch(choice.config, stream);
      return;
    }
    ElementType<?> number = AccumulatorType.of(y.type());
    // Freed in stream order: closing does not wait for the second launch.
    try (DeviceBuffer<?> sums = context.allocate(number, choice.rows * choice.pieces, stream)) {
      for (ArgumentList step : new ArgumentList[] {choice.first, choice.second}) {
        put(step, y, dy, dx, scale, log)
            .put(sums)
            .put(choice.pieces)
            .put(choice.pieceLength)
            .launch(choice.config, stream);
      }
    }
  }

  private static ArgumentList put(
      ArgumentList list,
      TensorView<?> y,
      TensorView<?> dy,
      TensorView<?> dx,
      double scale,
      boolean log) {
    TensorView.Rows rows = y.rows();
    return list.begin()
        .put(dx.range())
        .put(y.range())
        .put(dy.range())
        .put(rows.count())
        .put(rows.length())
        .put(dx.rows().stride())
        .put(rows.stride())
        .put(dy.rows().stride())
        .put(scale)
        .put(log ? 1 : 0);
  }

  private Choice choice(ElementType<?> type, TensorView.Rows shape) {
    Choice known = last;
    if (known == null || !known.isFor(type, shape)) {
      known = choose(type, shape.count(), shape.length());
      last = known;
    }
    return known;
  }

  private Choice choose(ElementType<?> type, long rows, long length) {
    SoftmaxPlan plan =
        SoftmaxPlan.choose(
            family.table(),
            context.device().computeCapability(),
            sharedBytes,
            RESIDENT_ROWS,
            type,
            rows,
            length,
            SoftmaxPlan.Wanted.ANY);
    if (plan.variant() == SoftmaxPlan.Variant.SPLIT) {
      return pieces(type, rows, length);
    }
    String symbol = plan.symbol(FAMILY, type);
    LaunchConfig config = plan.launch(type, rows, length);
    return new Choice(type, rows, length, symbol, list(symbol, ARGUMENTS), null, config, 1, length);
  }

  private Choice pieces(ElementType<?> type, long rows, long length) {
    long pieceLength = RowPieces.pieceLength(family.table(), type, rows, length);
    long pieces = Math.ceilDiv(length, pieceLength);
    int threads = family.table().row(SPLIT_ROW, type.symbol()).number(SPLIT_THREADS);
    String sums = "culebra_softmax_backward_sums_" + type.symbol();
    String finish = "culebra_softmax_backward_finish_" + type.symbol();
    int blocks = (int) Math.min(rows * pieces, Integer.MAX_VALUE);
    return new Choice(
        type,
        rows,
        length,
        sums,
        list(sums, ARGUMENTS_AND_PIECES),
        list(finish, ARGUMENTS_AND_PIECES),
        LaunchConfig.of(blocks, threads),
        pieces,
        pieceLength);
  }

  private ArgumentList list(String symbol, String[] names) {
    return prepared.computeIfAbsent(
        symbol, absent -> new ArgumentList(family.prepared(symbol, 1), names));
  }
}

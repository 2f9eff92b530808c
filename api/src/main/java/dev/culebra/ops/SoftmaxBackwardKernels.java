package dev.culebra.ops;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import java.util.List;
import java.util.function.UnaryOperator;

/** The kernels of the gradient of a softmax. Confined to a thread, as prepared launches are. */
final class SoftmaxBackwardKernels {

  private static final String FAMILY = "softmax_backward";

  /** y and dy. */
  private static final int RESIDENT_ROWS = 2;

  private static final PlannedRows.Kernels KERNELS =
      new PlannedRows.Kernels(
          FAMILY,
          FAMILY,
          "CULEBRA_SOFTMAX_BACKWARD_SPLIT",
          "sums",
          "finish",
          RESIDENT_ROWS,
          1,
          UnaryOperator.identity(),
          List.of(
              "dx",
              "y",
              "dy",
              "rows",
              "row_length",
              "dx_row_stride",
              "y_row_stride",
              "dy_row_stride",
              "scale",
              "log"),
          List.of("sums", "pieces", "piece_length"));

  private final PlannedRows rows;

  SoftmaxBackwardKernels(Context context) {
    this.rows = new PlannedRows(context, KERNELS);
  }

  /** The kernel that reads the rows of such a shape first. */
  String kernelName(ElementType<?> type, long count, long length) {
    return choice(type, new TensorView.Rows(count, length, length)).symbol();
  }

  /** Enqueues one gradient; what the views are has been checked, and there are elements. */
  void launch(
      TensorView<?> y,
      TensorView<?> dy,
      TensorView<?> dx,
      double scale,
      boolean log,
      Stream stream) {
    PlannedRows.Choice choice = choice(y.type(), y.rows());
    if (choice.second() == null) {
      put(choice.first(), y, dy, dx, scale, log).launch(choice.config(), stream);
    } else {
      rows.inPieces(
          choice,
          (list, sums) ->
              put(list, y, dy, dx, scale, log)
                  .put(sums)
                  .put(choice.pieces())
                  .put(choice.pieceLength()),
          stream);
    }
  }

  private PlannedRows.Choice choice(ElementType<?> type, TensorView.Rows shape) {
    return rows.choice(type, shape, SoftmaxPlan.Wanted.ANY);
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
}

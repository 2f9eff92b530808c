package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.ops.ReductionTotal;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One result for each column of matrices: any axis but the last. A piece has whole matrices; one
 * that is too large for the device is cut into stripes of columns, and these into pieces of rows,
 * whose states are joined here.
 *
 * @param <E> the type of the elements
 */
final class ColumnReduction<E extends ElementType<E>> extends TensorReduction<E> {
  /** Wide enough for its rows to be copied one by one. */
  private static final long STRIPE_BYTES = 1 << 18;

  /** Matrices side by side, as a tensor is seen by one of its axes. */
  private record Shape(long matrices, long length, long columns) {
    static Shape of(Job<?> job, int axis) {
      long[] shape = job.tensor().spec().shape();
      return new Shape(
          product(shape, 0, axis), shape[axis], product(shape, axis + 1, shape.length));
    }

    private static long product(long[] shape, int from, int to) {
      long product = 1;
      for (int axis = from; axis < to; axis++) {
        product = Math.multiplyExact(product, shape[axis]);
      }
      return product;
    }
  }

  private final long matrices;
  private final long length;
  private final long columns;

  ColumnReduction(Job<E> job, int axis) {
    this(job, Shape.of(job, axis));
  }

  private ColumnReduction(Job<E> job, Shape shape) {
    super(job, 1 + Math.max(1, stateRows(job) / (double) Math.max(1, shape.length)));
    this.matrices = shape.matrices;
    this.length = shape.length;
    this.columns = shape.columns;
  }

  /** How many rows take as much memory as what comes of them: a state has two elements at most. */
  private static int stateRows(Job<?> job) {
    return Math.ceilDiv(2 * job.op().partialType(job.type()).byteSize(), job.type().byteSize());
  }

  @Override
  Work<E> workOfOne() {
    return fits(length * columns) ? matrices(1, 1, 1) : pieceOfStripe(1, 1);
  }

  @Override
  String kernelName() {
    return reduction.columnKernelName(type);
  }

  @Override
  void run(ResultSink sink) throws IOException {
    if (matrices == 0 || columns == 0) {
      return;
    }
    if (fits(length * columns)) {
      wholeMatrices(sink);
    } else {
      cutMatrices(sink);
    }
  }

  private void wholeMatrices(ResultSink sink) throws IOException {
    long ofMatrix = length * columns;
    // Columns of no elements have results all the same.
    long most = Math.clamp(pieceElements(ofMatrix) / Math.max(ofMatrix, columns), 1, matrices);
    try (Passage passage = new Passage(most * ofMatrix, Math.ceilDiv(matrices, most))) {
      for (long first = 0; first < matrices; first += most) {
        long count = Math.min(most, matrices - first);
        passage.send(first * ofMatrix, count * ofMatrix, matrices(count, length, columns), sink);
      }
      passage.drain();
    }
  }

  private Work<E> matrices(long count, long rows, long width) {
    return (slot, in) ->
        slot.toResults(
            count * width,
            results ->
                reduction.along(
                    1,
                    TensorView.of(in, count, rows, width),
                    TensorView.of(results, count, width),
                    slot.stream()));
  }

  private void cutMatrices(ResultSink sink) throws IOException {
    long room = pieceElements(1);
    // A piece of few rows would have more states than elements.
    long widest = Math.max(1, room / Math.min(length, stateRows(job)));
    long stripe = Math.clamp(STRIPE_BYTES / type.byteSize(), 1, Math.min(columns, widest));
    long rows = Math.clamp(room / stripe, 1, length);
    long pieces = Math.ceilDiv(columns, stripe) * Math.ceilDiv(length, rows);
    try (Passage passage = new Passage(rows * stripe, pieces)) {
      for (long matrix = 0; matrix < matrices; matrix++) {
        for (long column = 0; column < columns; column += stripe) {
          long width = Math.min(stripe, columns - column);
          sendStripe(passage, matrix * length * columns + column, width, rows, sink);
        }
      }
      passage.drain();
    }
  }

  /** Some columns of one matrix, from an element on, a piece of the rows after the other. */
  private void sendStripe(Passage passage, long start, long width, long most, ResultSink sink)
      throws IOException {
    List<ReductionTotal> totals = new ArrayList<>();
    for (long c = 0; c < width; c++) {
      totals.add(ReductionTotal.of(job.op(), type));
    }
    for (long first = 0; first < length; first += most) {
      long from = start + first * columns;
      long rows = Math.min(most, length - first);
      boolean isLast = first + rows == length;
      passage.send(
          rows * width,
          target -> copyRows(from, width, rows, target),
          pieceOfStripe(rows, width),
          states -> {
            long ofColumn = states.byteSize() / width;
            for (int c = 0; c < width; c++) {
              totals.get(c).add(states.asSlice(c * ofColumn, ofColumn), rows);
            }
            if (isLast) {
              sink.accept(resultsOf(totals));
            }
          });
    }
  }

  private void copyRows(long from, long width, long rows, MemorySegment target) throws IOException {
    long rowBytes = width * type.byteSize();
    job.file()
        .read(
            () -> {
              for (long row = 0; row < rows; row++) {
                target
                    .asSlice(row * rowBytes, rowBytes)
                    .copyFrom(bytes(from + row * columns, width));
              }
            });
  }

  private Work<E> pieceOfStripe(long rows, long width) {
    return (slot, in) -> {
      TensorView<E> view = TensorView.of(in, rows, width);
      return slot.toPartials(
          reduction.partialLengthAlong(0, view),
          states ->
              reduction.partialsAlong(
                  0, view, TensorView.of(states, states.length()), slot.stream()));
    };
  }

  private MemorySegment resultsOf(List<ReductionTotal> totals) {
    MemorySegment results = MemorySegment.ofArray(new byte[totals.size() * resultType.byteSize()]);
    for (int c = 0; c < totals.size(); c++) {
      Scalars.set(results, c, resultType, totals.get(c));
    }
    return results;
  }
}

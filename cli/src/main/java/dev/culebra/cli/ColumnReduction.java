package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.TensorView;
import dev.culebra.ops.ReductionTotal;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * One result for each column of matrices: any axis but the last. As many whole matrices go to the
 * device at once as there is place for; one that is too large goes there in pieces of its rows,
 * whose states are joined here.
 */
final class ColumnReduction extends TensorReduction {
  /** Wide enough for its rows to be copied one by one. */
  private static final long STRIPE_BYTES = 1 << 18;

  private final long matrices;
  private final long length;
  private final long columns;

  ColumnReduction(Job job, int axis) {
    super(job);
    long[] shape = job.tensor().spec().shape();
    this.matrices = product(shape, 0, axis);
    this.length = shape[axis];
    this.columns = product(shape, axis + 1, shape.length);
    try (DeviceBuffer<?> in = allocate(type, 2);
        DeviceBuffer<?> out = allocate(resultType, 2)) {
      in.zero(job.open().stream());
      job.timer()
          .warmUp(
              () ->
                  reduction.along(
                      0, TensorView.of(in, 1, 2), TensorView.of(out, 2), job.open().stream()));
    }
  }

  private static long product(long[] shape, int from, int to) {
    long product = 1;
    for (int axis = from; axis < to; axis++) {
      product = Math.multiplyExact(product, shape[axis]);
    }
    return product;
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
    try (Progress progress = progress()) {
      if (length * columns <= elementsAtOnce()) {
        wholeMatrices(sink, progress);
        return;
      }
      long stripe = Math.min(columns, Math.max(1, STRIPE_BYTES / type.byteSize()));
      for (long matrix = 0; matrix < matrices; matrix++) {
        for (long column = 0; column < columns; column += stripe) {
          stripe(matrix, column, Math.min(stripe, columns - column), sink, progress);
        }
      }
    }
  }

  private void wholeMatrices(ResultSink sink, Progress progress) throws IOException {
    long ofMatrix = length * columns;
    long most = Math.min(matrices, Math.max(1, elementsAtOnce() / Math.max(1, ofMatrix)));
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, most * ofMatrix);
        DeviceBuffer<?> out = allocate(resultType, most * columns)) {
      MemorySegment host = arena.allocate(out.byteSize());
      for (long first = 0; first < matrices; first += most) {
        long from = first * ofMatrix;
        long count = Math.min(most, matrices - first);
        DeviceRange<?> part = in.view(0, count * ofMatrix);
        DeviceRange<?> results = out.view(0, count * columns);
        job.file().read(() -> part.copyFrom(bytes(from, part.length())));
        job.timer()
            .time(
                () ->
                    reduction.along(
                        1,
                        TensorView.of(part, count, length, columns),
                        TensorView.of(results, count, columns),
                        job.open().stream()));
        MemorySegment bytes = host.asSlice(0, results.byteSize());
        results.copyTo(bytes);
        sink.accept(bytes);
        progress.advance(part.byteSize());
      }
    }
  }

  /** Some columns of one matrix, a piece of the rows after the other. */
  private void stripe(long matrix, long column, long width, ResultSink sink, Progress progress)
      throws IOException {
    List<ReductionTotal> totals = new ArrayList<>();
    for (long c = 0; c < width; c++) {
      totals.add(ReductionTotal.of(job.op(), type));
    }
    long most = Math.clamp(elementsAtOnce() / width, 1, length);
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, most * width)) {
      for (long first = 0; first < length; first += most) {
        long rows = Math.min(most, length - first);
        DeviceRange<?> part = in.view(0, rows * width);
        copyRows((matrix * length + first) * columns + column, width, rows, part);
        join(part, rows, width, totals);
        progress.advance(part.byteSize());
      }
      MemorySegment results = arena.allocate(width * resultType.byteSize());
      for (int c = 0; c < width; c++) {
        Scalars.set(results, c, resultType, totals.get(c));
      }
      sink.accept(results);
    }
  }

  private void copyRows(long from, long width, long rows, DeviceRange<?> part) throws IOException {
    job.file()
        .read(
            () -> {
              if (width == columns) {
                part.copyFrom(bytes(from, rows * width));
                return;
              }
              for (long row = 0; row < rows; row++) {
                part.view(row * width, (row + 1) * width)
                    .copyFrom(bytes(from + row * columns, width));
              }
            });
  }

  private void join(DeviceRange<?> part, long rows, long width, List<ReductionTotal> totals) {
    TensorView<?> view = TensorView.of(part, rows, width);
    long length = reduction.partialLengthAlong(0, view);
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> out = allocate(job.op().partialType(type), length)) {
      job.timer()
          .time(
              () ->
                  reduction.partialsAlong(
                      0, view, TensorView.of(out, length), job.open().stream()));
      MemorySegment states = arena.allocate(out.byteSize());
      out.copyTo(states);
      long ofColumn = states.byteSize() / width;
      for (int c = 0; c < width; c++) {
        totals.get(c).add(states.asSlice(c * ofColumn, ofColumn), rows);
      }
    }
  }
}

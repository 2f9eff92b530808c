package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.ops.Reduction;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashSet;
import java.util.List;

/** Reduces a tensor of any size by passing it through the device in pieces. */
final class TensorReduction {
  /** Takes the result piece by piece, in order. */
  interface ResultSink {
    void accept(MemorySegment bytes) throws IOException;
  }

  private final Surroundings surroundings;
  private final OpenDevice open;
  private final KernelTimer timer;
  private final Reduction reduction;

  TensorReduction(Surroundings surroundings, OpenDevice open, KernelTimer timer, Reduction.Op op) {
    this.surroundings = surroundings;
    this.open = open;
    this.timer = timer;
    this.reduction = Reduction.of(open.context(), op);
  }

  /** The kernel for a type. */
  String kernelName(ElementType<?> type) {
    return reduction.kernelName(type);
  }

  /** Loads what a run needs, for the kernels of the input's type and of the results'. */
  private void warmUp(Reduction what, ElementType<?> type) {
    for (ElementType<?> each : new LinkedHashSet<>(List.of(type, Reduction.resultType(type)))) {
      try (DeviceBuffer<?> in = allocate(each, 1);
          DeviceBuffer<?> out = allocate(Reduction.resultType(each), 1)) {
        in.zero(open.stream());
        timer.warmUp(() -> what.all(TensorView.of(in, 1), TensorView.of(out), open.stream()));
      }
    }
  }

  /** One result a row. */
  void lastAxis(TensorData tensor, ElementType<?> type, ResultSink sink) throws IOException {
    RowChunks chunks = RowChunks.of(tensor.spec(), surroundings.chunkBytes());
    ElementType<?> resultType = Reduction.resultType(type);
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, chunks.rowsPerChunk() * chunks.rowLength());
        DeviceBuffer<?> out = allocate(resultType, chunks.rowsPerChunk());
        Progress progress = new Progress(surroundings, tensor.spec().byteSize())) {
      warmUp(reduction, type);
      MemorySegment host = arena.allocate(out.byteSize());
      for (RowChunks.Chunk chunk : chunks) {
        long first = chunk.first() * chunks.rowLength();
        long elements = chunk.count() * chunks.rowLength();
        DeviceRange<?> rows = in.view(0, elements);
        DeviceRange<?> results = out.view(0, chunk.count());
        rows.copyFrom(bytes(tensor, type, first, elements));
        timer.time(
            () ->
                reduction.lastAxis(
                    TensorView.of(rows, chunk.count(), chunks.rowLength()),
                    TensorView.of(results, chunk.count()),
                    open.stream()));
        MemorySegment part = host.asSlice(0, results.byteSize());
        results.copyTo(part);
        sink.accept(part);
        progress.advance(rows.byteSize());
      }
    }
  }

  /** One result for all elements. */
  void all(TensorData tensor, ElementType<?> type, ResultSink sink) throws IOException {
    long total = tensor.spec().elementCount();
    long perPiece = Math.max(1, surroundings.chunkBytes() / type.byteSize());
    boolean isWhole = total <= perPiece;
    // The mean of pieces of unequal length is not the mean of their means.
    boolean isMeanOfPieces = reduction.op() == Reduction.Op.MEAN && !isWhole;
    Reduction ofPiece = isMeanOfPieces ? Reduction.of(open.context(), Reduction.Op.SUM) : reduction;
    ElementType<?> resultType = Reduction.resultType(type);
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, Math.min(total, perPiece));
        DeviceBuffer<?> out = allocate(resultType, 1);
        Progress progress = new Progress(surroundings, tensor.spec().byteSize())) {
      warmUp(ofPiece, type);
      MemorySegment host = arena.allocate(out.byteSize());
      double combined = Double.NaN;
      long done = 0;
      do {
        long elements = Math.min(perPiece, total - done);
        DeviceRange<?> piece = in.view(0, elements);
        piece.copyFrom(bytes(tensor, type, done, elements));
        timer.time(
            () -> ofPiece.all(TensorView.of(piece, elements), TensorView.of(out), open.stream()));
        out.copyTo(host);
        double value = Scalars.get(host, resultType);
        combined = done == 0 ? value : combine(combined, value);
        done += elements;
        progress.advance(piece.byteSize());
      } while (done < total);
      if (!isWhole) {
        Scalars.set(host, resultType, isMeanOfPieces ? combined / total : combined);
      }
      sink.accept(host);
    }
  }

  /** Joins the results of two pieces; NaN stays NaN. */
  private double combine(double a, double b) {
    return switch (reduction.op()) {
      case SUM, MEAN -> a + b;
      case MAX -> Math.max(a, b);
      case MIN -> Math.min(a, b);
    };
  }

  private <E extends ElementType<E>> DeviceBuffer<E> allocate(ElementType<E> type, long length) {
    return open.context().allocate(type, length, open.stream());
  }

  private static MemorySegment bytes(
      TensorData tensor, ElementType<?> type, long first, long elements) {
    return tensor.bytes().asSlice(first * type.byteSize(), elements * type.byteSize());
  }
}

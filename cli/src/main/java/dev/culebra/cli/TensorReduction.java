package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
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
  private final TensorFile file;
  private final TensorData tensor;
  private final ElementType<?> type;
  private final ElementType<?> resultType;

  /** Loads what a run needs; nothing of the tensor is read before {@link #run}. */
  TensorReduction(
      Surroundings surroundings,
      OpenDevice open,
      KernelTimer timer,
      Reduction.Op op,
      TensorFile file,
      TensorData tensor) {
    this.surroundings = surroundings;
    this.open = open;
    this.timer = timer;
    this.reduction = Reduction.of(open.context(), op);
    this.file = file;
    this.tensor = tensor;
    this.type = TensorArguments.elementType(tensor.spec().dtype());
    this.resultType = Reduction.resultType(type);
    warmUp();
  }

  /** The kernel that reads the tensor. */
  String kernelName() {
    return reduction.kernelName(type);
  }

  /** Reduces the tensor. */
  void run(ReduceCommand.Axis axis, ResultSink sink) throws IOException {
    switch (axis) {
      case LAST -> lastAxis(sink);
      case ALL -> all(sink);
    }
  }

  private void warmUp() {
    for (ElementType<?> each : new LinkedHashSet<>(List.of(type, resultType))) {
      try (DeviceBuffer<?> in = allocate(each, 1);
          DeviceBuffer<?> out = allocate(resultType, 1)) {
        in.zero(open.stream());
        timer.warmUp(() -> reduction.all(TensorView.of(in, 1), TensorView.of(out), open.stream()));
      }
    }
  }

  /** One result a row. */
  private void lastAxis(ResultSink sink) throws IOException {
    RowChunks chunks = RowChunks.of(tensor.spec(), surroundings.chunkBytes());
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, chunks.rowsPerChunk() * chunks.rowLength());
        DeviceBuffer<?> out = allocate(resultType, chunks.rowsPerChunk());
        Progress progress = new Progress(surroundings, tensor.spec().byteSize())) {
      MemorySegment host = arena.allocate(out.byteSize());
      for (RowChunks.Chunk chunk : chunks) {
        long first = chunk.first() * chunks.rowLength();
        long elements = chunk.count() * chunks.rowLength();
        DeviceRange<?> rows = in.view(0, elements);
        DeviceRange<?> results = out.view(0, chunk.count());
        file.read(() -> rows.copyFrom(bytes(first, elements)));
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
  private void all(ResultSink sink) throws IOException {
    long total = tensor.spec().elementCount();
    long perPiece = Math.max(1, surroundings.chunkBytes() / type.byteSize());
    boolean isWhole = total <= perPiece;
    // The mean of pieces of unequal length is not the mean of their means.
    boolean isMeanOfPieces = reduction.op() == Reduction.Op.MEAN && !isWhole;
    Reduction ofPiece = isMeanOfPieces ? Reduction.of(open.context(), Reduction.Op.SUM) : reduction;
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, Math.min(total, perPiece));
        DeviceBuffer<?> out = allocate(resultType, 1);
        Progress progress = new Progress(surroundings, tensor.spec().byteSize())) {
      MemorySegment host = arena.allocate(out.byteSize());
      double combined = Double.NaN;
      long done = 0;
      do {
        long first = done;
        long elements = Math.min(perPiece, total - first);
        DeviceRange<?> piece = in.view(0, elements);
        file.read(() -> piece.copyFrom(bytes(first, elements)));
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

  private MemorySegment bytes(long first, long elements) {
    return tensor.bytes().asSlice(first * type.byteSize(), elements * type.byteSize());
  }
}

package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.ops.Reduction;
import dev.culebra.ops.ReductionTotal;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

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
  private final ReduceCommand.Axis axis;
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
      ReduceCommand.Axis axis,
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
    this.axis = axis;
    warmUp();
  }

  /** The kernel that reads the tensor. */
  String kernelName() {
    return axis == ReduceCommand.Axis.ALL
        ? reduction.partialKernelName(type)
        : reduction.kernelName(type);
  }

  /** Reduces the tensor. */
  void run(ResultSink sink) throws IOException {
    switch (axis) {
      case LAST -> lastAxis(sink);
      case ALL -> all(sink);
    }
  }

  private void warmUp() {
    try (DeviceBuffer<?> in = allocate(type, 1);
        DeviceBuffer<?> out = allocate(resultType, reduction.partialLength(type, 1))) {
      in.zero(open.stream());
      TensorView<?> one = TensorView.of(in, 1);
      timer.warmUp(
          () -> {
            switch (axis) {
              case LAST -> reduction.lastAxis(one, TensorView.of(out.view(0, 1)), open.stream());
              case ALL -> reduction.partials(one, TensorView.of(out, out.length()), open.stream());
            }
          });
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

  /** One result for all elements: partial results of the pieces, joined and rounded once. */
  private void all(ResultSink sink) throws IOException {
    long total = tensor.spec().elementCount();
    long perPiece = Math.max(1, surroundings.chunkBytes() / type.byteSize());
    long perBuffer = Math.min(total, perPiece);
    ReductionTotal joined = ReductionTotal.of(reduction.op());
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, perBuffer);
        DeviceBuffer<?> out = allocate(resultType, reduction.partialLength(type, perBuffer));
        Progress progress = new Progress(surroundings, tensor.spec().byteSize())) {
      MemorySegment host = arena.allocate(out.byteSize());
      for (long done = 0; done < total; done += perPiece) {
        long first = done;
        long elements = Math.min(perPiece, total - first);
        DeviceRange<?> piece = in.view(0, elements);
        DeviceRange<?> partials = out.view(0, reduction.partialLength(type, elements));
        file.read(() -> piece.copyFrom(bytes(first, elements)));
        timer.time(
            () ->
                reduction.partials(
                    TensorView.of(piece, elements),
                    TensorView.of(partials, partials.length()),
                    open.stream()));
        MemorySegment part = host.asSlice(0, partials.byteSize());
        partials.copyTo(part);
        joined.add(part, resultType);
        progress.advance(piece.byteSize());
      }
      MemorySegment result = arena.allocate(resultType.byteSize());
      Scalars.set(result, resultType, joined.value(total));
      sink.accept(result);
    }
  }

  private <E extends ElementType<E>> DeviceBuffer<E> allocate(ElementType<E> type, long length) {
    return open.context().allocate(type, length, open.stream());
  }

  private MemorySegment bytes(long first, long elements) {
    return tensor.bytes().asSlice(first * type.byteSize(), elements * type.byteSize());
  }
}

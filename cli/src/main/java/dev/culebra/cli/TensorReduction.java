package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
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
abstract class TensorReduction {
  /** Takes the result piece by piece, in order. */
  interface ResultSink {
    void accept(MemorySegment bytes) throws IOException;
  }

  /**
   * What a reduction runs with.
   *
   * @param op what to compute
   * @param tensor the input, of a type that the operation takes
   */
  record Job(
      Surroundings surroundings,
      OpenDevice open,
      KernelTimer timer,
      Reduction.Op op,
      TensorFile file,
      TensorData tensor) {}

  final Job job;
  final Reduction reduction;
  final ElementType<?> type;
  final ElementType<?> resultType;

  /** Loads what a run needs; nothing of the tensor is read before {@link #run}. */
  TensorReduction(Job job) {
    this.job = job;
    this.reduction = Reduction.of(job.open().context(), job.op());
    this.type = TensorArguments.elementType(job.tensor().spec().dtype());
    this.resultType = job.op().resultType(type);
  }

  /** The kernel that reads the tensor. */
  abstract String kernelName();

  /** Reduces the tensor. */
  abstract void run(ResultSink sink) throws IOException;

  final <E extends ElementType<E>> DeviceBuffer<E> allocate(ElementType<E> of, long length) {
    return job.open().context().allocate(of, length, job.open().stream());
  }

  final Progress progress() {
    return new Progress(job.surroundings(), job.tensor().spec().byteSize());
  }

  /** How many elements are on the device at once, at least 1. */
  final long elementsAtOnce() {
    return Math.max(1, job.surroundings().chunkBytes() / type.byteSize());
  }

  final MemorySegment bytes(long first, long elements) {
    return job.tensor().bytes().asSlice(first * type.byteSize(), elements * type.byteSize());
  }

  /** One result for the elements [first, first + count): partial results, rounded once. */
  final ReductionTotal total(long first, long count, Progress progress) throws IOException {
    long perBuffer = Math.clamp(count, 1, elementsAtOnce());
    ElementType<?> partialType = job.op().partialType(type);
    ReductionTotal joined = ReductionTotal.of(job.op(), type);
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, perBuffer);
        DeviceBuffer<?> out = allocate(partialType, reduction.partialLength(type, perBuffer))) {
      MemorySegment host = arena.allocate(out.byteSize());
      for (long done = 0; done < count; done += perBuffer) {
        long from = first + done;
        long elements = Math.min(perBuffer, count - done);
        var piece = in.view(0, elements);
        var partials = out.view(0, reduction.partialLength(type, elements));
        job.file().read(() -> piece.copyFrom(bytes(from, elements)));
        job.timer()
            .time(
                () ->
                    reduction.partials(
                        TensorView.of(piece, elements),
                        TensorView.of(partials, partials.length()),
                        job.open().stream()));
        MemorySegment part = host.asSlice(0, partials.byteSize());
        partials.copyTo(part);
        joined.add(part, elements);
        progress.advance(piece.byteSize());
      }
    }
    return joined;
  }
}

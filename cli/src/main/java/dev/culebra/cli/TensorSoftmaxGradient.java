package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.ops.SoftmaxBackward;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The gradient of a softmax of any number of rows, passed through the device in pieces, with copies
 * on their way while others are computed.
 *
 * @param <E> the type of the elements
 */
final class TensorSoftmaxGradient<E extends ElementType<E>> {
  /** A tensor in its file. */
  record Source(TensorFile file, TensorData tensor) {}

  private final Surroundings surroundings;
  private final OpenDevice open;
  private final Source y;
  private final Source dy;
  private final ElementType<E> type;
  private final SoftmaxBackward backward;
  private final long rowLength;
  private final long budgetBytes;
  private double kernelSeconds;

  /** Loads what a run needs; nothing of the tensors is read before {@link #run}. */
  TensorSoftmaxGradient(
      Surroundings surroundings,
      OpenDevice open,
      Source y,
      Source dy,
      ElementType<E> type,
      boolean log,
      double scale) {
    this.surroundings = surroundings;
    this.open = open;
    this.y = y;
    this.dy = dy;
    this.type = type;
    this.backward = SoftmaxBackward.of(open.context()).withLog(log).withScale(scale);
    long[] shape = y.tensor.spec().shape();
    this.rowLength = shape[shape.length - 1];
    // Each tensor has half of the memory.
    this.budgetBytes = open.pieceBytes(surroundings.chunkBytes(), 2) / 2;
  }

  /** The kernel that reads the tensors first. */
  String kernelName() {
    RowChunks chunks = chunks();
    long rows = Math.min(chunks.rows(), chunks.rowsPerChunk());
    return backward.kernelName(type, Math.max(1, rows), Math.max(1, rowLength));
  }

  /** The time of the kernels so far. */
  double kernelSeconds() {
    return kernelSeconds;
  }

  /** Computes an element, so that what kernels take to be loaded is not counted. */
  void warmUp() throws IOException {
    try (SoftmaxSlot<E> slot = slot(1, 1)) {
      TensorView<E> one =
          TensorView.of(slot.data().send(1, bytes -> bytes.fill((byte) 0), slot.stream()), 1, 1);
      slot.timer().warmUp(() -> backward.run(one, one, one, slot.stream()));
    }
  }

  private SoftmaxSlot<E> slot(long rows, long rowElements) {
    return new SoftmaxSlot<>(
        open.context(), type, SoftmaxMasks.Opened.NONE, rows, rowElements, true);
  }

  private RowChunks chunks() {
    long slotBytes = SlotRing.slotBytes(budgetBytes, Math.max(1, rowLength) * type.byteSize());
    return RowChunks.ofElements(y.tensor.spec(), slotBytes);
  }

  /** Computes the gradient and hands it over piece by piece, in order. */
  void run(TensorReduction.ResultSink sink) throws IOException {
    if (y.tensor.spec().elementCount() == 0) {
      return;
    }
    RowChunks chunks = chunks();
    long slotBytes = chunks.rowsPerChunk() * rowLength * type.byteSize();
    long pieces = Math.ceilDiv(chunks.rows(), chunks.rowsPerChunk());
    int slots = SlotRing.count(budgetBytes, slotBytes, pieces);
    try (Progress progress = new Progress(surroundings, y.tensor.spec().byteSize());
        SlotRing<SoftmaxSlot<E>> ring =
            new SlotRing<>(slots, () -> slot(chunks.rowsPerChunk(), rowLength))) {
      for (RowChunks.Chunk chunk : chunks) {
        SoftmaxSlot<E> slot = ring.next();
        TensorView<E> results = send(slot, slot.data(), y, chunk);
        TensorView<E> gradients = send(slot, slot.second(), dy, chunk);
        slot.timer().enqueue(() -> backward.run(results, gradients, gradients, slot.stream()));
        slot.second().fetch(gradients.elementCount(), slot.stream());
        ring.inFlight(
            gradients.range().byteSize(),
            () -> {
              MemorySegment dx = slot.second().fetched(gradients.elementCount());
              kernelSeconds += slot.timer().collect();
              sink.accept(dx);
              progress.advance(dx.byteSize());
            });
      }
      ring.drain();
    }
  }

  private TensorView<E> send(
      SoftmaxSlot<E> slot, StagedBuffer<E> to, Source source, RowChunks.Chunk chunk)
      throws IOException {
    return slot.send(
        to, source.file, source.tensor, chunk.first() * rowLength, chunk.count(), rowLength);
  }
}

package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * Passes the rows of a tensor of any size through the device, of which each gives a few elements of
 * one or more results: in pieces of whole rows, with copies on their way while others are computed.
 *
 * @param <E> the type of the elements
 */
final class RowPassage<E extends ElementType<E>> implements AutoCloseable {
  /**
   * What comes of a row.
   *
   * @param type of its elements
   * @param ofRow how many a row gives
   */
  record Result(ElementType<?> type, long ofRow) {
    private long byteSize() {
      return ofRow * type.byteSize();
    }
  }

  /** What is done with rows that were sent. */
  interface Work<E extends ElementType<E>> {
    /**
     * Enqueues it.
     *
     * @param rows the rows, of shape [rows, length]
     * @param first the place of the first of them in the tensor
     * @param results where what comes of them goes, in the order of the results
     */
    void enqueue(TensorView<E> rows, long first, List<DeviceView<?>> results, Stream stream);
  }

  /** Takes the results piece by piece, in order. */
  interface Sink {
    void accept(int result, MemorySegment bytes) throws IOException;
  }

  private static final class Slot<E extends ElementType<E>> extends PieceSlot<E> {
    private final List<StagedBuffer<?>> results = new ArrayList<>();

    Slot(Context context, ElementType<E> type, long rows, long length, List<Result> results) {
      super(context, type, rows * length);
      for (Result result : results) {
        this.results.add(staged(result.type, rows * result.ofRow));
      }
    }
  }

  private final Surroundings surroundings;
  private final TensorFile file;
  private final TensorData tensor;
  private final List<Result> results;
  private final Work<E> work;
  private final RowChunks chunks;
  private final SlotRing<Slot<E>> ring;
  private double kernelSeconds;

  /**
   * Makes room for rows on the device; nothing of the tensor is read before {@link #run}.
   *
   * @param tensor rows of at least one element
   * @param type the type of its elements
   * @param results what comes of each row
   * @param scratchShare what the work allocates for a byte of the rows
   * @param work what is done with them
   */
  RowPassage(
      Surroundings surroundings,
      OpenDevice open,
      TensorFile file,
      TensorData tensor,
      ElementType<E> type,
      List<Result> results,
      double scratchShare,
      Work<E> work) {
    this.surroundings = surroundings;
    this.file = file;
    this.tensor = tensor;
    this.results = results;
    this.work = work;
    long[] shape = tensor.spec().shape();
    long rowBytes = shape[shape.length - 1] * type.byteSize();
    double resultBytes = results.stream().mapToLong(Result::byteSize).sum();
    long budgetBytes =
        open.pieceBytes(surroundings.chunkBytes(), 1 + scratchShare + resultBytes / rowBytes);
    this.chunks = RowChunks.of(tensor.spec(), SlotRing.slotBytes(budgetBytes, rowBytes));
    long rows = chunks.rowsPerChunk();
    int slots = SlotRing.count(budgetBytes, rows * rowBytes, Math.ceilDiv(chunks.rows(), rows));
    this.ring =
        new SlotRing<>(
            slots, () -> new Slot<>(open.context(), type, rows, chunks.rowLength(), results));
  }

  /** Does it with a row of zeros, so that what kernels take to be loaded is not counted. */
  void warmUp() throws IOException {
    Slot<E> slot = ring.next();
    DeviceView<E> row = slot.data().view(chunks.rowLength());
    row.zero(slot.stream());
    List<DeviceView<?>> out = views(slot, 1);
    slot.timer()
        .warmUp(() -> work.enqueue(TensorView.of(row, 1, row.length()), 0, out, slot.stream()));
  }

  private List<DeviceView<?>> views(Slot<E> slot, long rows) {
    List<DeviceView<?>> views = new ArrayList<>();
    for (int i = 0; i < results.size(); i++) {
      views.add(slot.results.get(i).view(rows * results.get(i).ofRow));
    }
    return views;
  }

  /** Does it with all rows and hands the results over. */
  void run(Sink sink) throws IOException {
    try (Progress progress = new Progress(surroundings, tensor.spec().byteSize())) {
      for (RowChunks.Chunk chunk : chunks) {
        send(chunk, sink, progress);
      }
      ring.drain();
    }
  }

  private void send(RowChunks.Chunk chunk, Sink sink, Progress progress) throws IOException {
    Slot<E> slot = ring.next();
    long length = chunks.rowLength();
    long rows = chunk.count();
    DeviceView<E> sent =
        slot.send(slot.data(), file, tensor, chunk.first() * length, rows * length);
    List<DeviceView<?>> out = views(slot, rows);
    slot.timer()
        .enqueue(
            () ->
                work.enqueue(TensorView.of(sent, rows, length), chunk.first(), out, slot.stream()));
    for (int i = 0; i < out.size(); i++) {
      slot.results.get(i).fetch(out.get(i).length(), slot.stream());
    }
    long bytes = sent.byteSize();
    ring.inFlight(
        bytes,
        () -> {
          for (int i = 0; i < out.size(); i++) {
            sink.accept(i, slot.results.get(i).fetched(out.get(i).length()));
          }
          kernelSeconds += slot.timer().collect();
          progress.advance(bytes);
        });
  }

  /** The most rows that the work gets at once. */
  long rowsAtOnce() {
    return chunks.rowsPerChunk();
  }

  /** The time of the kernels so far. */
  double kernelSeconds() {
    return kernelSeconds;
  }

  /** How many bytes of the tensor were on their way at the same time, at most. */
  long mostInFlightBytes() {
    return ring.mostInFlightBytes();
  }

  @Override
  public void close() {
    ring.close();
  }
}

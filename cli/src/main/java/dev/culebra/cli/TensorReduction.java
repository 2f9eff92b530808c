package dev.culebra.cli;

import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.ops.Reduction;
import dev.culebra.ops.ReductionTotal;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/**
 * Reduces a tensor of any size by passing it through the device in pieces, with copies on their way
 * while others are computed. What has one result and is too large for a piece is cut, and the
 * states of its pieces are joined here.
 *
 * @param <E> the type of the elements
 */
abstract class TensorReduction<E extends ElementType<E>> {
  /** Takes the result piece by piece, in order. */
  interface ResultSink {
    void accept(MemorySegment bytes) throws IOException;
  }

  /**
   * What a reduction runs with.
   *
   * @param op what to compute
   * @param tensor the input, of a type that the operation takes
   * @param type the type of its elements
   */
  record Job<E extends ElementType<E>>(
      Surroundings surroundings,
      OpenDevice open,
      Reduction.Op op,
      TensorFile file,
      TensorData tensor,
      ElementType<E> type) {}

  /** What is done with elements that were sent. */
  interface Work<E extends ElementType<E>> {
    /** Enqueues the reduction on the slot's stream; the result waits for what comes of it. */
    Supplier<MemorySegment> enqueue(ReductionSlot<E> slot, DeviceView<E> elements)
        throws IOException;
  }

  final Job<E> job;
  final Reduction reduction;
  final ElementType<E> type;
  final ElementType<?> resultType;
  private final long budgetBytes;
  private double kernelSeconds;
  private long mostInFlightBytes;

  /**
   * Loads what a run needs; nothing of the tensor is read before {@link #run}.
   *
   * @param share what a byte of the tensor takes on the device with what comes of it
   */
  TensorReduction(Job<E> job, double share) {
    this.job = job;
    this.type = job.type;
    this.reduction = Reduction.of(job.open.context(), job.op);
    this.resultType = job.op.resultType(type);
    this.budgetBytes = job.open.pieceBytes(job.surroundings.chunkBytes(), share);
  }

  /** {@return the share of what gives a result for so many elements} */
  static double shareOf(Job<?> job, long elementsOfResult) {
    double bytesOfResult = (double) Math.max(1, elementsOfResult) * job.type.byteSize();
    return 1 + job.op.resultType(job.type).byteSize() / bytesOfResult;
  }

  /** The kernel that reads the tensor. */
  abstract String kernelName();

  /** Reduces a zero, so that what kernels take to be loaded is not counted. */
  final void warmUp() throws IOException {
    // Closing the slot waits for it.
    try (ReductionSlot<E> slot = slot(1)) {
      DeviceView<E> zero = slot.data().send(1, bytes -> bytes.fill((byte) 0), slot.stream());
      workOfOne().enqueue(slot, zero);
    }
  }

  /** What {@link #run} does with the tensor, of one element. */
  abstract Work<E> workOfOne();

  /** Reduces the tensor and hands its results over in order. */
  abstract void run(ResultSink sink) throws IOException;

  /** The time of the kernels so far. */
  final double kernelSeconds() {
    return kernelSeconds;
  }

  /** How many bytes of the tensor were on their way at the same time, at most. */
  final long mostInFlightBytes() {
    return mostInFlightBytes;
  }

  /** The states of elements that have one result. */
  final Supplier<MemorySegment> partials(ReductionSlot<E> slot, DeviceView<E> elements) {
    return slot.toPartials(
        reduction.partialLength(type, elements.length()),
        partials ->
            reduction.partials(
                TensorView.of(elements, elements.length()),
                TensorView.of(partials, partials.length()),
                slot.stream()));
  }

  private ReductionSlot<E> slot(long elements) {
    return new ReductionSlot<>(job.open, job.op, type, elements);
  }

  /** Whether so many elements can be on the device at once. */
  final boolean fits(long elements) {
    return elements <= budgetBytes / type.byteSize();
  }

  /**
   * How many elements a piece has, at most.
   *
   * @param least elements that must not be cut
   */
  final long pieceElements(long least) {
    long bytes = SlotRing.slotBytes(budgetBytes, least * type.byteSize());
    return Math.max(1, bytes / type.byteSize());
  }

  final MemorySegment bytes(long first, long elements) {
    return job.tensor.bytes().asSlice(first * type.byteSize(), elements * type.byteSize());
  }

  /** Pieces of the tensor on their way through the device. */
  final class Passage implements AutoCloseable {
    private final Progress progress = new Progress(job.surroundings, job.tensor.spec().byteSize());
    private final SlotRing<ReductionSlot<E>> ring;

    /**
     * Makes as many slots as there is memory for, and pieces to fill them.
     *
     * @param pieceElements elements of a piece, at most
     * @param pieces how many pieces there will be, or more
     */
    Passage(long pieceElements, long pieces) {
      long room = Math.max(1, pieceElements);
      int slots = SlotRing.count(budgetBytes, room * type.byteSize(), pieces);
      ring = new SlotRing<>(slots, () -> slot(room));
    }

    /**
     * Sends elements, enqueues their reduction and has what comes of it fetched; waits only for the
     * slot, which is that of some piece before.
     *
     * @param elements how many
     * @param filling writes them
     * @param work enqueues the reduction
     * @param sink takes what came of them, when it is there
     */
    void send(long elements, StagedBuffer.Filling filling, Work<E> work, ResultSink sink)
        throws IOException {
      ReductionSlot<E> slot = ring.next();
      DeviceView<E> in = slot.data().send(elements, filling, slot.stream());
      Supplier<MemorySegment> out = work.enqueue(slot, in);
      long bytes = in.byteSize();
      ring.inFlight(
          bytes,
          () -> {
            MemorySegment fetched = out.get();
            kernelSeconds += slot.timer().collect();
            sink.accept(fetched);
            progress.advance(bytes);
          });
    }

    /** The same for elements that lie side by side in the tensor, from the first on. */
    void send(long first, long elements, Work<E> work, ResultSink sink) throws IOException {
      MemorySegment source = bytes(first, elements);
      send(elements, target -> job.file.read(() -> target.copyFrom(source)), work, sink);
    }

    /**
     * Sends the elements {@code [first, first + count)}, at least one, in pieces, and when the last
     * is back hands over their one result, which is rounded once.
     */
    void sendTotal(long first, long count, long pieceElements, ResultSink sink) throws IOException {
      ReductionTotal joined = ReductionTotal.of(job.op, type);
      for (long done = 0; done < count; done += pieceElements) {
        long from = first + done;
        long elements = Math.min(pieceElements, count - done);
        boolean isLast = done + elements == count;
        send(
            from,
            elements,
            TensorReduction.this::partials,
            states -> {
              joined.add(states, elements);
              if (isLast) {
                sink.accept(Scalars.of(resultType, joined));
              }
            });
      }
    }

    /** Waits for all pieces. */
    void drain() throws IOException {
      ring.drain();
    }

    @Override
    public void close() {
      mostInFlightBytes = ring.mostInFlightBytes();
      try {
        ring.close();
      } finally {
        progress.close();
      }
    }
  }
}

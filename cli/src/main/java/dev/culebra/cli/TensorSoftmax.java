package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.ops.RowMask;
import dev.culebra.ops.Softmax;
import dev.culebra.ops.SoftmaxStates;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * The softmax of a tensor of any size, passed through the device in pieces, with copies on their
 * way while others are computed. Pieces are of whole rows; rows that are too large for that are cut
 * and read twice: for the states of their pieces, and for the result.
 *
 * @param <E> the type of the elements
 */
final class TensorSoftmax<E extends ElementType<E>> {
  /** What is computed. */
  record Options(Softmax.Algorithm algorithm, boolean log, double scale, boolean emptyIsZero) {}

  private static final int STATE_LENGTH = 2;

  private final Surroundings surroundings;
  private final OpenDevice open;
  private final TensorFile file;
  private final TensorData tensor;
  private final SoftmaxMasks.Opened masks;
  private final ElementType<E> type;
  private final Softmax softmax;
  private final SoftmaxStates states;
  private final long rowLength;
  private final long budgetBytes;
  private final boolean inPieces;
  private double kernelSeconds;

  /** Loads what a run needs; nothing of the tensor is read before {@link #run}. */
  TensorSoftmax(
      Surroundings surroundings,
      OpenDevice open,
      TensorFile file,
      TensorData tensor,
      SoftmaxMasks.Opened masks,
      ElementType<E> type,
      Options options) {
    this.surroundings = surroundings;
    this.open = open;
    this.file = file;
    this.tensor = tensor;
    this.masks = masks;
    this.type = type;
    Softmax plain =
        Softmax.of(open.context(), options.algorithm).withLog(options.log).withScale(options.scale);
    // What the ladder's first steps do not have is not asked of them.
    this.softmax = options.emptyIsZero ? plain.withZeroForEmptyRows(true) : plain;
    this.states =
        SoftmaxStates.of(open.context())
            .withLog(options.log)
            .withScale(options.scale)
            .withZeroForEmptyRows(options.emptyIsZero)
            .withAddends(masks.addends() != null);
    long[] shape = tensor.spec().shape();
    this.rowLength = shape[shape.length - 1];
    this.budgetBytes =
        open.pieceBytes(
            surroundings.chunkBytes(), 1 + (double) masks.bytesPerElement() / type.byteSize());
    boolean mayCut =
        options.algorithm == Softmax.Algorithm.AUTO || options.algorithm == Softmax.Algorithm.SPLIT;
    this.inPieces = mayCut && rowLength * type.byteSize() > budgetBytes;
  }

  /**
   * The kernel that reads the tensor first.
   *
   * @throws IllegalArgumentException if rows have to fit on chip and do not
   */
  String kernelName() throws IOException {
    RowChunks chunks = chunks();
    long rows = inPieces ? 1 : Math.min(chunks.rows(), chunks.rowsPerChunk());
    Softmax reading = inPieces ? Softmax.of(open.context(), Softmax.Algorithm.SPLIT) : softmax;
    try (StagedMask mask = new StagedMask(open.context(), masks, 1, 1, open.stream())) {
      return reading.kernelName(type, rows, rowLength, mask.one(open.stream()));
    }
  }

  /** How often an element is read or written, at least. */
  int accesses() {
    return inPieces ? 3 : 2;
  }

  /** The time of the kernels so far. */
  double kernelSeconds() {
    return kernelSeconds;
  }

  /** Computes an element, so that what kernels take to be loaded is not counted. */
  void warmUp() throws IOException {
    try (SoftmaxSlot<E> slot = slot(1, 1);
        DeviceBuffer<?> state = allocate(SoftmaxStates.stateType(type), STATE_LENGTH)) {
      TensorView<E> one =
          TensorView.of(slot.data().send(1, bytes -> bytes.fill((byte) 0), slot.stream()), 1, 1);
      RowMask mask = slot.mask().one(slot.stream());
      slot.timer()
          .warmUp(
              () -> {
                if (inPieces) {
                  TensorView<?> of = TensorView.of(state, 1, STATE_LENGTH);
                  states.states(one, mask, of, slot.stream());
                  states.finish(one, mask, of, one, slot.stream());
                } else {
                  softmax.forward(one, one, mask, slot.stream());
                }
              });
    }
  }

  private SoftmaxSlot<E> slot(long rows, long rowElements) {
    return new SoftmaxSlot<>(open.context(), type, masks, rows, rowElements, false);
  }

  private <T extends ElementType<T>> DeviceBuffer<T> allocate(ElementType<T> of, long length) {
    return open.context().allocate(of, length, open.stream());
  }

  private RowChunks chunks() {
    long slotBytes = SlotRing.slotBytes(budgetBytes, Math.max(1, rowLength) * type.byteSize());
    return RowChunks.ofElements(tensor.spec(), slotBytes);
  }

  /** Computes the result and hands it over piece by piece, in order. */
  void run(TensorReduction.ResultSink sink) throws IOException {
    if (tensor.spec().elementCount() == 0) {
      return;
    }
    if (inPieces) {
      cutRows(sink);
    } else {
      wholeRows(sink);
    }
  }

  private void wholeRows(TensorReduction.ResultSink sink) throws IOException {
    RowChunks chunks = chunks();
    long slotBytes = chunks.rowsPerChunk() * rowLength * type.byteSize();
    long pieces = Math.ceilDiv(chunks.rows(), chunks.rowsPerChunk());
    int slots = SlotRing.count(budgetBytes, slotBytes, pieces);
    try (Progress progress = new Progress(surroundings, tensor.spec().byteSize());
        SlotRing<SoftmaxSlot<E>> ring =
            new SlotRing<>(slots, () -> slot(chunks.rowsPerChunk(), rowLength))) {
      for (RowChunks.Chunk chunk : chunks) {
        SoftmaxSlot<E> slot = ring.next();
        TensorView<E> rows =
            slot.send(
                slot.data(), file, tensor, chunk.first() * rowLength, chunk.count(), rowLength);
        RowMask mask = slot.mask().send(chunk.first(), chunk.count(), 0, rowLength, slot.stream());
        // In place: an element is read for the last time before it is written.
        slot.timer().enqueue(() -> softmax.forward(rows, rows, mask, slot.stream()));
        slot.data().fetch(rows.elementCount(), slot.stream());
        ring.inFlight(rows.range().byteSize(), () -> take(slot, rows, sink, progress));
      }
      ring.drain();
    }
  }

  /** Waits for the result of a piece and hands it over. */
  private void take(
      SoftmaxSlot<E> slot, TensorView<E> rows, TensorReduction.ResultSink sink, Progress progress)
      throws IOException {
    MemorySegment result = slot.data().fetched(rows.elementCount());
    kernelSeconds += slot.timer().collect();
    sink.accept(result);
    progress.advance(result.byteSize());
  }

  private void cutRows(TensorReduction.ResultSink sink) throws IOException {
    long pieceLength = SlotRing.slotBytes(budgetBytes, type.byteSize()) / type.byteSize();
    long pieces = Math.ceilDiv(rowLength, pieceLength);
    int slots = SlotRing.count(budgetBytes, pieceLength * type.byteSize(), 2 * pieces);
    try (Progress progress = new Progress(surroundings, 2 * tensor.spec().byteSize());
        // Of the pieces of a row, and behind them of all of it.
        DeviceBuffer<?> memory =
            allocate(SoftmaxStates.stateType(type), (pieces + 1) * STATE_LENGTH);
        SlotRing<SoftmaxSlot<E>> ring = new SlotRing<>(slots, () -> slot(1, pieceLength))) {
      for (long row = 0; row < tensor.spec().elementCount() / rowLength; row++) {
        for (long piece = 0; piece < pieces; piece++) {
          SoftmaxSlot<E> slot = ring.next();
          Piece<E> part = send(slot, row, piece * pieceLength, pieceLength);
          TensorView<?> state = stateOf(memory, piece);
          slot.timer().enqueue(() -> states.states(part.rows, part.mask, state, slot.stream()));
          ring.inFlight(
              part.rows.range().byteSize(),
              () -> {
                kernelSeconds += slot.timer().collect();
                progress.advance(part.rows.range().byteSize());
              });
        }
        merge(memory, pieces);
        for (long piece = 0; piece < pieces; piece++) {
          SoftmaxSlot<E> slot = ring.next();
          Piece<E> part = send(slot, row, piece * pieceLength, pieceLength);
          TensorView<?> whole = stateOf(memory, pieces);
          slot.timer()
              .enqueue(() -> states.finish(part.rows, part.mask, whole, part.rows, slot.stream()));
          slot.data().fetch(part.rows.elementCount(), slot.stream());
          ring.inFlight(part.rows.range().byteSize(), () -> take(slot, part.rows, sink, progress));
        }
      }
      ring.drain();
    }
  }

  /** A piece of one row on its way to the device. */
  private record Piece<E extends ElementType<E>>(TensorView<E> rows, RowMask mask) {}

  private Piece<E> send(SoftmaxSlot<E> slot, long row, long from, long length) throws IOException {
    long to = Math.min(from + length, rowLength);
    return new Piece<>(
        slot.send(slot.data(), file, tensor, row * rowLength + from, 1, to - from),
        slot.mask().send(row, 1, from, to, slot.stream()));
  }

  private <A extends ElementType<A>> void merge(DeviceBuffer<A> memory, long pieces) {
    states.merge(
        TensorView.of(memory.view(0, pieces * STATE_LENGTH), pieces, 1, STATE_LENGTH),
        stateOf(memory, pieces),
        open.stream());
  }

  private static <A extends ElementType<A>> TensorView<A> stateOf(
      DeviceBuffer<A> memory, long piece) {
    return TensorView.of(
        memory.view(piece * STATE_LENGTH, (piece + 1) * STATE_LENGTH), 1, STATE_LENGTH);
  }
}

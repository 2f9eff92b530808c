package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import java.io.IOException;

/**
 * One result for each row of the last axis. A piece has whole rows; of a row that is too long for
 * the device it has a part.
 *
 * @param <E> the type of the elements
 */
final class RowReduction<E extends ElementType<E>> extends TensorReduction<E> {
  private final long length;

  RowReduction(Job<E> job) {
    super(job, shareOf(job, length(job)));
    this.length = length(job);
  }

  private static long length(Job<?> job) {
    long[] shape = job.tensor().spec().shape();
    return shape[shape.length - 1];
  }

  @Override
  Work<E> workOfOne() {
    return fits(length) ? rows(1, 1) : this::partials;
  }

  private Work<E> rows(long count, long ofLength) {
    return (slot, in) ->
        slot.toResults(
            count,
            results ->
                reduction.lastAxis(
                    TensorView.of(in, count, ofLength),
                    TensorView.of(results, count),
                    slot.stream()));
  }

  @Override
  String kernelName() {
    return fits(length)
        ? reduction.kernelName(type, chunks().rowsPerChunk(), length)
        : reduction.partialKernelName(type);
  }

  private RowChunks chunks() {
    return RowChunks.of(job.tensor().spec(), pieceElements(length) * type.byteSize());
  }

  @Override
  void run(ResultSink sink) throws IOException {
    if (fits(length)) {
      wholeRows(sink);
    } else {
      cutRows(sink);
    }
  }

  private void wholeRows(ResultSink sink) throws IOException {
    RowChunks chunks = chunks();
    if (chunks.rows() == 0) {
      return;
    }
    long pieces = Math.ceilDiv(chunks.rows(), chunks.rowsPerChunk());
    try (Passage passage = new Passage(chunks.rowsPerChunk() * length, pieces)) {
      for (RowChunks.Chunk chunk : chunks) {
        passage.send(
            chunk.first() * length, chunk.count() * length, rows(chunk.count(), length), sink);
      }
      passage.drain();
    }
  }

  private void cutRows(ResultSink sink) throws IOException {
    long elements = job.tensor().spec().elementCount();
    long piece = pieceElements(1);
    try (Passage passage = new Passage(piece, Math.ceilDiv(length, piece))) {
      for (long first = 0; first < elements; first += length) {
        passage.sendTotal(first, length, piece, sink);
      }
      passage.drain();
    }
  }
}

package dev.culebra.cli;

import dev.culebra.io.TensorSpec;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Cuts a tensor into pieces of whole rows, so that one larger than the device's memory can pass
 * through it. A row is what the last axis runs along.
 *
 * @param rows rows of the tensor; a row of length 0 counts
 * @param rowLength elements a row
 * @param rowsPerChunk rows of all pieces but the last, at least 1
 */
record RowChunks(long rows, long rowLength, long rowsPerChunk)
    implements Iterable<RowChunks.Chunk> {

  /** The rows {@code [first, first + count)}. */
  record Chunk(long first, long count) {}

  /** Pieces of at most {@code chunkBytes}, or of one row where a row is larger. */
  static RowChunks of(TensorSpec spec, long chunkBytes) {
    long[] shape = spec.shape();
    long rows = 1;
    for (int axis = 0; axis < shape.length - 1; axis++) {
      rows = Math.multiplyExact(rows, shape[axis]);
    }
    long rowLength = shape[shape.length - 1];
    long rowBytes = Math.max(1, rowLength * (spec.dtype().bits() / 8));
    return new RowChunks(rows, rowLength, Math.clamp(chunkBytes / rowBytes, 1, Math.max(rows, 1)));
  }

  /** The same for what gives a result for each element, not for each row: no pieces if none. */
  static RowChunks ofElements(TensorSpec spec, long chunkBytes) {
    return spec.elementCount() == 0 ? new RowChunks(0, 0, 1) : of(spec, chunkBytes);
  }

  /** The pieces in order; none if there are no rows. */
  @Override
  public Iterator<Chunk> iterator() {
    return new Iterator<>() {
      private long next;

      @Override
      public boolean hasNext() {
        return next < rows;
      }

      @Override
      public Chunk next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        Chunk chunk = new Chunk(next, Math.min(rowsPerChunk, rows - next));
        next += chunk.count();
        return chunk;
      }
    };
  }
}

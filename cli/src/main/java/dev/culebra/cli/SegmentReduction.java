package dev.culebra.cli;

import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import java.io.IOException;
import java.util.Arrays;

/**
 * One result for each segment between two offsets. A piece has whole segments; of one that is too
 * long for the device it has a part.
 *
 * @param <E> the type of the elements
 */
final class SegmentReduction<E extends ElementType<E>> extends TensorReduction<E> {
  /** An offset, and a result of at most as much. */
  private static final int BYTES_OF_SEGMENT = 2 * Long.BYTES;

  /** Elements, and as much again for offsets and results: segments may have less than one each. */
  private static final double SHARE = 2;

  private final long[] offsets;
  private final long pieceElements;
  private final long mostSegments;

  /** The offsets ascend within the tensor. */
  SegmentReduction(Job<E> job, long[] offsets) {
    super(job, SHARE);
    this.offsets = offsets;
    this.pieceElements = pieceElements(1);
    this.mostSegments = Math.max(1, pieceElements * type.byteSize() / BYTES_OF_SEGMENT);
  }

  @Override
  Work<E> workOfOne() {
    return segments(0, 1);
  }

  /** Segments whose offsets count from the first element that was sent. */
  private Work<E> segments(long... ends) {
    return (slot, in) -> {
      DeviceView<ElementType.I64> offsetsOfPiece = slot.sendOffsets(ends);
      int count = ends.length - 1;
      return slot.toResults(
          count,
          results ->
              reduction.segments(
                  TensorView.of(in, in.length()),
                  TensorView.of(offsetsOfPiece, ends.length),
                  TensorView.of(results, count),
                  slot.stream()));
    };
  }

  @Override
  String kernelName() {
    return reduction.segmentKernelName(type);
  }

  @Override
  void run(ResultSink sink) throws IOException {
    int count = offsets.length - 1;
    long elements = offsets[count] - offsets[0];
    long piece = Math.clamp(elements, 1, pieceElements);
    try (Passage passage = new Passage(piece, count + elements / piece)) {
      for (int first = 0, next; first < count; first = next) {
        next = behindWholeSegments(first);
        if (next > first) {
          wholeSegments(first, next, sink, passage);
        } else {
          long from = offsets[first];
          passage.sendTotal(from, offsets[first + 1] - from, piece, sink);
          next = first + 1;
        }
      }
      passage.drain();
    }
  }

  /** The segment after the last that fits into a piece with the ones before. */
  private int behindWholeSegments(int first) {
    int last = first;
    while (last < offsets.length - 1
        && last - first < mostSegments
        && offsets[last + 1] - offsets[first] <= pieceElements) {
      last++;
    }
    return last;
  }

  private void wholeSegments(int first, int next, ResultSink sink, Passage passage)
      throws IOException {
    long from = offsets[first];
    long[] ends = Arrays.stream(offsets, first, next + 1).map(offset -> offset - from).toArray();
    passage.send(from, offsets[next] - from, segments(ends), sink);
  }
}

package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * One result for each segment between two offsets. As many whole segments go to the device at once
 * as there is place for; one that is too long goes there in pieces.
 */
final class SegmentReduction extends TensorReduction {
  /** Of one launch, so that many empty segments do not ask for more memory than the elements. */
  private static final int MOST_SEGMENTS = 1 << 20;

  private final long[] offsets;

  /** The offsets ascend within the tensor. */
  SegmentReduction(Job job, long[] offsets) {
    super(job);
    this.offsets = offsets;
    try (DeviceBuffer<?> in = allocate(type, 1);
        DeviceBuffer<ElementType.I64> ends = allocate(ElementType.I64, 2);
        DeviceBuffer<?> out = allocate(resultType, 1)) {
      in.zero(job.open().stream());
      ends.zero(job.open().stream());
      job.timer()
          .warmUp(
              () ->
                  reduction.segments(
                      TensorView.of(in, 1),
                      TensorView.of(ends, 2),
                      TensorView.of(out, 1),
                      job.open().stream()));
    }
  }

  @Override
  String kernelName() {
    return reduction.segmentKernelName(type);
  }

  @Override
  void run(ResultSink sink) throws IOException {
    int count = offsets.length - 1;
    try (Progress progress = progress()) {
      for (int first = 0, next; first < count; first = next) {
        next = behindWholeSegments(first);
        if (next > first) {
          wholeSegments(first, next, sink, progress);
        } else {
          longSegment(first, sink, progress);
          next = first + 1;
        }
      }
    }
  }

  /** The segment after the last that fits on the device with the ones before. */
  private int behindWholeSegments(int first) {
    int last = first;
    while (last < offsets.length - 1
        && last - first < MOST_SEGMENTS
        && offsets[last + 1] - offsets[first] <= elementsAtOnce()) {
      last++;
    }
    return last;
  }

  private void wholeSegments(int first, int next, ResultSink sink, Progress progress)
      throws IOException {
    long from = offsets[first];
    long elements = offsets[next] - from;
    int count = next - first;
    long[] relative =
        Arrays.stream(offsets, first, next + 1).map(offset -> offset - from).toArray();
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, elements);
        DeviceBuffer<ElementType.I64> ends = allocate(ElementType.I64, relative.length);
        DeviceBuffer<?> out = allocate(resultType, count)) {
      job.file().read(() -> in.copyFrom(bytes(from, elements)));
      ends.copyFrom(relative);
      job.timer()
          .time(
              () ->
                  reduction.segments(
                      TensorView.of(in, elements),
                      TensorView.of(ends, relative.length),
                      TensorView.of(out, count),
                      job.open().stream()));
      MemorySegment results = arena.allocate(out.byteSize());
      out.copyTo(results);
      sink.accept(results);
      progress.advance(in.byteSize());
    }
  }

  private void longSegment(int segment, ResultSink sink, Progress progress) throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment result = arena.allocate(resultType.byteSize());
      long from = offsets[segment];
      Scalars.set(result, 0, resultType, total(from, offsets[segment + 1] - from, progress));
      sink.accept(result);
    }
  }
}

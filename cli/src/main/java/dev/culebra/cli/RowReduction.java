package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.TensorView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** One result for each row of the last axis. */
final class RowReduction extends TensorReduction {

  RowReduction(Job job) {
    super(job);
    try (DeviceBuffer<?> in = allocate(type, 1);
        DeviceBuffer<?> out = allocate(resultType, 1)) {
      in.zero(job.open().stream());
      job.timer()
          .warmUp(
              () ->
                  reduction.lastAxis(
                      TensorView.of(in, 1), TensorView.of(out), job.open().stream()));
    }
  }

  @Override
  String kernelName() {
    return reduction.kernelName(type);
  }

  @Override
  void run(ResultSink sink) throws IOException {
    RowChunks chunks = RowChunks.of(job.tensor().spec(), job.surroundings().chunkBytes());
    try (Arena arena = Arena.ofConfined();
        DeviceBuffer<?> in = allocate(type, chunks.rowsPerChunk() * chunks.rowLength());
        DeviceBuffer<?> out = allocate(resultType, chunks.rowsPerChunk());
        Progress progress = progress()) {
      MemorySegment host = arena.allocate(out.byteSize());
      for (RowChunks.Chunk chunk : chunks) {
        long first = chunk.first() * chunks.rowLength();
        long elements = chunk.count() * chunks.rowLength();
        DeviceRange<?> rows = in.view(0, elements);
        DeviceRange<?> results = out.view(0, chunk.count());
        job.file().read(() -> rows.copyFrom(bytes(first, elements)));
        job.timer()
            .time(
                () ->
                    reduction.lastAxis(
                        TensorView.of(rows, chunk.count(), chunks.rowLength()),
                        TensorView.of(results, chunk.count()),
                        job.open().stream()));
        MemorySegment part = host.asSlice(0, results.byteSize());
        results.copyTo(part);
        sink.accept(part);
        progress.advance(rows.byteSize());
      }
    }
  }
}

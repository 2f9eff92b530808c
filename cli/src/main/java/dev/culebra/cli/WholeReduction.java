package dev.culebra.cli;

import dev.culebra.DeviceBuffer;
import dev.culebra.TensorView;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** One result for all elements. */
final class WholeReduction extends TensorReduction {

  WholeReduction(Job job) {
    super(job);
    try (DeviceBuffer<?> in = allocate(type, 1);
        DeviceBuffer<?> out =
            allocate(job.op().partialType(type), reduction.partialLength(type, 1))) {
      in.zero(job.open().stream());
      job.timer()
          .warmUp(
              () ->
                  reduction.partials(
                      TensorView.of(in, 1), TensorView.of(out, out.length()), job.open().stream()));
    }
  }

  @Override
  String kernelName() {
    return reduction.partialKernelName(type);
  }

  @Override
  void run(ResultSink sink) throws IOException {
    try (Arena arena = Arena.ofConfined();
        Progress progress = progress()) {
      MemorySegment result = arena.allocate(resultType.byteSize());
      Scalars.set(result, 0, resultType, total(0, job.tensor().spec().elementCount(), progress));
      sink.accept(result);
    }
  }
}

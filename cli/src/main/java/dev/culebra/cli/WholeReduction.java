package dev.culebra.cli;

import dev.culebra.ElementType;
import dev.culebra.ops.ReductionTotal;
import java.io.IOException;

/**
 * One result for all elements.
 *
 * @param <E> the type of the elements
 */
final class WholeReduction<E extends ElementType<E>> extends TensorReduction<E> {

  WholeReduction(Job<E> job) {
    super(job, 1);
  }

  @Override
  Work<E> workOfOne() {
    return this::partials;
  }

  @Override
  String kernelName() {
    return reduction.partialKernelName(type);
  }

  @Override
  void run(ResultSink sink) throws IOException {
    long count = job.tensor().spec().elementCount();
    if (count == 0) {
      sink.accept(Scalars.of(resultType, ReductionTotal.of(job.op(), type)));
      return;
    }
    long piece = Math.min(count, pieceElements(1));
    try (Passage passage = new Passage(piece, Math.ceilDiv(count, piece))) {
      passage.sendTotal(0, count, piece, sink);
      passage.drain();
    }
  }
}

package dev.culebra.cli;

import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.ops.Reduction;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * A slot for elements and for what comes of them: results, or the states of a piece of what has one
 * result. How many of them there are is known with each piece only; their memory grows with it.
 *
 * @param <E> the type of the elements
 */
final class ReductionSlot<E extends ElementType<E>> extends PieceSlot<E> {
  private final StagedBuffer<?> results;
  private final StagedBuffer<?> partials;
  private final StagedBuffer<ElementType.I64> offsets;

  /** Allocates for pieces of at most so many elements. */
  ReductionSlot(OpenDevice open, Reduction.Op op, ElementType<E> type, long elements) {
    super(open.context(), type, elements);
    results = staged(op.resultType(type), 1);
    partials = staged(op.partialType(type), 1);
    offsets = staged(ElementType.I64, 1);
  }

  /** Enqueues the copy of the offsets of segments to the device. */
  DeviceView<ElementType.I64> sendOffsets(long[] of) throws IOException {
    offsets.reserve(of.length, stream());
    return offsets.send(of.length, target -> target.copyFrom(MemorySegment.ofArray(of)), stream());
  }

  /**
   * Enqueues a reduction to so many results, and their copy to the host.
   *
   * @param launch enqueues the reduction to the memory that it is given
   * @return waits for the results, which are valid until the slot's next
   */
  Supplier<MemorySegment> toResults(long count, Consumer<DeviceView<?>> launch) {
    return to(results, count, launch);
  }

  /** The same to states, of so many elements. */
  Supplier<MemorySegment> toPartials(long count, Consumer<DeviceView<?>> launch) {
    return to(partials, count, launch);
  }

  private Supplier<MemorySegment> to(
      StagedBuffer<?> memory, long count, Consumer<DeviceView<?>> launch) {
    memory.reserve(count, stream());
    DeviceView<?> out = memory.view(count);
    timer().enqueue(() -> launch.accept(out));
    memory.fetch(count, stream());
    return () -> memory.fetched(count);
  }
}

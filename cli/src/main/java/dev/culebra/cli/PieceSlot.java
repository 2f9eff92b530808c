package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * What a piece of a tensor takes on its way through the device: a stream of its own, so that copies
 * of some pieces pass while others are computed, and memory.
 *
 * @param <E> the type of the elements
 */
class PieceSlot<E extends ElementType<E>> implements SlotRing.Slot {
  private final ClosingStack opened = new ClosingStack();
  private final Context context;
  private final Stream stream;
  private final KernelTimer timer;
  private final StagedBuffer<E> data;

  /**
   * Allocates for pieces of at most so many elements. What an heir allocates, it does by {@link
   * #keep} and {@link #staged}, so that nothing stays open if some of it cannot be had.
   */
  PieceSlot(Context context, ElementType<E> type, long elements) {
    this.context = context;
    this.stream = keep(context::newStream, Stream::close);
    this.timer = keep(() -> new KernelTimer(context, stream), KernelTimer::close);
    this.data = staged(type, elements);
  }

  /** Makes what is closed with the slot; if that fails, closes what was made before. */
  final <T> T keep(Supplier<T> make, Consumer<T> close) {
    try {
      T made = make.get();
      opened.push(() -> close.accept(made));
      return made;
    } catch (Throwable t) {
      opened.close();
      throw t;
    }
  }

  /** Memory for so many elements, which is closed with the slot. */
  final <T extends ElementType<T>> StagedBuffer<T> staged(ElementType<T> type, long elements) {
    return keep(() -> new StagedBuffer<>(context, type, elements, stream), StagedBuffer::close);
  }

  final Stream stream() {
    return stream;
  }

  final KernelTimer timer() {
    return timer;
  }

  /** The memory of the piece itself. */
  final StagedBuffer<E> data() {
    return data;
  }

  /** Reads elements of a tensor and enqueues their copy to the device. */
  final DeviceView<E> send(
      StagedBuffer<E> to, TensorFile file, TensorData tensor, long first, long elements)
      throws IOException {
    long elementBytes = tensor.spec().dtype().bits() / 8;
    MemorySegment source = tensor.bytes().asSlice(first * elementBytes, elements * elementBytes);
    return to.send(elements, target -> file.read(() -> target.copyFrom(source)), stream);
  }

  @Override
  public final void close() {
    opened.close();
  }
}

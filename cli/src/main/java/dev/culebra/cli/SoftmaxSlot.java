package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * What a piece of a tensor takes on its way through the device: a stream of its own, so that copies
 * of some pieces pass while others are computed, and memory.
 *
 * @param <E> the type of the elements
 */
final class SoftmaxSlot<E extends ElementType<E>> implements SlotRing.Slot {
  private final ClosingStack opened = new ClosingStack();
  private final Stream stream;
  private final KernelTimer timer;
  private final StagedBuffer<E> data;
  private final StagedBuffer<E> second;
  private final StagedMask mask;

  /**
   * Allocates for pieces of at most so many rows and elements of each.
   *
   * @param hasSecond whether there is a second tensor of the same shape
   */
  SoftmaxSlot(
      Context context,
      ElementType<E> type,
      SoftmaxMasks.Opened masks,
      long rows,
      long rowElements,
      boolean hasSecond) {
    try {
      stream = context.newStream();
      opened.push(stream::close);
      timer = new KernelTimer(context, stream);
      opened.push(timer::close);
      data = staged(context, type, rows * rowElements);
      second = hasSecond ? staged(context, type, rows * rowElements) : data;
      mask = new StagedMask(context, masks, rows, rowElements, stream);
      opened.push(mask::close);
    } catch (Throwable t) {
      opened.close();
      throw t;
    }
  }

  private StagedBuffer<E> staged(Context context, ElementType<E> type, long elements) {
    StagedBuffer<E> made = new StagedBuffer<>(context, type, elements, stream);
    opened.push(made::close);
    return made;
  }

  Stream stream() {
    return stream;
  }

  KernelTimer timer() {
    return timer;
  }

  StagedBuffer<E> data() {
    return data;
  }

  /** The memory of the second tensor. */
  StagedBuffer<E> second() {
    return second;
  }

  StagedMask mask() {
    return mask;
  }

  /**
   * Reads rows of a tensor and enqueues their copy to the device.
   *
   * @param first their first element in the tensor
   * @return the rows on the device
   */
  TensorView<E> send(
      StagedBuffer<E> to, TensorFile file, TensorData tensor, long first, long rows, long length)
      throws IOException {
    long elementBytes = tensor.spec().dtype().bits() / 8;
    MemorySegment source =
        tensor.bytes().asSlice(first * elementBytes, rows * length * elementBytes);
    return TensorView.of(
        to.send(rows * length, target -> file.read(() -> target.copyFrom(source)), stream),
        rows,
        length);
  }

  @Override
  public void close() {
    opened.close();
  }
}

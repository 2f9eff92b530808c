package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import java.io.IOException;

/**
 * A slot for rows with what masks them, or with those of a second tensor.
 *
 * @param <E> the type of the elements
 */
final class SoftmaxSlot<E extends ElementType<E>> extends PieceSlot<E> {
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
    super(context, type, rows * rowElements);
    second = hasSecond ? staged(type, rows * rowElements) : data();
    mask =
        keep(() -> new StagedMask(context, masks, rows, rowElements, stream()), StagedMask::close);
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
    return TensorView.of(send(to, file, tensor, first, rows * length), rows, length);
  }
}

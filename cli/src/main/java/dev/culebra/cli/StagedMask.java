package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.ops.RowMask;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A slot's memory for what masks its piece. */
final class StagedMask implements AutoCloseable {
  private final SoftmaxMasks.Opened masks;
  private final ClosingStack opened = new ClosingStack();
  private @Nullable StagedBuffer<ElementType.U8> elements;
  private @Nullable StagedBuffer<?> addends;
  private @Nullable StagedBuffer<ElementType.I32> lengths;

  /** For pieces of at most so many rows and elements of each. */
  StagedMask(
      Context context, SoftmaxMasks.Opened masks, long rows, long rowElements, Stream stream) {
    this.masks = masks;
    try {
      RepeatedRows bytes = masks.elements();
      if (bytes != null) {
        elements = staged(context, ElementType.U8, bytes.rowsFor(rows) * rowElements, stream);
      }
      RepeatedRows numbers = masks.addends();
      if (numbers != null) {
        addends =
            staged(
                context,
                TensorArguments.elementType(numbers.dtype()),
                numbers.rowsFor(rows) * rowElements,
                stream);
      }
      if (masks.lengths() != null) {
        lengths = staged(context, ElementType.I32, rows, stream);
      }
    } catch (Throwable t) {
      opened.close();
      throw t;
    }
  }

  private <E extends ElementType<E>> StagedBuffer<E> staged(
      Context context, ElementType<E> type, long count, Stream stream) {
    StagedBuffer<E> made = new StagedBuffer<>(context, type, count, stream);
    opened.push(made::close);
    return made;
  }

  /**
   * Reads what masks some rows, from one element of each to another, and enqueues its copies to the
   * device.
   *
   * @return the mask of a tensor of shape [rows, to - from]
   */
  RowMask send(long first, long rows, long from, long to, Stream stream) throws IOException {
    RowMask mask = RowMask.NONE;
    StagedBuffer<ElementType.U8> stagedBytes = elements;
    RepeatedRows bytes = masks.elements();
    if (stagedBytes != null && bytes != null) {
      mask = mask.withElements(send(stagedBytes, bytes, first, rows, from, to, stream));
    }
    StagedBuffer<?> stagedNumbers = addends;
    RepeatedRows numbers = masks.addends();
    if (stagedNumbers != null && numbers != null) {
      mask = mask.withAddends(send(stagedNumbers, numbers, first, rows, from, to, stream));
    }
    StagedBuffer<ElementType.I32> stagedLengths = lengths;
    RowLengths counts = masks.lengths();
    if (stagedLengths != null && counts != null) {
      mask =
          mask.withLengths(
              stagedLengths.send(
                  rows, target -> counts.copy(first, rows, from, to, target), stream));
    }
    return mask;
  }

  /** A mask of the same kinds for one element that counts, without reading a file. */
  RowMask one(Stream stream) throws IOException {
    RowMask mask = RowMask.NONE;
    StagedBuffer<ElementType.U8> stagedBytes = elements;
    if (stagedBytes != null) {
      mask = mask.withElements(TensorView.of(send(stagedBytes, (byte) 1, stream), 1));
    }
    StagedBuffer<?> stagedNumbers = addends;
    if (stagedNumbers != null) {
      mask = mask.withAddends(TensorView.of(send(stagedNumbers, (byte) 0, stream), 1));
    }
    StagedBuffer<ElementType.I32> stagedLengths = lengths;
    if (stagedLengths != null) {
      mask = mask.withLengths(send(stagedLengths, (byte) 1, stream));
    }
    return mask;
  }

  private static <E extends ElementType<E>> DeviceView<E> send(
      StagedBuffer<E> staged, byte value, Stream stream) throws IOException {
    return staged.send(1, bytes -> bytes.fill(value), stream);
  }

  private static <E extends ElementType<E>> TensorView<E> send(
      StagedBuffer<E> staged,
      RepeatedRows source,
      long first,
      long rows,
      long from,
      long to,
      Stream stream)
      throws IOException {
    long count = source.rowsFor(rows);
    DeviceView<E> part =
        staged.send(
            count * (to - from), target -> source.copy(first, rows, from, to, target), stream);
    return TensorView.of(part, count, to - from);
  }

  @Override
  public void close() {
    opened.close();
  }
}

package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceView;
import dev.culebra.ElementType;
import dev.culebra.HostBuffer;
import dev.culebra.Stream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/**
 * Device memory with as much pinned memory, through which it is filled and emptied while host and
 * device go on.
 *
 * @param <E> the type of the elements
 */
final class StagedBuffer<E extends ElementType<E>> implements AutoCloseable {
  /** Writes the bytes that are sent. */
  interface Filling {
    void into(MemorySegment bytes) throws IOException;
  }

  private final Context context;
  private final ElementType<E> type;
  private HostBuffer host;
  private DeviceBuffer<E> memory;

  StagedBuffer(Context context, ElementType<E> type, long elements, Stream stream) {
    this.context = context;
    this.type = type;
    host = context.allocateHost(elements * type.byteSize());
    try {
      memory = context.allocate(type, elements, stream);
    } catch (Throwable t) {
      host.close();
      throw t;
    }
  }

  /**
   * Sees that there is room for so many elements, where nobody could know before how many it would
   * be. What was in it is lost if it grows: at least to twice its size, so that it seldom does.
   */
  void reserve(long elements, Stream stream) {
    if (elements <= memory.length()) {
      return;
    }
    StagedBuffer<E> larger =
        new StagedBuffer<>(context, type, Math.max(elements, 2 * memory.length()), stream);
    close();
    host = larger.host;
    memory = larger.memory;
  }

  /** The first elements on the device. */
  DeviceView<E> view(long elements) {
    return memory.view(0, elements);
  }

  /** Waits until the pinned memory is free, fills it, and enqueues its copy to the device. */
  DeviceView<E> send(long elements, Filling filling, Stream stream) throws IOException {
    DeviceView<E> part = view(elements);
    filling.into(host.segment().asSlice(0, part.byteSize()));
    part.copyFromAsync(host, 0, stream);
    return part;
  }

  /** Enqueues the copy of the first elements to the host. */
  void fetch(long elements, Stream stream) {
    view(elements).copyToAsync(host, 0, stream);
  }

  /** Waits for the first elements that were fetched; valid until the next are sent. */
  MemorySegment fetched(long elements) {
    return host.segment().asSlice(0, elements * type.byteSize());
  }

  @Override
  public void close() {
    try {
      host.close();
    } finally {
      memory.close();
    }
  }
}

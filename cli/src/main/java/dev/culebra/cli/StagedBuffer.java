package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
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

  private final HostBuffer host;
  private final DeviceBuffer<E> memory;

  StagedBuffer(Context context, ElementType<E> type, long elements, Stream stream) {
    host = context.allocateHost(elements * type.byteSize());
    try {
      memory = context.allocate(type, elements, stream);
    } catch (Throwable t) {
      host.close();
      throw t;
    }
  }

  /** Waits until the pinned memory is free, fills it, and enqueues its copy to the device. */
  DeviceView<E> send(long elements, Filling filling, Stream stream) throws IOException {
    DeviceView<E> part = memory.view(0, elements);
    filling.into(host.segment().asSlice(0, part.byteSize()));
    part.copyFromAsync(host, 0, stream);
    return part;
  }

  /** Enqueues the copy of what was sent back to the host. */
  void fetch(DeviceRange<E> part, Stream stream) {
    part.copyToAsync(host, 0, stream);
  }

  /** Waits for what was fetched; valid until the next is sent. */
  MemorySegment fetched(DeviceRange<E> part) {
    return host.segment().asSlice(0, part.byteSize());
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

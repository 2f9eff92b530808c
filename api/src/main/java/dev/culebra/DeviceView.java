package dev.culebra;

/**
 * A range of a {@link DeviceBuffer}, which it borrows: it owns nothing and cannot be used once the
 * buffer is closed.
 *
 * @param <E> the type of the elements
 */
public final class DeviceView<E extends ElementType<E>> extends DeviceRange<E> {

  private final DeviceBuffer<?> buffer;

  DeviceView(ElementType<E> type, long length, DeviceBuffer<?> buffer, long address) {
    super(type, length, buffer.allocation, address);
    this.buffer = buffer;
  }

  @Override
  DeviceBuffer<?> buffer() {
    return buffer;
  }
}

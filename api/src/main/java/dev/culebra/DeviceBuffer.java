package dev.culebra;

/**
 * Device memory that is owned: {@link #close} gives it back, in the order of the stream that used
 * it last, when that stream and all readers have passed. Closing returns at once; work that was
 * enqueued before still finds its data.
 *
 * <p>Any thread may use and close a buffer. Using one from two threads at once is a race as with an
 * array, unless both only read.
 *
 * @param <E> the type of the elements
 */
public final class DeviceBuffer<E extends ElementType<E>> extends DeviceRange<E>
    implements AutoCloseable {

  DeviceBuffer(ElementType<E> type, long length, DeviceAllocation allocation) {
    super(type, length, allocation, allocation.address());
    allocation.handOut(this);
  }

  /** {@return whether {@link #close} was called} */
  public boolean isClosed() {
    return allocation.isClosed();
  }

  /**
   * Gives the memory back in stream order. Closing again does nothing. Views of it cannot be used
   * any more.
   */
  @Override
  public void close() {
    allocation.close();
  }

  @Override
  DeviceBuffer<?> buffer() {
    return this;
  }
}

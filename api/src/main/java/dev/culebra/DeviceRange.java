package dev.culebra;

import dev.culebra.bindings.Driver;
import java.lang.foreign.MemorySegment;

/**
 * Elements in device memory, side by side: what copies, fills and kernels take. It is either a
 * {@link DeviceBuffer}, which owns, or a {@link DeviceView}, which borrows.
 *
 * <p>Copies from and to arrays and memory segments are <b>synchronous</b>: they are ordered behind
 * all work that uses the memory, and when they return they are done. Everything that takes a {@link
 * Stream} is <b>asynchronous</b>: it is enqueued there, behind the work of other streams that uses
 * the same memory.
 *
 * <p>All lengths have to match; nothing is cut, widened or narrowed. Take a {@link #view} for a
 * part.
 *
 * @param <E> the type of the elements
 */
public abstract sealed class DeviceRange<E extends ElementType<E>>
    permits DeviceBuffer, DeviceView {

  private final ElementType<E> type;
  private final long length;
  private final long address;
  final DeviceAllocation allocation;

  DeviceRange(ElementType<E> type, long length, DeviceAllocation allocation, long address) {
    this.type = type;
    this.length = length;
    this.allocation = allocation;
    this.address = address;
  }

  /** The owner, kept reachable by everything that uses the memory. */
  abstract DeviceBuffer<?> buffer();

  /** {@return the type of the elements} */
  public final ElementType<E> type() {
    return type;
  }

  /** {@return how many elements there are} */
  public final long length() {
    return length;
  }

  /** {@return the size in bytes} */
  public final long byteSize() {
    return length * type.byteSize();
  }

  /** {@return the context whose memory this is} */
  public final Context context() {
    return allocation.context;
  }

  /**
   * The device address, for interop with other libraries: nothing of what they do with it is
   * ordered or checked. 0 if the range is empty and its buffer is.
   *
   * @return the {@code CUdeviceptr}
   */
  public final long address() {
    allocation.requireOpen();
    return address;
  }

  /** The address without the check, for launches that have checked. */
  final long rawAddress() {
    return address;
  }

  /**
   * A part of this range.
   *
   * @param from the first element
   * @param to the element after the last
   * @return a view that borrows
   * @throws IndexOutOfBoundsException if the part does not lie inside
   */
  public final DeviceView<E> view(long from, long to) {
    allocation.requireOpen();
    if (from < 0) {
      throw new IndexOutOfBoundsException(
          "the view begins at " + from + ", before the first element");
    }
    if (to > length) {
      throw new IndexOutOfBoundsException(
          "the view ends at " + to + ", behind the last of " + length + " elements");
    }
    if (from > to) {
      throw new IndexOutOfBoundsException(
          "the view begins at " + from + ", after its end at " + to);
    }
    return new DeviceView<>(type, to - from, buffer(), address + from * type.byteSize());
  }

  /**
   * The same bytes as elements of another type.
   *
   * @param <T> the other type
   * @param other the other type
   * @return a view that borrows
   * @throws IllegalArgumentException if the address is not aligned for that type, or the bytes are
   *     not a whole number of elements
   */
  public final <T extends ElementType<T>> DeviceView<T> as(ElementType<T> other) {
    allocation.requireOpen();
    if (byteSize() % other.byteSize() != 0) {
      throw new IllegalArgumentException(
          byteSize()
              + " bytes are not a whole number of "
              + other
              + " ("
              + other.byteSize()
              + " bytes each)");
    }
    if (address % other.byteSize() != 0) {
      throw new IllegalArgumentException(
          "the range begins at address 0x"
              + Long.toHexString(address)
              + ", which is not aligned for "
              + other
              + " ("
              + other.byteSize()
              + " bytes)");
    }
    return new DeviceView<>(other, byteSize() / other.byteSize(), buffer(), address);
  }

  // ---- Host to device and back, synchronous

  /**
   * Copies from host memory: any segment, on or off the heap, mapped or not, of exactly {@link
   * #byteSize} bytes. Its bytes are taken as they are.
   *
   * @param source the bytes
   * @throws IllegalArgumentException if the size differs
   */
  public final void copyFrom(MemorySegment source) {
    requireEqual(source.byteSize(), byteSize(), "the source has", "bytes");
    HostCopy.toDevice(this, HostCopy.bytesOf(source));
  }

  /**
   * Copies to host memory: any writable segment of exactly {@link #byteSize} bytes.
   *
   * @param target where the bytes go
   * @throws IllegalArgumentException if the size differs, or the segment is read-only
   */
  public final void copyTo(MemorySegment target) {
    requireEqual(target.byteSize(), byteSize(), "the target has", "bytes");
    if (target.isReadOnly()) {
      throw new IllegalArgumentException("the target is read-only");
    }
    HostCopy.toHost(this, HostCopy.bytesInto(target));
  }

  /**
   * Copies from an array.
   *
   * @param source elements of {@code I8} or {@code U8}
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyFrom(byte[] source) {
    requireArray(source.length, "byte[]", ElementType.I8, ElementType.U8);
    copyFrom(MemorySegment.ofArray(source));
  }

  /**
   * Copies from an array.
   *
   * @param source bits of {@code F16} or {@code BF16}
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyFrom(short[] source) {
    requireArray(source.length, "short[]", ElementType.F16, ElementType.BF16);
    copyFrom(MemorySegment.ofArray(source));
  }

  /**
   * Copies from an array.
   *
   * @param source elements of {@code I32}
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyFrom(int[] source) {
    requireArray(source.length, "int[]", ElementType.I32);
    copyFrom(MemorySegment.ofArray(source));
  }

  /**
   * Copies from an array.
   *
   * @param source elements of {@code I64}
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyFrom(long[] source) {
    requireArray(source.length, "long[]", ElementType.I64);
    copyFrom(MemorySegment.ofArray(source));
  }

  /**
   * Copies from an array. For {@code F16} and {@code BF16} see {@link #roundFrom}.
   *
   * @param source elements of {@code F32}
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyFrom(float[] source) {
    requireArray(source.length, "float[]", ElementType.F32);
    copyFrom(MemorySegment.ofArray(source));
  }

  /**
   * Copies from an array.
   *
   * @param source elements of {@code F64}
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyFrom(double[] source) {
    requireArray(source.length, "double[]", ElementType.F64);
    copyFrom(MemorySegment.ofArray(source));
  }

  /**
   * Copies to an array.
   *
   * @param target where elements of {@code I8} or {@code U8} go
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyTo(byte[] target) {
    requireArray(target.length, "byte[]", ElementType.I8, ElementType.U8);
    copyTo(MemorySegment.ofArray(target));
  }

  /**
   * Copies to an array.
   *
   * @param target where the bits of {@code F16} or {@code BF16} go
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyTo(short[] target) {
    requireArray(target.length, "short[]", ElementType.F16, ElementType.BF16);
    copyTo(MemorySegment.ofArray(target));
  }

  /**
   * Copies to an array.
   *
   * @param target where elements of {@code I32} go
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyTo(int[] target) {
    requireArray(target.length, "int[]", ElementType.I32);
    copyTo(MemorySegment.ofArray(target));
  }

  /**
   * Copies to an array.
   *
   * @param target where elements of {@code I64} go
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyTo(long[] target) {
    requireArray(target.length, "long[]", ElementType.I64);
    copyTo(MemorySegment.ofArray(target));
  }

  /**
   * Copies to an array. For {@code F16} and {@code BF16} see {@link #widenTo}.
   *
   * @param target where elements of {@code F32} go
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyTo(float[] target) {
    requireArray(target.length, "float[]", ElementType.F32);
    copyTo(MemorySegment.ofArray(target));
  }

  /**
   * Copies to an array.
   *
   * @param target where elements of {@code F64} go
   * @throws IllegalArgumentException if the type or the length differs
   */
  public final void copyTo(double[] target) {
    requireArray(target.length, "double[]", ElementType.F64);
    copyTo(MemorySegment.ofArray(target));
  }

  /**
   * Copies from an array and rounds each element to the nearest of this type, ties to even, on the
   * host.
   *
   * @param source what becomes {@code F16} or {@code BF16}
   * @throws IllegalArgumentException if this is neither, or the length differs
   */
  public final void roundFrom(float[] source) {
    requireArray(source.length, "roundFrom(float[])", ElementType.F16, ElementType.BF16);
    HostCopy.toDevice(this, SixteenBit.of(type).rounding(source));
  }

  /**
   * Copies to an array and widens each element, which is exact.
   *
   * @param target where {@code F16} or {@code BF16} go as {@code float}
   * @throws IllegalArgumentException if this is neither, or the length differs
   */
  public final void widenTo(float[] target) {
    requireArray(target.length, "widenTo(float[])", ElementType.F16, ElementType.BF16);
    HostCopy.toHost(this, SixteenBit.of(type).widening(target));
  }

  // ---- Asynchronous

  /**
   * Enqueues a copy from pinned host memory, which is held until the copy has passed: {@link
   * HostBuffer#segment} waits for it.
   *
   * @param source exactly {@link #byteSize} bytes
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the size differs, or something is of another context
   */
  public final void copyFromAsync(HostBuffer source, Stream stream) {
    requireEqual(source.byteSize(), byteSize(), "the source has", "bytes");
    copyFromAsync(source, 0, stream);
  }

  /**
   * Enqueues a copy from a part of pinned host memory, which is held until the copy has passed:
   * {@link HostBuffer#segment} waits for it.
   *
   * @param source pinned memory
   * @param sourceOffsetBytes where in it the {@link #byteSize} bytes begin
   * @param stream where to enqueue
   * @throws IndexOutOfBoundsException if they do not lie inside
   * @throws IllegalArgumentException if something is of another context
   */
  public final void copyFromAsync(HostBuffer source, long sourceOffsetBytes, Stream stream) {
    requireSameContext(source);
    MemorySegment bytes = source.part(sourceOffsetBytes, byteSize());
    NativeStream target = usableOn(stream);
    context().checkPoison("cuMemcpyHtoDAsync");
    if (length == 0) {
      return;
    }
    context().call("cuStreamWaitEvent", () -> allocation.write(target));
    source.enqueue(
        "cuMemcpyHtoDAsync",
        target,
        () -> Driver.memcpyHtoDAsync(address, bytes, byteSize(), target.handle()));
  }

  /**
   * Enqueues a copy to pinned host memory, which is held until the copy has passed: {@link
   * HostBuffer#segment} waits for it.
   *
   * @param target exactly {@link #byteSize} bytes
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the size differs
   */
  public final void copyToAsync(HostBuffer target, Stream stream) {
    requireEqual(target.byteSize(), byteSize(), "the target has", "bytes");
    copyToAsync(target, 0, stream);
  }

  /**
   * Enqueues a copy to a part of pinned host memory, which is held until the copy has passed:
   * {@link HostBuffer#segment} waits for it.
   *
   * @param target pinned memory
   * @param targetOffsetBytes where in it the {@link #byteSize} bytes begin
   * @param stream where to enqueue
   * @throws IndexOutOfBoundsException if they do not lie inside
   * @throws IllegalArgumentException if something is of another context
   */
  public final void copyToAsync(HostBuffer target, long targetOffsetBytes, Stream stream) {
    requireSameContext(target);
    MemorySegment bytes = target.part(targetOffsetBytes, byteSize());
    NativeStream source = usableOn(stream);
    context().checkPoison("cuMemcpyDtoHAsync");
    if (length == 0) {
      return;
    }
    context().call("cuStreamWaitEvent", () -> allocation.read(source));
    target.enqueue(
        "cuMemcpyDtoHAsync",
        source,
        () -> Driver.memcpyDtoHAsync(bytes, address, byteSize(), source.handle()));
  }

  /**
   * Enqueues a copy within device memory. Copying a range to itself does nothing.
   *
   * @param source as many elements of the same type
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the lengths differ, the ranges overlap, or the contexts
   *     differ
   */
  public final void copyFromAsync(DeviceRange<E> source, Stream stream) {
    requireEqual(source.length, length, "the source has", "elements");
    if (source.type != type) {
      throw new IllegalArgumentException(
          "the source has elements of " + source.type + ", the target of " + type);
    }
    if (source.context() != context()) {
      throw new IllegalArgumentException(
          "the source belongs to the " + source.context() + ", the target to the " + context());
    }
    source.allocation.requireOpen();
    NativeStream target = usableOn(stream);
    context().checkPoison("cuMemcpyDtoDAsync");
    if (length == 0 || source.address == address) {
      return;
    }
    if (overlaps(source)) {
      throw new IllegalArgumentException(
          "source and target overlap; copy in parts or through another buffer");
    }
    context()
        .call(
            "cuStreamWaitEvent",
            () -> {
              source.allocation.read(target);
              allocation.write(target);
            });
    context()
        .run(
            "cuMemcpyDtoDAsync",
            () -> Driver.memcpyDtoDAsync(address, source.address, byteSize(), target.handle()));
  }

  /**
   * Enqueues a fill with zeros.
   *
   * @param stream where to enqueue
   */
  public final void zero(Stream stream) {
    DeviceFill.fill(this, 0, stream);
  }

  /**
   * Enqueues a fill with one value, rounded to the nearest of this type for {@code F16}, {@code
   * BF16} and {@code F32}.
   *
   * @param value the value of all elements
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the elements are integers: pass a {@code long}
   */
  public final void fill(double value, Stream stream) {
    DeviceFill.fill(this, DeviceFill.bitsOf(type, value), stream);
  }

  /**
   * Enqueues a fill with one integer.
   *
   * @param value the value of all elements
   * @param stream where to enqueue
   * @throws IllegalArgumentException if the type cannot hold it, or is a floating type that cannot
   *     hold it exactly
   */
  public final void fill(long value, Stream stream) {
    DeviceFill.fill(this, DeviceFill.bitsOf(type, value), stream);
  }

  // ---- Checks

  /** The stream to enqueue on, if this memory and the stream may be used together. */
  final NativeStream usableOn(Stream stream) {
    allocation.requireOpen();
    NativeStream usable = stream.usable();
    if (stream.context() != context()) {
      throw new IllegalArgumentException(
          "the stream belongs to the " + stream.context() + ", the memory to the " + context());
    }
    return usable;
  }

  private void requireSameContext(HostBuffer pinned) {
    if (pinned.context() != context()) {
      throw new IllegalArgumentException(
          "the pinned memory belongs to the "
              + pinned.context()
              + ", the device memory to the "
              + context());
    }
  }

  /** Whether some byte belongs to both. */
  final boolean overlaps(DeviceRange<?> other) {
    return overlaps(length, other, other.length);
  }

  /** Whether some byte belongs to the first elements of both. */
  final boolean overlaps(long elements, DeviceRange<?> other, long otherElements) {
    return allocation == other.allocation
        && address < other.address + otherElements * other.type.byteSize()
        && other.address < address + elements * type.byteSize();
  }

  private void requireArray(long arrayLength, String array, ElementType<?>... types) {
    boolean fits = false;
    for (ElementType<?> candidate : types) {
      fits |= candidate == type;
    }
    if (!fits) {
      throw new IllegalArgumentException(
          array
              + " holds elements of "
              + java.util.Arrays.toString(types)
              + ", the device memory of "
              + type);
    }
    requireEqual(arrayLength, length, "the array has", "elements");
  }

  private static void requireEqual(long actual, long expected, String who, String unit) {
    if (actual != expected) {
      throw new IllegalArgumentException(
          who + " " + actual + " " + unit + ", the device memory " + expected);
    }
  }

  /** {@return type, length and state} */
  @Override
  public final String toString() {
    return getClass().getSimpleName()
        + "<"
        + type
        + "> of "
        + length
        + (allocation.isClosed() ? ", closed" : "");
  }
}

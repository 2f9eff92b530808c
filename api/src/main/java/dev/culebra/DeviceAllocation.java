package dev.culebra;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.Driver;
import dev.culebra.bindings.OutOfDeviceMemoryException;
import java.util.Arrays;

/**
 * Device memory, and which streams used it last. One stream owns the memory: the one that wrote it
 * last. Work on another stream is ordered behind it by one event, only when the stream changes.
 * Streams that only read are remembered until the next write or the free, which wait for them.
 */
final class DeviceAllocation extends Owned {

  private static final int MEMPOOL_ATTR_RESERVED = 5;
  private static final int MEMPOOL_ATTR_USED = 7;
  private static final NativeStream[] NONE = {};

  private final long address;
  private final long byteSize;
  private volatile NativeStream owner;
  private volatile NativeStream[] readers = NONE;

  private DeviceAllocation(
      Context context, String what, long address, long byteSize, NativeStream owner) {
    super(context, what);
    this.address = address;
    this.byteSize = byteSize;
    this.owner = owner;
  }

  static DeviceAllocation allocate(
      Context context, ElementType<?> type, long length, Stream stream) {
    String what = "DeviceBuffer<" + type + "> of " + length;
    if (length < 0) {
      throw new IllegalArgumentException("a buffer cannot have " + length + " elements");
    }
    if (length > Long.MAX_VALUE / type.byteSize()) {
      throw new IllegalArgumentException(
          length + " elements of " + type + " have more than 2^63 bytes");
    }
    if (stream.context() != context) {
      throw new IllegalArgumentException(
          "the stream belongs to the " + stream.context() + ", not to the " + context);
    }
    long byteSize = length * type.byteSize();
    NativeStream owner = stream.usable();
    return context.guarded(
        "cuMemAllocAsync",
        () -> {
          long address = byteSize == 0 ? 0 : allocateNative(context, byteSize, owner);
          DeviceAllocation made = new DeviceAllocation(context, what, address, byteSize, owner);
          context.own(made);
          return made;
        });
  }

  private static long allocateNative(Context context, long byteSize, NativeStream stream) {
    return context.withCurrent(
        () -> {
          try {
            return Driver.memAllocAsync(byteSize, stream.handle());
          } catch (OutOfDeviceMemoryException e) {
            throw withFigures(context, byteSize, e);
          }
        });
  }

  private static CudaException withFigures(
      Context context, long byteSize, OutOfDeviceMemoryException e) {
    var memory = Driver.memGetInfo();
    long pool = Driver.deviceGetDefaultMemPool(context.device().handle());
    return CudaException.of(
        e.function(),
        CudaResult.OUT_OF_MEMORY.code(),
        "asked for "
            + byteSize
            + " bytes; of "
            + memory.totalBytes()
            + " bytes on the device "
            + memory.freeBytes()
            + " are free, the pool holds "
            + Driver.memPoolGetAttribute(pool, MEMPOOL_ATTR_RESERVED)
            + " of which "
            + Driver.memPoolGetAttribute(pool, MEMPOOL_ATTR_USED)
            + " are in use");
  }

  long address() {
    return address;
  }

  long byteSize() {
    return byteSize;
  }

  /** The stream on which host copies run: nothing has to wait there. */
  NativeStream owner() {
    return owner;
  }

  /** Call before enqueuing work that writes. */
  void write(NativeStream stream) {
    if (owner != stream || readers.length != 0) {
      takeOver(stream);
    }
  }

  /** Call before enqueuing work that only reads. */
  void read(NativeStream stream) {
    if (owner != stream && !isReader(stream)) {
      join(stream);
    }
  }

  private boolean isReader(NativeStream stream) {
    for (NativeStream reader : readers) {
      if (reader == stream) {
        return true;
      }
    }
    return false;
  }

  // Recording an event and waiting for it in a stream never waits on the host, so a lock may be
  // held.
  private synchronized void takeOver(NativeStream stream) {
    if (owner != stream) {
      stream.waitFor(owner, context);
    }
    for (NativeStream reader : readers) {
      if (reader != stream) {
        stream.waitFor(reader, context);
      }
    }
    owner = stream;
    readers = NONE;
  }

  private synchronized void join(NativeStream stream) {
    if (owner == stream || isReader(stream)) {
      return;
    }
    stream.waitFor(owner, context);
    NativeStream[] more = Arrays.copyOf(readers, readers.length + 1);
    more[readers.length] = stream;
    readers = more;
  }

  @Override
  void free() {
    if (address == 0) {
      return;
    }
    NativeStream last = owner;
    write(last);
    Driver.memFreeAsync(address, last.handle());
  }
}

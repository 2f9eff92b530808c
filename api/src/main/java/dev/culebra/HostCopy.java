package dev.culebra;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.Driver;
import java.lang.foreign.MemorySegment;
import java.util.function.Consumer;

/**
 * Synchronous copies between host memory of any kind and the device, through two halves of pinned
 * memory: while the device copies one, the host fills or empties the other. The user's memory is
 * touched by this thread only, so nothing of it has to be held, and neither the garbage collector
 * nor work in other streams has to wait.
 *
 * <p>The copies run on the stream that owns the memory, behind all that uses it.
 */
final class HostCopy {

  private HostCopy() {}

  /** Moves bytes between the user's memory and a piece of pinned memory. */
  interface Piece {
    void move(MemorySegment pinned, long offsetBytes, long bytes);
  }

  static Piece bytesOf(MemorySegment source) {
    requireAccessible(source);
    return (pinned, offset, bytes) -> MemorySegment.copy(source, offset, pinned, 0, bytes);
  }

  static Piece bytesInto(MemorySegment target) {
    requireAccessible(target);
    return (pinned, offset, bytes) -> MemorySegment.copy(pinned, 0, target, offset, bytes);
  }

  /** Before anything is enqueued. */
  private static void requireAccessible(MemorySegment users) {
    if (!users.scope().isAlive()) {
      throw new IllegalStateException("the host memory's arena has been closed");
    }
    if (!users.isAccessibleBy(Thread.currentThread())) {
      throw new WrongThreadException("the host memory's arena is confined to another thread");
    }
  }

  static void toDevice(DeviceRange<?> target, Piece fill) {
    NativeStream stream = target.allocation.owner();
    copy(
        target,
        "cuMemcpyHtoDAsync",
        stream,
        () -> target.allocation.write(stream),
        slab -> {
          long size = target.byteSize();
          int half = 0;
          for (long offset = 0; offset < size; offset += StagingPool.HALF_BYTES) {
            long bytes = Math.min(StagingPool.HALF_BYTES, size - offset);
            slab.await(half);
            fill.move(slab.half(half), offset, bytes);
            Driver.memcpyHtoDAsync(
                target.rawAddress() + offset, slab.half(half), bytes, stream.handle());
            slab.enqueued(half, stream);
            half = 1 - half;
          }
          Driver.streamSynchronize(stream.handle());
        });
  }

  static void toHost(DeviceRange<?> source, Piece drain) {
    NativeStream stream = source.allocation.owner();
    copy(
        source,
        "cuMemcpyDtoHAsync",
        stream,
        () -> source.allocation.read(stream),
        slab -> {
          long size = source.byteSize();
          // One piece ahead: the device writes a half while the host reads the other.
          enqueuePiece(source, slab, 0, 0, stream);
          int half = 0;
          for (long offset = 0; offset < size; offset += StagingPool.HALF_BYTES) {
            enqueuePiece(source, slab, 1 - half, offset + StagingPool.HALF_BYTES, stream);
            slab.await(half);
            drain.move(slab.half(half), offset, Math.min(StagingPool.HALF_BYTES, size - offset));
            half = 1 - half;
          }
        });
  }

  private static void copy(
      DeviceRange<?> range,
      String function,
      NativeStream stream,
      Runnable order,
      Consumer<StagingPool.Slab> pieces) {
    range.allocation.requireOpen();
    Context context = range.context();
    context.call(
        function,
        () -> {
          if (range.byteSize() == 0) {
            return;
          }
          StagingPool.Slab slab = context.staging().borrow();
          try {
            order.run();
            context.withCurrent(() -> pieces.accept(slab));
          } catch (Throwable t) {
            recover(context, slab, stream, t);
            throw t;
          }
          context.staging().giveBack(slab);
        });
  }

  /**
   * The user's memory can fail half way, if its arena closes. Then pieces may be in flight, and the
   * slab is free when the stream has passed them. If it cannot be waited for, the slab stays away
   * until the context closes.
   */
  private static void recover(
      Context context, StagingPool.Slab slab, NativeStream stream, Throwable primary) {
    try {
      Driver.streamSynchronize(stream.handle());
      context.staging().giveBack(slab);
    } catch (CudaException e) {
      primary.addSuppressed(e);
    }
  }

  private static void enqueuePiece(
      DeviceRange<?> source, StagingPool.Slab slab, int half, long offset, NativeStream stream) {
    long bytes = Math.min(StagingPool.HALF_BYTES, source.byteSize() - offset);
    if (bytes > 0) {
      Driver.memcpyDtoHAsync(slab.half(half), source.rawAddress() + offset, bytes, stream.handle());
      slab.enqueued(half, stream);
    }
  }
}

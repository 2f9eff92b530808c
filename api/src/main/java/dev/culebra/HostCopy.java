package dev.culebra;

import dev.culebra.bindings.Driver;
import java.lang.foreign.MemorySegment;

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
    return (pinned, offset, bytes) -> MemorySegment.copy(source, offset, pinned, 0, bytes);
  }

  static Piece bytesInto(MemorySegment target) {
    return (pinned, offset, bytes) -> MemorySegment.copy(pinned, 0, target, offset, bytes);
  }

  static void toDevice(DeviceRange<?> target, Piece fill) {
    Context context = prepare(target, "cuMemcpyHtoDAsync");
    long size = target.byteSize();
    if (size == 0) {
      return;
    }
    StagingPool.Slab slab = context.staging().borrow();
    NativeStream stream = target.allocation.owner();
    context.call("cuStreamWaitEvent", () -> target.allocation.write(stream));
    context.run(
        "cuMemcpyHtoDAsync",
        () -> {
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
    context.staging().giveBack(slab);
  }

  static void toHost(DeviceRange<?> source, Piece drain) {
    Context context = prepare(source, "cuMemcpyDtoHAsync");
    long size = source.byteSize();
    if (size == 0) {
      return;
    }
    StagingPool.Slab slab = context.staging().borrow();
    NativeStream stream = source.allocation.owner();
    context.call("cuStreamWaitEvent", () -> source.allocation.read(stream));
    context.run(
        "cuMemcpyDtoHAsync",
        () -> {
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
    context.staging().giveBack(slab);
  }

  private static void enqueuePiece(
      DeviceRange<?> source, StagingPool.Slab slab, int half, long offset, NativeStream stream) {
    long bytes = Math.min(StagingPool.HALF_BYTES, source.byteSize() - offset);
    if (bytes > 0) {
      Driver.memcpyDtoHAsync(slab.half(half), source.rawAddress() + offset, bytes, stream.handle());
      slab.enqueued(half, stream);
    }
  }

  private static Context prepare(DeviceRange<?> range, String function) {
    range.allocation.requireOpen();
    Context context = range.context();
    context.requireOpen();
    context.checkPoison(function);
    return context;
  }
}

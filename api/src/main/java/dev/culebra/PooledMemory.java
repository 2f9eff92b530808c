package dev.culebra;

import dev.culebra.bindings.Driver;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps the memory of a device's default pool while a context of ours is open. The pool is the
 * process's, not the context's: the last context to close gives it back as the first one found it.
 */
final class PooledMemory {

  private static final int MEMPOOL_ATTR_RELEASE_THRESHOLD = 4;
  private static final long KEEP_EVERYTHING = -1;
  private static final Map<Integer, PooledMemory> BY_ORDINAL = new HashMap<>();

  private final long pool;
  private final long thresholdBytes;
  private int contexts;

  private PooledMemory(long pool) {
    this.pool = pool;
    this.thresholdBytes = Driver.memPoolGetAttribute(pool, MEMPOOL_ATTR_RELEASE_THRESHOLD);
    Driver.memPoolSetAttribute(pool, MEMPOOL_ATTR_RELEASE_THRESHOLD, KEEP_EVERYTHING);
  }

  /** For a context that opens. Needs the primary context to be retained. */
  static void keep(Device device) {
    synchronized (BY_ORDINAL) {
      PooledMemory memory = BY_ORDINAL.get(device.ordinal());
      if (memory == null) {
        memory = new PooledMemory(Driver.deviceGetDefaultMemPool(device.handle()));
        BY_ORDINAL.put(device.ordinal(), memory);
      }
      memory.contexts++;
    }
  }

  /** For a context that closes, before it releases the primary context. */
  static void release(Device device) {
    synchronized (BY_ORDINAL) {
      PooledMemory memory = BY_ORDINAL.get(device.ordinal());
      if (memory == null || --memory.contexts > 0) {
        return;
      }
      BY_ORDINAL.remove(device.ordinal());
      Driver.memPoolSetAttribute(
          memory.pool, MEMPOOL_ATTR_RELEASE_THRESHOLD, memory.thresholdBytes);
      // An unsigned number in C: what is negative here is more than any device has.
      if (memory.thresholdBytes >= 0) {
        Driver.memPoolTrimTo(memory.pool, memory.thresholdBytes);
      }
    }
  }
}

package dev.culebra;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.PoisonedContextException;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Whether a device is lost for this process. After a kernel fault the driver answers every call
 * with that fault, in the old context and in any new one, so the first fault is kept for each
 * device for good.
 */
final class Poison {

  private static final ConcurrentHashMap<Integer, Poison> BY_ORDINAL = new ConcurrentHashMap<>();

  private volatile @Nullable CudaException fault;

  private Poison() {}

  static Poison of(int ordinal) {
    return BY_ORDINAL.computeIfAbsent(ordinal, key -> new Poison());
  }

  boolean isPoisoned() {
    return fault != null;
  }

  /** Fails fast instead of calling the driver. */
  void check(String function) {
    CudaException first = fault;
    if (first != null) {
      throw new PoisonedContextException(function, first);
    }
  }

  /**
   * The exception to throw for a failed call: itself, unless it is the first fault, which is
   * remembered and told with the launches that may have caused it.
   */
  CudaException noted(CudaException failure, RecentLaunches launches) {
    CudaResult result = failure.result();
    if (!result.isSticky() || isPoisoned()) {
      return failure;
    }
    CudaException told =
        launches.isEmpty()
            ? failure
            : CudaException.of(
                failure.function(), result.code(), "launched last: " + launches.newestFirst());
    synchronized (this) {
      if (fault == null) {
        fault = told;
      }
    }
    return told;
  }
}

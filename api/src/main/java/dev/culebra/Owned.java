package dev.culebra;

import dev.culebra.bindings.CudaException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The native side of something that a context made: what is left to free if the object that the
 * user had is gone. The context keeps these, never the user's objects, so that a leak can be seen.
 */
abstract class Owned {

  private static final AtomicLong SEQUENCE = new AtomicLong();
  private static final VarHandle CLOSED;

  static {
    try {
      CLOSED = MethodHandles.lookup().findVarHandle(Owned.class, "closed", boolean.class);
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("Owned.closed", e);
    }
  }

  final Context context;
  final long sequence = SEQUENCE.getAndIncrement();
  private final String what;
  // Not an AtomicBoolean: every launch asks, and that would be one more cache line to touch.
  private volatile boolean closed;
  private volatile @Nullable Throwable createdAt;
  private volatile boolean users;
  private final AtomicBoolean reported = new AtomicBoolean();

  /** Does not register: call {@link Context#own} when the native object exists. */
  Owned(Context context, String what) {
    this.context = context;
    this.what = what;
  }

  /**
   * Frees the native object. Called once at most, and not in a poisoned context.
   *
   * @throws IllegalStateException if it is in use and was left as it is; then it may be called
   *     again
   */
  abstract void free();

  final boolean isClosed() {
    return closed;
  }

  final void requireOpen() {
    if (closed) {
      throw new IllegalStateException(what + " has been closed");
    }
  }

  /**
   * Frees once. A second call does nothing, also when the driver refused the first one. In a
   * context that is being closed it does nothing either: the context frees it.
   */
  final void close() {
    if (!closed && context.tryEnter()) {
      try {
        closeWithContext();
      } finally {
        context.leave();
      }
    }
  }

  /** As {@link #close}, for the context itself. */
  final void closeWithContext() {
    if (!CLOSED.compareAndSet(this, false, true)) {
      return;
    }
    context.disown(this);
    // In a poisoned context nothing can be freed and nothing is gained by another exception.
    if (context.isPoisoned()) {
      return;
    }
    try {
      free();
    } catch (CudaException e) {
      throw context.noted(e);
    } catch (IllegalStateException e) {
      closed = false;
      context.own(this);
      throw e;
    }
  }

  /** Marks it as something that a user has to close, held by {@code handle}. */
  final void handOut(Object handle) {
    users = true;
    createdAt = LeakTracker.creation();
    LeakTracker.track(handle, this);
  }

  final boolean isUsers() {
    return users;
  }

  /** True once, so that a leak is reported once. */
  final boolean firstReport() {
    return reported.compareAndSet(false, true);
  }

  final String what() {
    return what;
  }

  final @Nullable Throwable createdAt() {
    return createdAt;
  }

  @Override
  public final String toString() {
    return what;
  }
}

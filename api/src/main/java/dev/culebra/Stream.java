package dev.culebra;

import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.Driver;

/**
 * A queue of work on the device: what is enqueued in one stream runs in that order, streams run
 * side by side. Streams do not synchronise with CUDA's legacy default stream.
 *
 * <p>Any thread may use and close a stream. {@link #close} waits for its work and gives the native
 * stream back to the context for reuse, so a use that races with it can never reach a destroyed
 * handle. The close of the context is what destroys it; {@link Context} says what that waits for.
 */
public final class Stream implements AutoCloseable {

  private final Lease lease;

  Stream(Context context, int priority) {
    lease =
        context.guarded(
            "cuStreamCreateWithPriority",
            () -> {
              Lease made = new Lease(context, context.streams().borrow(priority));
              context.own(made);
              return made;
            });
    lease.handOut(this);
  }

  private static final class Lease extends Owned {

    private final NativeStream stream;

    Lease(Context context, NativeStream stream) {
      super(context, "stream 0x" + Long.toHexString(stream.handle()));
      this.stream = stream;
    }

    @Override
    void free() {
      Driver.streamSynchronize(stream.handle());
      context.streams().giveBack(stream);
    }
  }

  /** {@return the context that made this stream} */
  public Context context() {
    return lease.context;
  }

  /** {@return the priority; lower numbers are more urgent} */
  public int priority() {
    return lease.stream.priority();
  }

  /** {@return the {@code CUstream}, for interop; valid until this stream is closed} */
  public long handle() {
    return usable().handle();
  }

  /**
   * Waits until all work in this stream is done.
   *
   * @throws dev.culebra.bindings.KernelFaultException if a kernel broke a rule, perhaps in another
   *     stream; the context is poisoned then
   */
  public void synchronize() {
    NativeStream stream = usable();
    // Spelled out, not guarded by a lambda: this allocates nothing.
    Context context = lease.context;
    context.enter();
    try {
      context.checkPoison("cuStreamSynchronize");
      Driver.streamSynchronize(stream.handle());
    } catch (CudaException e) {
      throw context.noted(e);
    } finally {
      context.leave();
    }
  }

  /**
   * Whether all work in this stream is done. Does not wait.
   *
   * @return true if it is
   * @throws dev.culebra.bindings.KernelFaultException if a kernel broke a rule; the context is
   *     poisoned then
   */
  public boolean isDone() {
    NativeStream stream = usable();
    return context()
        .guarded(
            "cuStreamQuery",
            () -> {
              CudaResult result = Driver.streamQuery(stream.handle());
              if (result.equals(CudaResult.NOT_READY)) {
                return false;
              }
              Driver.check("cuStreamQuery", result.code());
              return true;
            });
  }

  /**
   * Marks this point of the stream: the event is done when all work enqueued so far is. Recording
   * again moves the mark.
   *
   * @param event an event of the same context
   * @throws IllegalArgumentException if it is of another context
   */
  public void record(Event event) {
    NativeStream stream = usable();
    event.recordIn(this, stream);
  }

  /**
   * Lets work enqueued from now on wait for an event; the calling thread does not wait. An event
   * never recorded counts as done.
   *
   * @param event an event of this or of another context
   */
  public void waitFor(Event event) {
    NativeStream stream = usable();
    long handle = event.usable().handle();
    Context events = event.context();
    if (events != context()) {
      events.enter();
    }
    try {
      context().call("cuStreamWaitEvent", () -> Driver.streamWaitEvent(stream.handle(), handle, 0));
    } finally {
      if (events != context()) {
        events.leave();
      }
    }
  }

  /** {@return whether {@link #close} was called} */
  public boolean isClosed() {
    return lease.isClosed();
  }

  /**
   * Waits for the work in this stream and closes it. Closing again does nothing. Buffers that used
   * the stream last stay usable.
   */
  @Override
  public void close() {
    lease.close();
  }

  /** The native stream, if this stream may be used. */
  NativeStream usable() {
    lease.requireOpen();
    return lease.stream;
  }

  /** {@return handle and state} */
  @Override
  public String toString() {
    return lease + (isClosed() ? ", closed" : "");
  }
}

package dev.culebra;

import dev.culebra.bindings.CudaResult;
import dev.culebra.bindings.Driver;
import org.jspecify.annotations.Nullable;

/**
 * A mark in a stream, recorded by {@link Stream#record}: other streams and the host can wait until
 * the stream has passed it.
 *
 * <p>Any thread may use and close an event. {@link #close} waits for the mark and gives the native
 * event back to the context for reuse.
 */
public sealed class Event implements AutoCloseable permits TimedEvent {

  private final Lease lease;

  Event(Context context) {
    this(context, false);
  }

  Event(Context context, boolean timed) {
    lease =
        context.guarded(
            "cuEventCreate",
            () -> {
              Lease made = new Lease(context, context.events().borrow(timed));
              context.own(made);
              return made;
            });
    lease.handOut(this);
  }

  private static final class Lease extends Owned {

    private final NativeEvent event;
    private volatile @Nullable NativeStream recordedIn;

    Lease(Context context, NativeEvent event) {
      super(
          context,
          (event.timed() ? "timed event 0x" : "event 0x") + Long.toHexString(event.handle()));
      this.event = event;
    }

    @Override
    void free() {
      if (recordedIn != null) {
        Driver.eventSynchronize(event.handle());
      }
      context.events().giveBack(event);
    }
  }

  /** {@return the context that made this event} */
  public final Context context() {
    return lease.context;
  }

  /** {@return the {@code CUevent}, for interop; valid until this event is closed} */
  public final long handle() {
    return usable().handle();
  }

  /** {@return whether a stream was ever told to record this event} */
  public final boolean isRecorded() {
    usable();
    return lease.recordedIn != null;
  }

  /**
   * Whether the stream has passed the mark. Does not wait.
   *
   * @return true if it has
   * @throws IllegalStateException if the event was never recorded
   * @throws dev.culebra.bindings.KernelFaultException if a kernel broke a rule; the context is
   *     poisoned then
   */
  public final boolean isDone() {
    requireRecorded();
    return context()
        .guarded(
            "cuEventQuery",
            () -> {
              CudaResult result = Driver.eventQuery(lease.event.handle());
              if (result.equals(CudaResult.NOT_READY)) {
                return false;
              }
              Driver.check("cuEventQuery", result.code());
              return true;
            });
  }

  /**
   * Waits until the stream has passed the mark.
   *
   * @throws IllegalStateException if the event was never recorded
   * @throws dev.culebra.bindings.KernelFaultException if a kernel broke a rule; the context is
   *     poisoned then
   */
  public final void synchronize() {
    requireRecorded();
    context().call("cuEventSynchronize", () -> Driver.eventSynchronize(lease.event.handle()));
  }

  /** {@return whether {@link #close} was called} */
  public final boolean isClosed() {
    return lease.isClosed();
  }

  /** Waits for the mark, if there is one, and closes the event. Closing again does nothing. */
  @Override
  public final void close() {
    lease.close();
  }

  final NativeEvent usable() {
    lease.requireOpen();
    return lease.event;
  }

  final void requireRecorded() {
    usable();
    if (lease.recordedIn == null) {
      throw new IllegalStateException(lease + " was never recorded; call Stream.record first");
    }
  }

  final void recordIn(Stream stream, NativeStream target) {
    NativeEvent event = usable();
    if (stream.context() != context()) {
      throw new IllegalArgumentException(
          lease + " belongs to the " + context() + ", the stream to the " + stream.context());
    }
    context().call("cuEventRecord", () -> Driver.eventRecord(event.handle(), target.handle()));
    lease.recordedIn = target;
  }

  /** {@return handle and state} */
  @Override
  public final String toString() {
    return lease + (isClosed() ? ", closed" : lease.recordedIn == null ? ", not recorded" : "");
  }
}

package dev.culebra;

import dev.culebra.bindings.Driver;
import java.time.Duration;

/**
 * An {@link Event} that notes when the stream passed it. Recording one costs a little more than
 * recording an event that cannot.
 */
public final class TimedEvent extends Event {

  private static final double NANOS_PER_MILLI = 1e6;

  TimedEvent(Context context) {
    super(context, true);
  }

  /**
   * The time on the device from another mark to this one, to about half a microsecond.
   *
   * @param start the earlier mark
   * @return the time, negative if the marks were passed the other way round
   * @throws IllegalStateException if one was never recorded, or a stream has not passed it yet:
   *     synchronise first
   * @throws IllegalArgumentException if the events are of different contexts
   */
  public Duration elapsedSince(TimedEvent start) {
    start.requireRecorded();
    requireRecorded();
    if (start.context() != context()) {
      throw new IllegalArgumentException(
          "the time between events of two contexts cannot be told: "
              + start
              + " of the "
              + start.context()
              + ", "
              + this
              + " of the "
              + context());
    }
    requirePassed(start);
    requirePassed(this);
    return context()
        .bound(
            "cuEventElapsedTime",
            () ->
                Duration.ofNanos(
                    Math.round(
                        Driver.eventElapsedTime(start.usable().handle(), usable().handle())
                            * NANOS_PER_MILLI)));
  }

  private static void requirePassed(TimedEvent event) {
    if (!event.isDone()) {
      throw new IllegalStateException(event + " has not been passed yet; synchronize it first");
    }
  }
}

package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.Stream;
import dev.culebra.TimedEvent;
import java.time.Duration;

/** Adds up the time that work on a stream takes on the device, by events around it. */
final class KernelTimer implements AutoCloseable {
  private static final double SECONDS_PER_NANO = 1e-9;

  private final Stream stream;
  private final TimedEvent start;
  private final TimedEvent end;
  private Duration total = Duration.ZERO;

  KernelTimer(Context context, Stream stream) {
    this.stream = stream;
    this.start = context.newTimedEvent();
    this.end = context.newTimedEvent();
  }

  /** Runs what enqueues the work, and waits for it. */
  void time(Runnable enqueue) {
    stream.record(start);
    enqueue.run();
    stream.record(end);
    end.synchronize();
    total = total.plus(end.elapsedSince(start));
  }

  /** The time of all work so far. */
  double seconds() {
    return total.toNanos() * SECONDS_PER_NANO;
  }

  @Override
  public void close() {
    start.close();
    end.close();
  }
}

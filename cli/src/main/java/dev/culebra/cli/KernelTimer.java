package dev.culebra.cli;

import dev.culebra.Context;
import dev.culebra.Stream;
import dev.culebra.TimedEvent;

/** Times what work on a stream takes on the device, by events around it. */
final class KernelTimer implements AutoCloseable {
  /** What {@link #seconds} is, for machines. */
  static final String SUM_OF_SPANS =
      "sum of the device's time from before to after the launches of each piece, after a warm-up; without copies";

  /** The clocks of an idle device take some time to rise. */
  private static final double WARM_UP_SECONDS = 0.03;

  private static final int WARM_UP_LAUNCHES = 20;
  private static final int BATCHES = 5;

  /** Long beside the events' resolution of half a microsecond. */
  private static final double BATCH_SECONDS = 0.005;

  private static final int MAX_BATCH_LAUNCHES = 100;

  /** What takes longer than this, as on the emulator, is not waited for again. */
  private static final double MAX_SECONDS_TO_REPEAT = 0.1;

  private static final double SECONDS_PER_NANO = 1e-9;

  private final Stream stream;
  private final TimedEvent start;
  private final TimedEvent end;
  private double totalSeconds;

  /**
   * The time of one of many equal launches.
   *
   * @param seconds of one launch, in the best batch
   * @param batches how many batches there were
   * @param launches launches of a batch, back to back
   */
  record Repeated(double seconds, int batches, int launches) {

    /** What {@code seconds} is, for machines. */
    String description() {
      return "best of %d batches of %d launches back to back, a launch, after a warm-up; without copies"
          .formatted(batches, launches);
    }
  }

  KernelTimer(Context context, Stream stream) {
    this.stream = stream;
    this.start = context.newTimedEvent();
    this.end = context.newTimedEvent();
  }

  /**
   * Runs the same kind of work once without counting it. Otherwise the first span holds the loading
   * of the kernel, and of the classes between the two events.
   */
  void warmUp(Runnable enqueue) {
    span(enqueue);
  }

  /** Runs what enqueues the work, waits for it, and adds its time up. */
  void time(Runnable enqueue) {
    totalSeconds += span(enqueue);
  }

  /** Enqueues work without waiting for it; {@link #collect} adds its time up. */
  void enqueue(Runnable work) {
    stream.record(start);
    work.run();
    stream.record(end);
  }

  /** Waits for the work that was enqueued, and adds its time up; {@return that time} */
  double collect() {
    double seconds = sinceStart();
    totalSeconds += seconds;
    return seconds;
  }

  /**
   * Times a launch by repeating it, so repeating has to give the same again: output and input
   * apart. Call {@link #warmUp} with a small one first.
   */
  Repeated repeat(Runnable launch) {
    double once = span(launch);
    double warm = once;
    for (int i = 1; i < WARM_UP_LAUNCHES && warm < WARM_UP_SECONDS; i++) {
      once = span(launch);
      warm += once;
    }
    if (once > MAX_SECONDS_TO_REPEAT) {
      return new Repeated(once, 1, 1);
    }
    int launches = (int) Math.clamp(BATCH_SECONDS / once, 1, MAX_BATCH_LAUNCHES);
    double best = Double.POSITIVE_INFINITY;
    for (int batch = 0; batch < BATCHES; batch++) {
      double seconds =
          span(
              () -> {
                for (int i = 0; i < launches; i++) {
                  launch.run();
                }
              });
      best = Math.min(best, seconds / launches);
    }
    return new Repeated(best, BATCHES, launches);
  }

  private double span(Runnable work) {
    enqueue(work);
    return sinceStart();
  }

  private double sinceStart() {
    end.synchronize();
    return end.elapsedSince(start).toNanos() * SECONDS_PER_NANO;
  }

  /** The time of all counted work so far. */
  double seconds() {
    return totalSeconds;
  }

  @Override
  public void close() {
    start.close();
    end.close();
  }
}

package dev.culebra.benchmarks.kernels;

import dev.culebra.Context;
import dev.culebra.Stream;
import dev.culebra.TimedEvent;
import java.util.ArrayList;
import java.util.List;

/**
 * Times what is enqueued, by events in the stream. All is queued before the first is waited for:
 * the device then never waits for a launch, unless the launch takes longer than the kernel.
 */
final class EventTimer {
  /** Long against the half microsecond to which events are exact. */
  private static final double SAMPLE_MICROS = 300;

  /** Most launches that are queued at once: a device's queue takes about a thousand. */
  private static final int QUEUED = 800;

  private static final int LEAD = 20;

  private final Context context;
  private final Stream stream;

  EventTimer(Context context, Stream stream) {
    this.context = context;
    this.stream = stream;
  }

  /** Launches between two events that make a sample long enough. */
  int repeats(Runnable enqueue) {
    microseconds(1, 1, enqueue); // loads what is loaded at first use
    double once = microseconds(1, 4, enqueue)[0];
    return (int) Math.clamp(Math.ceil(SAMPLE_MICROS / once), 1, QUEUED / 2);
  }

  /**
   * The time of one operation, several times.
   *
   * @param repeats operations of each sample
   * @throws IllegalStateException if no time passed: then nothing was done
   */
  double[] microseconds(int samples, int repeats, Runnable enqueue) {
    double[] micros = new double[samples];
    int atOnce = Math.clamp(QUEUED / repeats, 1, samples);
    for (int done = 0; done < samples; done += atOnce) {
      batch(micros, done, Math.min(samples, done + atOnce), repeats, enqueue);
    }
    return micros;
  }

  private void batch(double[] micros, int from, int to, int repeats, Runnable enqueue) {
    List<TimedEvent> events = new ArrayList<>();
    try {
      for (int i = from; i <= to; i++) {
        events.add(context.newTimedEvent());
      }
      // Something to work on while the first timed launch is on its way.
      for (int lead = 0; lead < Math.min(repeats, LEAD); lead++) {
        enqueue.run();
      }
      stream.record(events.getFirst());
      for (int i = from; i < to; i++) {
        for (int repeat = 0; repeat < repeats; repeat++) {
          enqueue.run();
        }
        stream.record(events.get(i - from + 1));
      }
      stream.synchronize();
      for (int i = from; i < to; i++) {
        long nanos = events.get(i - from + 1).elapsedSince(events.get(i - from)).toNanos();
        if (nanos <= 0) {
          throw new IllegalStateException("no time passed on the device");
        }
        micros[i] = nanos / 1e3 / repeats;
      }
    } finally {
      events.forEach(TimedEvent::close);
    }
  }
}

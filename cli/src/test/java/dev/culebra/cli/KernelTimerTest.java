package dev.culebra.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.Stream;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class KernelTimerTest {
  private static final long SLOW_NANOS = 200_000_000;

  private Context context;
  private Stream stream;
  private KernelTimer timer;
  private final AtomicInteger runs = new AtomicInteger();

  @BeforeEach
  void open() {
    context = Context.primary(Device.of(0));
    stream = context.newStream();
    timer = new KernelTimer(context, stream);
  }

  @AfterEach
  void close() {
    timer.close();
    stream.close();
    context.close();
  }

  /** A span between two events of which the first has passed long before the second is enqueued. */
  private void slow() {
    runs.incrementAndGet();
    long end = System.nanoTime() + SLOW_NANOS;
    stream.synchronize();
    while (System.nanoTime() < end) {
      LockSupport.parkNanos(end - System.nanoTime());
    }
  }

  @Test
  void aWarmUpIsNotCounted() {
    timer.warmUp(this::slow);
    assertEquals(1, runs.get());
    assertEquals(0, timer.seconds());
    timer.time(this::slow);
    timer.time(this::slow);
    assertTrue(timer.seconds() > 2 * 0.9e-9 * SLOW_NANOS, () -> timer.seconds() + " s");
  }

  @Test
  void whatIsSlowIsRunOnce() {
    KernelTimer.Repeated repeated = timer.repeat(this::slow);
    assertEquals(1, runs.get());
    assertEquals(1, repeated.batches());
    assertEquals(1, repeated.launches());
    assertTrue(repeated.seconds() > 0.9e-9 * SLOW_NANOS, repeated::toString);
  }

  @Test
  void whatIsFastIsRunInBatchesAndTheirTimeDivided() {
    KernelTimer.Repeated repeated =
        timer.repeat(
            () -> {
              runs.incrementAndGet();
              LockSupport.parkNanos(1_000_000);
            });
    int timed = repeated.batches() * repeated.launches();
    assertTrue(repeated.launches() >= 1 && repeated.batches() > 1, repeated::toString);
    assertTrue(runs.get() > timed && runs.get() <= timed + 20, () -> runs + " runs, " + repeated);
    assertTrue(repeated.seconds() < 0.1, repeated::toString);
  }
}

package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Event;
import dev.culebra.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Threads use a context in many ways while another closes it; a dead handle would end the JVM. */
public final class CloseRaceMain {
  private static final int ROUNDS = 30;

  /** One way of use. */
  @FunctionalInterface
  private interface Use {
    void run(Context context, Stream stream, DeviceBuffer<ElementType.F32> buffer);
  }

  private static final List<Use> USES =
      List.of(
          (context, stream, buffer) -> stream.synchronize(),
          (context, stream, buffer) -> stream.isDone(),
          (context, stream, buffer) -> {
            try (Event event = context.newEvent()) {
              stream.record(event);
              event.isDone();
            }
          },
          (context, stream, buffer) -> context.allocate(F32, 1000, stream).close(),
          (context, stream, buffer) -> context.newStream().close(),
          (context, stream, buffer) -> buffer.copyFrom(new float[1000]),
          (context, stream, buffer) -> buffer.copyTo(new float[1000]),
          (context, stream, buffer) -> buffer.zero(stream));

  private CloseRaceMain() {}

  /** Prints how many uses worked, and what else than IllegalStateException came out. */
  public static void main(String[] args) throws InterruptedException {
    AtomicLong worked = new AtomicLong();
    AtomicReference<@Nullable Throwable> other = new AtomicReference<>();
    for (int round = 0; round < ROUNDS; round++) {
      Context context = Context.primary(Device.of(0));
      Stream stream = context.newStream();
      DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 1000, stream);
      CountDownLatch running = new CountDownLatch(USES.size());
      List<Thread> threads = new ArrayList<>();
      for (Use use : USES) {
        threads.add(
            Thread.ofPlatform()
                .start(
                    () -> {
                      boolean first = true;
                      try {
                        while (true) {
                          use.run(context, stream, buffer);
                          worked.incrementAndGet();
                          if (first) {
                            running.countDown();
                            first = false;
                          }
                        }
                      } catch (IllegalStateException closed) {
                        // What a use after the close has to say.
                      } catch (Throwable t) {
                        other.compareAndSet(null, t);
                        running.countDown();
                      }
                    }));
      }
      running.await();
      context.close();
      for (Thread thread : threads) {
        thread.join();
      }
    }
    System.out.println("worked=" + (worked.get() >= (long) ROUNDS * USES.size()));
    System.out.println("other=" + other.get());
  }
}

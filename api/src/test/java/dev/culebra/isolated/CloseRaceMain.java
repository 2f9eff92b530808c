package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.CudaLibrary;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Event;
import dev.culebra.HostBuffer;
import dev.culebra.Kernel;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

/** Closes contexts that eight threads are using; each goes on until it is refused. */
public final class CloseRaceMain {

  private static final int ROUNDS = 40;

  private final Context context = Context.primary(Device.of(0));
  private final Stream stream = context.newStream();
  private final Event event = context.newEvent();
  private final Kernel fill = KernelCatalog.open().kernel(context, "culebra_selftest_fill_f32");

  // A launch is the one thing that a close must not meet: the user's lock, as documented.
  private final ReentrantLock launching = new ReentrantLock();

  private interface Step {
    void run() throws Exception;
  }

  private CloseRaceMain() {}

  /** Prints what else was thrown than IllegalStateException, and how much work was done. */
  public static void main(String[] args) throws Exception {
    AtomicReference<String> wrong = new AtomicReference<>("none");
    AtomicLong steps = new AtomicLong();
    for (int round = 0; round < ROUNDS; round++) {
      new CloseRaceMain().run(round, wrong, steps);
    }
    System.out.println("wrong=" + wrong);
    System.out.println("worked=" + (steps.get() > 8 * ROUNDS));
  }

  private void run(int round, AtomicReference<String> wrong, AtomicLong steps) throws Exception {
    stream.record(event);
    DeviceBuffer<ElementType.F32> shared = context.allocate(F32, 100, stream);
    List<Step> work =
        List.of(
            stream::isDone,
            () -> {
              stream.record(event);
              event.synchronize();
            },
            () -> context.allocate(F32, 10, stream).close(),
            () -> {
              shared.copyFrom(new float[100]);
              shared.copyTo(new float[100]);
            },
            () -> {
              try (Stream own = context.newStream();
                  Event mark = context.newTimedEvent()) {
                own.record(mark);
                own.waitFor(event);
              }
            },
            () -> {
              try (HostBuffer pinned = context.allocateHost(40);
                  DeviceBuffer<ElementType.F32> target = context.allocate(F32, 10, stream)) {
                target.copyFromAsync(pinned, stream);
              }
            },
            () -> {
              try (CudaLibrary library = context.load(fill.library().image())) {
                library.kernel(fill.name(), fill.signature());
              }
            },
            launcher());
    List<Thread> threads = new ArrayList<>();
    CountDownLatch running = new CountDownLatch(work.size());
    for (Step step : work) {
      Thread thread = new Thread(() -> untilRefused(step, running, wrong, steps));
      threads.add(thread);
      thread.start();
    }
    running.await();
    Thread.sleep(round % 4);
    launching.lock();
    try {
      context.close();
    } finally {
      launching.unlock();
    }
    for (Thread thread : threads) {
      thread.join();
    }
  }

  private Step launcher() {
    ThreadLocal<PreparedLaunch> prepared =
        ThreadLocal.withInitial(
            () -> {
              PreparedLaunch launch = fill.prepare(LaunchConfig.of(1, 32));
              launch.set("out", context.allocate(F32, 32, stream));
              launch.set("value", 1f);
              launch.set("count", 32L);
              return launch;
            });
    return () -> {
      launching.lock();
      try {
        prepared.get().launch(stream);
      } finally {
        launching.unlock();
      }
    };
  }

  private static void untilRefused(
      Step step, CountDownLatch running, AtomicReference<String> wrong, AtomicLong steps) {
    try {
      step.run();
      running.countDown();
      while (true) {
        step.run();
        steps.incrementAndGet();
      }
    } catch (IllegalStateException e) {
      if (e.getSuppressed().length > 0) {
        wrong.set(e + " with " + e.getSuppressed()[0]);
      }
    } catch (Throwable t) {
      t.printStackTrace();
      wrong.set(t.toString());
    } finally {
      running.countDown();
    }
  }
}

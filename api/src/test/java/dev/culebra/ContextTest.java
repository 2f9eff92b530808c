package dev.culebra;

import static dev.culebra.ElementType.F32;
import static dev.culebra.Messages.assertTells;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.culebra.bindings.Driver;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

class ContextTest extends DeviceTier {

  @Test
  void devicesAreListedAndFoundByOrdinalAndUuid() {
    List<Device> all = Device.all();
    assertFalse(all.isEmpty());
    for (Device device : all) {
      assertEquals(device, Device.of(device.ordinal()));
      assertEquals(device, Device.parse(String.valueOf(device.ordinal())));
      assertEquals(device, Device.parse(device.uuidText()));
      assertEquals(device, Device.parse(device.uuidText().substring(0, 30)));
      assertFalse(device.name().isEmpty());
      assertTrue(device.totalMemoryBytes() > 0);
      assertEquals(32, device.attribute(DeviceAttribute.WARP_SIZE));
      assertTrue(device.supports(DeviceAttribute.UNIFIED_ADDRESSING));
      assertEquals(
          device.computeCapability().major(),
          device.attribute(DeviceAttribute.COMPUTE_CAPABILITY_MAJOR));
      assertThrows(
          IllegalArgumentException.class, () -> device.supports(DeviceAttribute.WARP_SIZE));
    }
  }

  @Test
  void devicesThatAreNotThereAreToldWithThoseThatAre() {
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> Device.of(99)), "no device 99", "0 to");
    assertTells(
        assertThrows(IllegalArgumentException.class, () -> Device.parse("99")), "no device 99");
    for (String text : List.of("", "-1", "GPU-", "GPU-00", "H200", "0x0")) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> Device.parse(text)),
          "'" + text + "' names 0 devices",
          context.device().uuidText());
    }
  }

  @Test
  @DisplayName("6: two contexts of one device live and die apart")
  void twoContextsOfOneDevice() {
    Context other = Context.primary(context.device());
    other.close();
    try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 3, stream)) {
      buffer.copyFrom(new float[] {1, 2, 3});
      float[] back = new float[3];
      buffer.copyTo(back);
      assertArrayEquals(new float[] {1, 2, 3}, back);
    }
  }

  @Test
  @DisplayName("6: the last close releases the primary context")
  void theLastCloseReleases() {
    stream.close();
    context.close();
    assertFalse(Driver.devicePrimaryCtxGetState(context.device().handle()).active());
  }

  @Test
  void theLastCloseRestoresThePool() {
    int threshold = 4; // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    long pool = Driver.deviceGetDefaultMemPool(context.device().handle());
    stream.close();
    context.close();
    long before = Driver.memPoolGetAttribute(pool, threshold);
    Driver.memPoolSetAttribute(pool, threshold, 12345);
    Context first = Context.primary(context.device());
    Context second = Context.primary(context.device());
    first.close();
    assertEquals(-1, Driver.memPoolGetAttribute(pool, threshold), "the second context goes on");
    second.close();
    assertEquals(12345, Driver.memPoolGetAttribute(pool, threshold));
    Driver.memPoolSetAttribute(pool, threshold, before);
  }

  @Test
  @DisplayName(
      "7: a context that the caller had current is current again, after success and failure")
  void theCallersContextIsRestored() {
    // With one device the caller's context is the same one, bound by hand; IsolatedTest has two.
    long handle = context.handle();
    Driver.ctxSetCurrent(handle);
    try {
      context.allocate(F32, 10, stream).close();
      assertThrows(IllegalArgumentException.class, () -> context.newStream(1 << 20));
      assertEquals(handle, Driver.ctxGetCurrent());
    } finally {
      Driver.ctxSetCurrent(0);
    }
    assertThrows(
        dev.culebra.bindings.OutOfDeviceMemoryException.class,
        () -> context.allocate(F32, 1L << 58, stream));
    assertEquals(0, Driver.ctxGetCurrent());
  }

  @Test
  @DisplayName("8: a thread that never bound a context can do everything")
  void aFreshThreadCanDoEverything() throws Exception {
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    Thread thread =
        new Thread(
            () -> {
              try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 4, stream)) {
                buffer.fill(2.5, stream);
                float[] back = new float[4];
                buffer.copyTo(back);
                assertArrayEquals(new float[] {2.5f, 2.5f, 2.5f, 2.5f}, back);
                assertEquals(0, Driver.ctxGetCurrent());
              } catch (Throwable t) {
                failure.set(t);
              }
            });
    thread.start();
    thread.join();
    assertNull(failure.get(), () -> String.valueOf(failure.get()));
  }

  @Test
  @DisplayName(
      "11, 15: many virtual threads, each with its own stream and buffers, get their own results")
  void manyVirtualThreads() throws Exception {
    List<Future<?>> all = new ArrayList<>();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      for (int t = 0; t < 64; t++) {
        int seed = t;
        all.add(
            threads.submit(
                () -> {
                  SplittableRandom random = new SplittableRandom(seed);
                  for (int round = 0; round < 10; round++) {
                    int length = random.nextInt(1, 2000);
                    try (Stream own = context.newStream();
                        DeviceBuffer<ElementType.F32> a = context.allocate(F32, length, own);
                        DeviceBuffer<ElementType.F32> b = context.allocate(F32, length, own)) {
                      a.fill(seed + round, own);
                      Thread.sleep(random.nextInt(3));
                      b.copyFromAsync(a, own);
                      float[] back = new float[length];
                      b.copyTo(back);
                      for (float value : back) {
                        assertEquals(seed + round, value);
                      }
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
    }
  }

  @Test
  @DisplayName("18, 19: a closed context refuses everything, and closing again does nothing")
  void aClosedContextRefuses() {
    Context closed = Context.primary(context.device());
    Stream itsStream = closed.newStream();
    DeviceBuffer<ElementType.F32> itsBuffer = closed.allocate(F32, 5, itsStream);
    closed.close();
    closed.close();
    assertTrue(closed.isClosed());
    assertTrue(itsStream.isClosed(), "what it made is closed with it");
    assertTrue(itsBuffer.isClosed());
    itsBuffer.close();
    itsStream.close();
    assertTells(assertThrows(IllegalStateException.class, closed::newStream), "has been closed");
    assertThrows(IllegalStateException.class, closed::newEvent);
    assertThrows(IllegalStateException.class, closed::newTimedEvent);
    assertThrows(IllegalStateException.class, closed::synchronize);
    assertThrows(IllegalStateException.class, closed::memoryInfo);
    assertThrows(IllegalStateException.class, closed::trimMemory);
    assertThrows(IllegalStateException.class, () -> closed.allocateHost(1));
    assertThrows(IllegalStateException.class, () -> closed.allocate(F32, 1, itsStream));
    assertThrows(IllegalStateException.class, () -> itsBuffer.copyTo(new float[5]));
  }

  @Test
  @DisplayName("96: priorities are those of the device, others are refused")
  void priorities() {
    Context.StreamPriorities range = context.streamPriorities();
    assertTrue(range.greatest() <= range.least());
    try (Stream urgent = context.newStream(range.greatest())) {
      assertEquals(range.greatest(), urgent.priority());
    }
    for (int beyond : new int[] {range.greatest() - 1, range.least() + 1}) {
      assertTells(
          assertThrows(IllegalArgumentException.class, () -> context.newStream(beyond)),
          "priority " + beyond,
          String.valueOf(range.greatest()));
    }
  }

  @Test
  @DisplayName("15: threads that share a context, each with its own seed, end with correct results")
  void mixedWorkOfManyThreads() throws Exception {
    int threadCount = 8;
    List<Thread> threads = new ArrayList<>();
    AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    for (int t = 0; t < threadCount; t++) {
      int seed = t;
      threads.add(
          new Thread(
              () -> {
                try (Stream own = context.newStream()) {
                  SplittableRandom random = new SplittableRandom(seed);
                  Kernel axpy = selftest("axpy_f32");
                  PreparedLaunch launch = axpy.prepare(LaunchConfig.of(2, 64));
                  for (int round = 0; round < 50; round++) {
                    int n = random.nextInt(1, 500);
                    float a = random.nextInt(10);
                    try (DeviceBuffer<ElementType.F32> x = context.allocate(F32, n, own);
                        DeviceBuffer<ElementType.F32> y = context.allocate(F32, n, own)) {
                      x.fill(seed, own);
                      y.fill(1, own);
                      launch.set("y", y);
                      launch.set("x", x);
                      launch.set("a", a);
                      launch.set("count", (long) n);
                      launch.launch(own);
                      float[] back = new float[n];
                      y.copyTo(back);
                      for (float value : back) {
                        assertEquals(1 + a * seed, value);
                      }
                    }
                  }
                } catch (Throwable e) {
                  failure.compareAndSet(null, e);
                }
              }));
    }
    threads.forEach(Thread::start);
    for (Thread thread : threads) {
      thread.join();
    }
    if (failure.get() != null) {
      throw new AssertionError(Objects.requireNonNull(failure.get()));
    }
  }
}

package dev.culebra.bindings;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The hot path allocates nothing once it is compiled. */
class AllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int CALLS = 20_000;
  private static final int ROUNDS = 100;

  @BeforeAll
  static void driver() {
    FakeDriver.install();
  }

  @Test
  void currentContext() {
    assertEquals(0, leastBytes(Driver::ctxGetCurrent));
  }

  @Test
  void launch() {
    assertEquals(
        0,
        leastBytes(
            () ->
                Driver.check(
                    "cuLaunchKernel", Driver.launchKernel(9, 1, 1, 1, 32, 1, 1, 0, 4, 1L << 40))));
  }

  @Test
  void clusterLaunch() {
    ClusterLaunch launch = new ClusterLaunch();
    assertEquals(
        0,
        leastBytes(
            () -> {
              launch.grid(8, 1, 1);
              launch.block(32, 1, 1);
              launch.cluster(2, 1, 1);
              launch.sharedBytes(1024);
              Driver.check("cuLaunchKernelEx", launch.launch(9, 4, 1L << 40));
            }));
  }

  @Test
  @DisplayName("out-parameters, events and asynchronous allocation neither")
  void others() {
    assertEquals(
        0,
        leastBytes(
            () -> {
              Driver.ctxSetCurrent(1);
              Driver.eventRecord(5, 4);
              Driver.memFreeAsync(Driver.memAllocAsync(64, 4), 4);
            }));
  }

  /**
   * Bytes that this thread allocates in a round of calls: the least of many, as compilers take
   * time.
   */
  private static long leastBytes(Runnable call) {
    long least = Long.MAX_VALUE;
    for (int round = 0; round < ROUNDS && least > 0; round++) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < CALLS; i++) call.run();
      least = Math.min(least, THREADS.getCurrentThreadAllocatedBytes() - before);
    }
    return least;
  }
}

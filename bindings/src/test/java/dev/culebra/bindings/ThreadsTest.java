package dev.culebra.bindings;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Results never land in another thread's memory. The fake keeps a current context per thread. */
class ThreadsTest {
  @BeforeAll
  static void driver() {
    FakeDriver.install();
  }

  @Test
  @DisplayName("64 platform threads at once each see their own context")
  void platformThreads() throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(64)) {
      check(threads, 64, 20_000);
    }
  }

  @Test
  @DisplayName("1000 short-lived threads, more than there are slabs to own")
  void manyThreads() throws Exception {
    try (ExecutorService threads = Executors.newThreadPerTaskExecutor(Thread::new)) {
      check(threads, 1000, 20);
    }
  }

  @Test
  void virtualThreads() throws Exception {
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      check(threads, 1000, 200);
    }
  }

  private static void check(ExecutorService threads, int tasks, int calls)
      throws InterruptedException, ExecutionException {
    List<Future<Integer>> wrong = new ArrayList<>();
    for (int task = 0; task < tasks; task++) {
      long context = 1000L + task;
      wrong.add(threads.submit(() -> wrongAnswers(context, calls)));
    }
    for (Future<Integer> count : wrong) assertEquals(0, count.get());
  }

  private static int wrongAnswers(long context, int calls) {
    int wrong = 0;
    for (int i = 0; i < calls; i++) {
      // Set each time: a virtual thread may have moved to another carrier in between.
      Driver.ctxSetCurrent(context);
      if (Driver.ctxGetCurrent() != context) wrong++;
      // 81 and 71 come back through the shared slabs.
      if (Driver.streamGetId(context) != 81 || Driver.deviceGetAttribute(16, 0) != 71) wrong++;
    }
    return wrong;
  }
}

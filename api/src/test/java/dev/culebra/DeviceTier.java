package dev.culebra;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.culebra.bindings.Driver;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;

/**
 * Tests that go through the driver: the emulator where there is no GPU. Around every test: nothing
 * is left open, and the thread has no context current that it did not have.
 */
public abstract class DeviceTier {

  protected Context context;
  protected Stream stream;

  @BeforeEach
  protected void open() {
    String driver = System.getenv("CULEBRA_DRIVER");
    Assumptions.assumeTrue(
        driver == null || driver.isEmpty() || Files.exists(Path.of(driver)),
        () -> driver + " is not there; build it with 'make -C emulator'");
    Driver.init();
    assertEquals(0, Driver.ctxGetCurrent(), "the thread begins without a context");
    context = Context.primary(Device.of(0));
    stream = context.newStream();
  }

  @AfterEach
  protected void close() {
    if (context == null) {
      return;
    }
    stream.close();
    int open = context.openCount();
    context.close();
    assertEquals(0, open, "a test closes what it opens");
    assertEquals(0, Driver.ctxGetCurrent(), "(7) the caller's context is restored, here: none");
  }

  /** Leaves out what the emulator would take too long for. */
  protected final void requireGpu() {
    Assumptions.assumeTrue(
        !context.device().name().contains("emulator"),
        "the emulator would take too long: for a GPU");
  }

  /** Holds a stream until it is opened: order is proven, not timed. */
  protected static final class Gate implements AutoCloseable {

    private final CountDownLatch latch = new CountDownLatch(1);

    public Gate(Stream stream) {
      Driver.launchHostFunc(
          stream.handle(),
          () -> {
            boolean interrupted = true;
            while (interrupted) {
              try {
                latch.await();
                interrupted = false;
              } catch (InterruptedException e) {
                // The driver's thread: nobody interrupts it for a reason.
              }
            }
          });
    }

    public void open() {
      latch.countDown();
    }

    @Override
    public void close() {
      open();
    }
  }

  /** A kernel of the family that exists for tests. */
  protected final Kernel selftest(String name) {
    return KernelCatalog.open().kernel(context, "culebra_selftest_" + name);
  }
}

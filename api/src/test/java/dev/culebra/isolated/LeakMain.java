package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.Stream;

/** Leaks a buffer, then waits until the collector has seen it. */
public final class LeakMain {

  private LeakMain() {}

  /** Reports go to standard error. */
  public static void main(String[] args) throws InterruptedException {
    try (Context context = Context.primary(Device.of(0));
        Stream stream = context.newStream()) {
      leakABuffer(context, stream);
      context.allocate(F32, 77, stream).close();
      long before = freeBytes(context);
      for (int i = 0; i < 20; i++) {
        System.gc();
        Thread.sleep(20);
      }
      System.out.println("freedByCollector=" + (freeBytes(context) - before));
      System.out.println("recorded=" + context.newEvent().isRecorded());
    }
    System.out.println("ends=now");
  }

  private static long freeBytes(Context context) {
    context.synchronize();
    context.trimMemory();
    return context.memoryInfo().freeBytes();
  }

  private static void leakABuffer(Context context, Stream stream) {
    context.allocate(F32, 1234, stream).zero(stream);
  }
}

package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.HostBuffer;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;
import dev.culebra.bindings.Driver;

/**
 * Works with device 0 while other code has the context of device 1 current, and mixes up what
 * belongs to either.
 */
public final class TwoDevicesMain {

  private static long foreign;

  private TwoDevicesMain() {}

  /** Prints after each step whether device 1 is still current, and what was said. */
  public static void main(String[] args) {
    Context zero = Context.primary(Device.of(0));
    Context one = Context.primary(Device.of(1));
    foreign = one.handle();
    Driver.ctxSetCurrent(foreign);
    Stream stream = zero.newStream();
    tell("stream", () -> {});
    tell("event", () -> zero.newEvent().close());
    tell("timedEvent", () -> zero.newTimedEvent().close());
    DeviceBuffer<ElementType.F32> buffer = zero.allocate(F32, 8, stream);
    tell("buffer", () -> buffer.copyFrom(new float[8]));
    tell("memory", () -> zero.allocate(F32, 1L << 58, stream));
    PreparedLaunch fill =
        KernelCatalog.open()
            .kernel(zero, "culebra_selftest_fill_f32")
            .prepare(LaunchConfig.of(1, 32));
    tell("kernel", () -> {});
    try (Stream others = one.newStream();
        HostBuffer pinned = one.allocateHost(32);
        DeviceBuffer<ElementType.F32> elsewhere = one.allocate(F32, 8, others)) {
      tell("argument", () -> fill.set("out", elsewhere));
      fill.set("out", buffer);
      fill.set("value", 1f);
      fill.set("count", 8L);
      tell("launchStream", () -> fill.launch(others));
      tell("fromPinned", () -> buffer.copyFromAsync(pinned, stream));
      tell("toPinned", () -> buffer.copyToAsync(pinned, stream));
      tell("copy", () -> buffer.copyFromAsync(elsewhere, stream));
    }
    tell("launch", () -> fill.launch(stream));
    tell("close", zero::close);
    Driver.ctxSetCurrent(0);
    one.close();
  }

  private static void tell(String name, Runnable step) {
    String said = "nothing";
    try {
      step.run();
    } catch (RuntimeException e) {
      said = e.getClass().getSimpleName() + ": " + e.getMessage();
    }
    boolean restored = Driver.ctxGetCurrent() == foreign;
    System.out.println(name + "=" + (restored ? "restored, " : "NOT RESTORED, ") + said);
  }
}

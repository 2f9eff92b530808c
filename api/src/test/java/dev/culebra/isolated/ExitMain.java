package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;

/** Ends with everything open and work in flight. */
public final class ExitMain {

  private ExitMain() {}

  /** Says when it is about to end. */
  public static void main(String[] args) {
    Context context = Context.primary(Device.of(0));
    Stream stream = context.newStream();
    stream.record(context.newTimedEvent());
    context.allocateHost(1 << 20).segment();
    DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 1_000_000, stream);
    PreparedLaunch fill =
        KernelCatalog.open()
            .kernel(context, "culebra_selftest_fill_f32")
            .prepare(LaunchConfig.of(64, 256));
    fill.set("out", buffer);
    fill.set("value", 1f);
    fill.set("count", buffer.length());
    for (int i = 0; i < 20; i++) {
      fill.launch(stream);
    }
    System.out.println("ends=now");
  }
}

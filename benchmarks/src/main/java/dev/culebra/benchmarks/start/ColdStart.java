package dev.culebra.benchmarks.start;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.ElementType;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.Stream;
import dev.culebra.bindings.Driver;

/**
 * What {@link StartSection} starts: {@code nothing}, {@code context} (the driver opened, a context
 * retained and released: what {@code cold_start.c} does) or {@code launch} (a first kernel, and its
 * result looked at).
 */
public final class ColdStart {
  private static final float VALUE = 2.5f;

  private ColdStart() {}

  /** Does it. */
  public static void main(String[] arguments) {
    switch (arguments[0]) {
      case "nothing" -> {}
      case "context" -> {
        Driver.devicePrimaryCtxRetain(Driver.deviceGet(0));
        Driver.devicePrimaryCtxRelease(Driver.deviceGet(0));
      }
      case "launch" -> launch();
      default -> throw new IllegalArgumentException("unknown start " + arguments[0]);
    }
  }

  private static void launch() {
    try (Context context = Context.primary(Device.of(0));
        Stream stream = context.newStream();
        var out = context.allocate(ElementType.F32, 32, stream)) {
      var launch =
          KernelCatalog.open()
              .kernel(context, "culebra_selftest_fill_f32")
              .prepare(LaunchConfig.of(1, 32));
      launch.set("out", out);
      launch.set("value", VALUE);
      launch.set("count", 32L);
      launch.launch(stream);
      float[] got = new float[32];
      out.copyTo(got);
      if (got[31] != VALUE) {
        throw new IllegalStateException("the first launch wrote " + got[31]);
      }
    }
  }
}

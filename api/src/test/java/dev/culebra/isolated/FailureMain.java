package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.KernelCatalog;
import dev.culebra.Stream;
import dev.culebra.bindings.CudaException;
import dev.culebra.bindings.Driver;

/** Does everything twice; the driver is told to refuse the first time. */
public final class FailureMain {

  private FailureMain() {}

  /** Prints what each attempt said. */
  public static void main(String[] args) {
    twice("context", () -> Context.primary(Device.of(0)).close());
    Context context = Context.primary(Device.of(0));
    twice("stream", () -> context.newStream().close());
    Stream stream = context.newStream();
    twice("event", () -> context.newEvent().close());
    twice("buffer", () -> context.allocate(F32, 8, stream).close());
    twice("pinned", () -> context.allocateHost(8).close());
    twice("kernel", () -> KernelCatalog.open().kernel(context, "culebra_selftest_fill_f32").name());
    try (DeviceBuffer<ElementType.F32> buffer = context.allocate(F32, 8, stream)) {
      twice("copy", () -> buffer.copyFrom(new float[8]));
    }
    context.close();
    System.out.println(
        "active="
            + Driver.devicePrimaryCtxGetState(Driver.deviceGet(context.device().ordinal()))
                .active());
  }

  private static void twice(String name, Runnable step) {
    System.out.println(name + "1=" + said(step));
    System.out.println(name + "2=" + said(step));
  }

  private static String said(Runnable step) {
    try {
      step.run();
      return "nothing";
    } catch (CudaException e) {
      return e.function() + " " + e.result().code();
    }
  }
}

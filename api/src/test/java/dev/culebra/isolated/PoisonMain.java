package dev.culebra.isolated;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Event;
import dev.culebra.HostBuffer;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;

/**
 * Lets a kernel write where nothing is, and prints what every public path says then and afterwards.
 */
public final class PoisonMain {

  private PoisonMain() {}

  /** Prints {@code name=class: message} lines. */
  public static void main(String[] args) {
    Context context = Context.primary(Device.of(0));
    Stream stream = context.newStream();
    Event event = context.newEvent();
    stream.record(event);
    DeviceBuffer<ElementType.I32> buffer = context.allocate(I32, 4, stream);
    HostBuffer pinned = context.allocateHost(16);
    PreparedLaunch fill = launch(context, "fill_f32");
    PreparedLaunch write = launch(context, "write_at_u32");
    write.set("out", buffer);
    write.set("index", 1L << 40);
    write.set("value", 1);
    write.launch(stream);
    tell("sync", stream::synchronize);
    tell("again", stream::synchronize);
    tell("isDone", stream::isDone);
    tell("eventIsDone", event::isDone);
    tell("allocate", () -> context.allocate(F32, 10, stream).close());
    tell("allocateEmpty", () -> context.allocate(F32, 0, stream).close());
    tell("newStream", () -> context.newStream().close());
    tell("newEvent", () -> context.newEvent().close());
    tell("copyTo", () -> buffer.copyTo(new int[4]));
    tell("copyFrom", () -> buffer.copyFrom(new int[4]));
    tell("zero", () -> buffer.zero(stream));
    tell("async", () -> buffer.copyFromAsync(pinned, stream));
    tell("segment", pinned::segment);
    tell("launch", () -> write.launch(stream));
    tell("unset", () -> fill.launch(stream));
    tell("other", () -> Context.primary(Device.of(0)).close());
    System.out.println("poisoned=" + context.isPoisoned());
    tell("closeBuffer", buffer::close);
    tell("closePinned", pinned::close);
    tell("closeEvent", event::close);
    tell("closeStream", stream::close);
    tell("closeContext", context::close);
  }

  private static PreparedLaunch launch(Context context, String name) {
    return KernelCatalog.open()
        .kernel(context, "culebra_selftest_" + name)
        .prepare(LaunchConfig.of(1, 32));
  }

  private static void tell(String name, Runnable action) {
    try {
      action.run();
      System.out.println(name + "=nothing");
    } catch (RuntimeException e) {
      System.out.println(name + "=" + e.getClass().getSimpleName() + ": " + e.getMessage());
    }
  }
}

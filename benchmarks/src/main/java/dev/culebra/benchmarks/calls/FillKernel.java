package dev.culebra.benchmarks.calls;

import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.Kernel;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;
import dev.culebra.bindings.Driver;

/**
 * The 3-argument kernel, ready to be launched through the typed API, with the device's context
 * current on the thread that made it. It belongs to the selftest family, so the kernel root in use
 * has to be a test root.
 */
final class FillKernel implements AutoCloseable {
  private static final String SYMBOL = "culebra_selftest_fill_f32";
  private static final int COUNT = LaunchTarget.BLOCK_THREADS;
  private static final float VALUE = 1.5f;

  private final Context context;
  private final boolean ownsContext;
  private final Stream stream;
  private final DeviceBuffer<ElementType.F32> out;
  private final Kernel kernel;
  private final PreparedLaunch launch;

  FillKernel(Device device) {
    this(Context.primary(device), true);
  }

  private FillKernel(Context context, boolean ownsContext) {
    this(context, load(context), ownsContext);
  }

  /** The same of a context and a kernel that others share, and that stay open. */
  FillKernel(Context context, Kernel kernel) {
    this(context, kernel, false);
  }

  private FillKernel(Context context, Kernel kernel, boolean ownsContext) {
    this.context = context;
    this.kernel = kernel;
    this.ownsContext = ownsContext;
    Driver.ctxSetCurrent(context.handle());
    stream = context.newStream();
    out = context.allocate(F32, COUNT, stream);
    launch = kernel.prepare(LaunchConfig.of(1, LaunchTarget.BLOCK_THREADS));
    launch.set("out", out);
    launch.set("value", VALUE);
    launch.set("count", (long) COUNT);
    stream.synchronize();
  }

  /** Loads the kernel into a context. */
  static Kernel load(Context context) {
    return KernelCatalog.open().kernel(context, SYMBOL);
  }

  /** The same for others: they launch it their own way into the same memory. */
  LaunchTarget target() {
    return new LaunchTarget(kernel.library().image(), SYMBOL, out.address(), VALUE, COUNT);
  }

  void launch() {
    launch.launch(stream);
  }

  /** What a caller pays who prepares for each launch. */
  void launchAdHoc() {
    PreparedLaunch once = kernel.prepare(LaunchConfig.of(1, LaunchTarget.BLOCK_THREADS));
    once.set("out", out);
    once.set("value", VALUE);
    once.set("count", (long) COUNT);
    once.launch(stream);
  }

  Context context() {
    return context;
  }

  Stream stream() {
    return stream;
  }

  void synchronize() {
    stream.synchronize();
  }

  /** Puts something else where the kernel writes. */
  void poison() {
    out.fill(Double.NaN, stream);
    stream.synchronize();
  }

  /**
   * That what was launched since {@link #poison} did write: a loop that launches nothing is fast.
   *
   * @throws IllegalStateException naming who did not
   */
  void requireFilled(String who) {
    float[] values = new float[COUNT];
    out.copyTo(values);
    for (float value : values) {
      if (value != VALUE) {
        throw new IllegalStateException(
            who + " left " + value + " where its launches write " + VALUE);
      }
    }
  }

  @Override
  public void close() {
    out.close();
    stream.close();
    Driver.ctxSetCurrent(0);
    if (ownsContext) {
      context.close();
    }
  }
}

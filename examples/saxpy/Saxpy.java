import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.Device;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import java.nio.file.Path;

/** Runs the kernels of saxpy.cu from the kernel root that the first argument names. */
public class Saxpy {
  private static final int COUNT = 1_000_000;
  private static final int THREADS = 256;

  public static void main(String[] args) {
    KernelCatalog kernels = KernelCatalog.open(Path.of(args[0]));
    float[] x = new float[COUNT];
    float[] y = new float[COUNT];
    for (int i = 0; i < COUNT; i++) {
      x[i] = i % 8;
      y[i] = 1;
    }
    float[] sum = new float[1];
    try (var context = Context.primary(Device.of(0));
        var stream = context.newStream();
        var deviceX = context.allocate(F32, COUNT, stream);
        var deviceY = context.allocate(F32, COUNT, stream);
        var deviceSum = context.allocate(F32, 1, stream)) {
      deviceX.copyFrom(x);
      deviceY.copyFrom(y);

      var saxpy = kernels.kernel(context, "saxpy").prepare(LaunchConfig.forElements(COUNT, THREADS));
      saxpy.set("y", deviceY);
      saxpy.set("x", deviceX);
      saxpy.set("a", 2f);
      saxpy.set("count", (long) COUNT);
      saxpy.launch(stream);

      var blockSum = kernels.kernel(context, "block_sum").prepare(LaunchConfig.of(1, THREADS));
      blockSum.set("out", deviceSum);
      blockSum.set("x", deviceY);
      blockSum.set("count", (long) COUNT);
      blockSum.launch(stream);

      deviceY.copyTo(y); // waits for the stream
      deviceSum.copyTo(sum);
      System.out.printf("%s: y[7] = %.0f, sum = %.0f%n", context.device().name(), y[7], sum[0]);
    }
  }
}

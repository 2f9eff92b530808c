package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.F64;
import static dev.culebra.ElementType.I32;
import static dev.culebra.ElementType.I64;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.In;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;

/** Fills memory and looks at it where it is: gigabytes need not pass through the host. */
final class DeviceData {
  private static final int THREADS = 256;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

  private final Context context;
  private final Stream stream;
  private final KernelCatalog catalog = KernelCatalog.open();

  DeviceData(Context context, Stream stream) {
    this.context = context;
    this.stream = stream;
  }

  /** A grid that fills a device, for kernels that walk over any number of elements. */
  static LaunchConfig grid(Context context) {
    return LaunchConfig.of(
        BLOCKS_PER_MULTIPROCESSOR
            * context.device().attribute(DeviceAttribute.MULTIPROCESSOR_COUNT),
        THREADS);
  }

  /** Fills memory with random values. */
  void fill(DeviceRange<?> range, RandomValues values) {
    PreparedLaunch launch = prepare("culebra_ceilings_random_" + range.type().symbol());
    launch.set("out", range);
    launch.set("count", range.length());
    launch.set("seed", values.seed());
    launch.launch(stream);
  }

  /** Fills memory with what no result is: NaN, or -1 where results are places. */
  static void poison(DeviceRange<?> range, Stream stream) {
    if (range.type() == I32 || range.type() == I64) {
      range.fill(-1, stream);
    } else {
      range.fill(Double.NaN, stream);
    }
  }

  /** How many elements are poison. Waits for the stream. */
  long countPoison(DeviceRange<?> range) {
    // As a float, -1 is NaN, and no place below 2^31 - 2^23 is; nor is one as a double.
    return range.type() == I32
        ? countNan(range.as(F32))
        : countNan(range.type() == I64 ? range.as(F64) : range);
  }

  private long countNan(DeviceRange<?> range) {
    try (DeviceBuffer<?> count = context.allocate(I32, 1, stream)) {
      count.zero(stream);
      PreparedLaunch launch = prepare("culebra_ceilings_count_nan_" + range.type().symbol());
      launch.set("count", count);
      launch.set("in", In.of(range));
      launch.set("length", range.length());
      launch.launch(stream);
      int[] found = new int[1];
      count.copyTo(found);
      return Integer.toUnsignedLong(found[0]);
    }
  }

  private PreparedLaunch prepare(String symbol) {
    return catalog.kernel(context, symbol).prepare(grid(context));
  }
}

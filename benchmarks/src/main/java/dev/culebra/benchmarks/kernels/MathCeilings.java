package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.BF16;
import static dev.culebra.ElementType.F32;

import dev.culebra.Context;
import dev.culebra.DeviceAttribute;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.In;
import dev.culebra.Kernel;
import dev.culebra.KernelCatalog;
import dev.culebra.KernelParameter;
import dev.culebra.KernelSignature;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;
import dev.culebra.testkit.StorageType;
import java.util.SplittableRandom;

/** Loops of one instruction, on random numbers: on zeros a chip draws less and runs faster. */
final class MathCeilings {
  /** About a millisecond on an H200. */
  private static final long ITERATIONS = 2048;

  private static final int THREADS = 256;

  /**
   * What is added up in single precision, thousands of times, without a compensation: the error
   * grows with each step, by up to 2^-23 of the sum. A part of the sum of magnitudes.
   */
  private static final double ALLOWED = 0x1p-9;

  private MathCeilings() {}

  /** A grid, and how often its loop turns. */
  private record Size(int blocks, long iterations) {}

  private static Size size(Context context, Extent extent, int blocksPerMultiprocessor) {
    int multiprocessors = context.device().attribute(DeviceAttribute.MULTIPROCESSOR_COUNT);
    return extent == Extent.TINY
        ? new Size(2, 3)
        : new Size(blocksPerMultiprocessor * multiprocessors, ITERATIONS);
  }

  /** What all have: random inputs, a launch, and floats that come out. */
  private abstract static class OfLoop<E extends ElementType<E>> implements Ceiling {
    final Stream stream;
    final Size size;
    final RandomValues values = new RandomValues(new SplittableRandom().nextLong());
    final DeviceBuffer<E> in;
    final DeviceBuffer<ElementType.F32> out;
    private final Kernel kernel;
    private final PreparedLaunch launch;

    OfLoop(
        Context context,
        Stream stream,
        Size size,
        Kernel kernel,
        int sharedBytes,
        ElementType<E> type,
        long inElements,
        long outElements) {
      this.stream = stream;
      this.size = size;
      this.kernel = kernel;
      in = context.allocate(type, inElements, stream);
      out = context.allocate(F32, outElements, stream);
      new DeviceData(context, stream).fill(in, values);
      launch =
          kernel.prepare(LaunchConfig.of(size.blocks, THREADS).withDynamicSharedBytes(sharedBytes));
      launch.set("out", out);
      launch.set("in", In.of(in));
      launch.set("iterations", size.iterations);
    }

    @Override
    public String kernel() {
      return kernel.name();
    }

    @Override
    public long bytes() {
      return 0;
    }

    @Override
    public void poison() {
      out.fill(Double.NaN, stream);
    }

    @Override
    public void launch() {
      launch.launch(stream);
    }

    double input(long i) {
      return values.at(i, StorageType.BF16);
    }

    /** Results of one warp or block. */
    float[] results(long from, int count) {
      float[] results = new float[count];
      out.view(from, from + count).copyTo(results);
      return results;
    }

    /**
     * A result that is so many times a dot product of two stretches of the input.
     *
     * @throws IllegalStateException if it is not
     */
    void requireProduct(float actual, long a, long b, int length) {
      double sum = 0;
      double magnitudes = 0;
      for (int k = 0; k < length; k++) {
        double product = input(a + k) * input(b + k);
        sum += product;
        magnitudes += Math.abs(product);
      }
      double error = Math.abs(actual - size.iterations * sum) / (size.iterations * magnitudes);
      if (!(error <= ALLOWED)) {
        throw new IllegalStateException(
            "%s left %s where %d times %s was to come"
                .formatted(kernel.name(), actual, size.iterations, sum));
      }
    }

    @Override
    public void close() {
      in.close();
      out.close();
    }
  }

  /** {@code ex2.approx}: exponentials a second. */
  static Ceiling ex2(Context context, Stream stream, Extent extent) {
    int chains = 8;
    Size size = size(context, extent, 8);
    long elements = (long) size.blocks * THREADS * chains;
    Kernel kernel = KernelCatalog.open().kernel(context, "culebra_ceilings_ex2");
    return new OfLoop<>(context, stream, size, kernel, 0, F32, elements, elements) {
      @Override
      public String name() {
        return Ceilings.EX2;
      }

      @Override
      public double flops() {
        return (double) elements * size.iterations;
      }

      @Override
      public long check() {
        double place = 0.6411857445; // where x = 2^-x
        float[] results = results(0, Math.toIntExact(Math.min(elements, 1 << 20)));
        for (int i = 0; i < results.length; i++) {
          double meant = place;
          if (size.iterations < 64) {
            // Not there yet: make the same steps.
            meant = values.at(i, StorageType.F32);
            for (long step = 0; step < size.iterations; step++) {
              meant = Math.pow(2, -meant);
            }
          }
          if (!(Math.abs(results[i] - meant) <= 1e-4 * Math.abs(meant))) {
            throw new IllegalStateException(
                "a chain of exponentials ended at " + results[i] + ", not at " + meant);
          }
        }
        return results.length;
      }
    };
  }

  /** {@code mma.sync} m16n8k16 on bf16. */
  static Ceiling mma(Context context, Stream stream, Extent extent) {
    int tilesM = 2;
    int tilesN = 4;
    int matrixA = 16 * 16;
    int matrixB = 16 * 8;
    int inputs = tilesM * matrixA + tilesN * matrixB;
    int outputs = tilesM * tilesN * 16 * 8;
    Size size = size(context, extent, 2);
    int warps = size.blocks * THREADS / 32;
    Kernel kernel = KernelCatalog.open().kernel(context, "culebra_ceilings_mma_bf16");
    return new OfLoop<>(
        context, stream, size, kernel, 0, BF16, (long) warps * inputs, (long) warps * outputs) {
      @Override
      public String name() {
        return Ceilings.MMA;
      }

      @Override
      public double flops() {
        return 2.0 * outputs * 16 * warps * size.iterations;
      }

      @Override
      public long check() {
        for (int warp : new int[] {0, warps / 2, warps - 1}) {
          float[] results = results((long) warp * outputs, outputs);
          long first = (long) warp * inputs;
          for (int i = 0; i < outputs; i++) {
            int r = i % 4;
            int lane = i / 4 % 32;
            long n = i / 128 % tilesN;
            long m = i / 128 / tilesN;
            int row = lane / 4 + 8 * (r / 2);
            int column = 2 * (lane % 4) + r % 2;
            long a = first + m * matrixA + (long) row * 16;
            long b = first + (long) tilesM * matrixA + n * matrixB + (long) column * 16;
            requireProduct(results[i], a, b, 16);
          }
        }
        return 3L * outputs;
      }
    };
  }

  /**
   * {@code wgmma} m64n256k16 on bf16, of shared memory. The kernel is in the image for sm_90a only
   * and not in the index: what it takes is said here, and confirmed by the driver.
   */
  static Ceiling wgmma(Context context, Stream stream, Extent extent) {
    int rowsA = 64;
    int rowsB = 256;
    int length = 64;
    int warpgroups = 2;
    int inputs = (warpgroups * rowsA + rowsB) * length;
    int outputs = warpgroups * rowsA * rowsB;
    Size size = size(context, extent, 1);
    Kernel kernel =
        KernelCatalog.open()
            .kernel(context, "culebra_ceilings_mma_bf16")
            .library()
            .kernel(
                "culebra_ceilings_wgmma_bf16",
                KernelSignature.of(
                    KernelParameter.out("out", F32),
                    KernelParameter.in("in", BF16),
                    KernelParameter.i64("iterations")));
    return new OfLoop<>(
        context,
        stream,
        size,
        kernel,
        inputs * BF16.byteSize(),
        BF16,
        (long) size.blocks * inputs,
        (long) size.blocks * outputs) {
      @Override
      public String name() {
        return Ceilings.WGMMA;
      }

      @Override
      public double flops() {
        return 2.0 * outputs * length * size.blocks * size.iterations;
      }

      @Override
      public long check() {
        for (int block : new int[] {0, size.blocks - 1}) {
          float[] results = results((long) block * outputs, outputs);
          long first = (long) block * inputs;
          for (int i = 0; i < outputs; i++) {
            int register = i % 128;
            int thread = i / 128 % 128;
            int warpgroup = i / 128 / 128;
            int lane = thread % 32;
            int r = register % 4;
            int row = 16 * (thread / 32) + lane / 4 + 8 * (r / 2);
            int column = 8 * (register / 4) + 2 * (lane % 4) + r % 2;
            long a = first + (long) (warpgroup * rowsA + row) * length;
            long b = first + (long) (warpgroups * rowsA + column) * length;
            requireProduct(results[i], a, b, length);
          }
        }
        return 2L * outputs;
      }
    };
  }
}

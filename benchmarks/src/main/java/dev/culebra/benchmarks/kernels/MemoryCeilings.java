package dev.culebra.benchmarks.kernels;

import static dev.culebra.ElementType.F32;
import static dev.culebra.ElementType.I32;

import dev.culebra.Context;
import dev.culebra.DeviceBuffer;
import dev.culebra.ElementType;
import dev.culebra.In;
import dev.culebra.KernelCatalog;
import dev.culebra.LaunchConfig;
import dev.culebra.PreparedLaunch;
import dev.culebra.Stream;
import dev.culebra.testkit.StorageType;
import java.util.SplittableRandom;
import java.util.stream.LongStream;

/** Copying and reading, of an array far larger than the L2 cache. */
final class MemoryCeilings {
  private static final int PACK_BYTES = 16;

  private MemoryCeilings() {}

  /** What all of them have: random floats on the device. */
  private abstract static class OfArray implements Ceiling {
    final Stream stream;
    final RandomValues values = new RandomValues(new SplittableRandom().nextLong());
    final DeviceBuffer<ElementType.F32> in;
    final DeviceBuffer<ElementType.I32> words;

    OfArray(Context context, Stream stream, long elements, long outWords) {
      this.stream = stream;
      in = context.allocate(F32, elements, stream);
      words = context.allocate(I32, outWords, stream);
      new DeviceData(context, stream).fill(in, values);
    }

    static int bits(RandomValues values, long i) {
      return Float.floatToRawIntBits((float) values.at(i, StorageType.F32));
    }

    @Override
    public double flops() {
      return 0;
    }

    @Override
    public void poison() {
      words.fill(0x7fc0dead, stream);
    }

    /** Compares stretches at the start, the end and between with what was copied. */
    long checkCopied() {
      int count = (int) Math.min(1 << 16, words.length());
      for (long from : new long[] {0, (words.length() - count) / 2, words.length() - count}) {
        int[] got = new int[count];
        words.view(from, from + count).copyTo(got);
        for (int i = 0; i < count; i++) {
          if (got[i] != bits(values, from + i)) {
            throw new IllegalStateException("word " + (from + i) + " was not copied");
          }
        }
      }
      return 3L * count;
    }

    @Override
    public void close() {
      in.close();
      words.close();
    }
  }

  /** The driver's own copy. */
  static Ceiling driverCopy(Context context, Stream stream, long elements) {
    return new OfArray(context, stream, elements, elements) {
      @Override
      public String name() {
        return Ceilings.COPY;
      }

      @Override
      public String kernel() {
        return "cuMemcpyDtoDAsync";
      }

      @Override
      public long bytes() {
        return 2 * in.byteSize();
      }

      @Override
      public void launch() {
        words.copyFromAsync(in.as(I32), stream);
      }

      @Override
      public long check() {
        return checkCopied();
      }
    };
  }

  /** A plain kernel with 16-byte accesses. */
  static Ceiling kernelCopy(Context context, Stream stream, long elements) {
    String symbol = "culebra_ceilings_copy";
    PreparedLaunch launch =
        KernelCatalog.open().kernel(context, symbol).prepare(DeviceData.grid(context));
    OfArray ceiling =
        new OfArray(context, stream, elements, elements) {
          @Override
          public String name() {
            return Ceilings.COPY_KERNEL;
          }

          @Override
          public String kernel() {
            return symbol;
          }

          @Override
          public long bytes() {
            return 2 * in.byteSize();
          }

          @Override
          public void launch() {
            launch.launch(stream);
          }

          @Override
          public long check() {
            return checkCopied();
          }
        };
    launch.set("out", ceiling.words);
    launch.set("in", In.of(ceiling.in.as(I32)));
    launch.set("packs", ceiling.in.byteSize() / PACK_BYTES);
    return ceiling;
  }

  /** Reading alone; the exclusive or of all words is the proof. */
  static Ceiling read(Context context, Stream stream, long elements) {
    String symbol = "culebra_ceilings_read";
    LaunchConfig grid = DeviceData.grid(context);
    PreparedLaunch launch = KernelCatalog.open().kernel(context, symbol).prepare(grid);
    long threads = grid.gridBlocks().count() * grid.blockThreads().count();
    OfArray ceiling =
        new OfArray(context, stream, elements, threads) {
          @Override
          public String name() {
            return Ceilings.READ;
          }

          @Override
          public String kernel() {
            return symbol;
          }

          @Override
          public long bytes() {
            return in.byteSize();
          }

          @Override
          public void launch() {
            launch.launch(stream);
          }

          @Override
          public long check() {
            int[] sums = new int[Math.toIntExact(words.length())];
            words.copyTo(sums);
            int got = 0;
            for (int sum : sums) {
              got ^= sum;
            }
            int meant =
                LongStream.range(0, in.length())
                    .parallel()
                    .mapToInt(i -> bits(values, i))
                    .reduce(0, (a, b) -> a ^ b);
            if (got != meant) {
              throw new IllegalStateException("the checksum of what was read is wrong");
            }
            return in.length();
          }
        };
    launch.set("sums", ceiling.words);
    launch.set("in", In.of(ceiling.in.as(I32)));
    launch.set("packs", ceiling.in.byteSize() / PACK_BYTES);
    return ceiling;
  }
}

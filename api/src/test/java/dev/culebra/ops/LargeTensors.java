package dev.culebra.ops;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.culebra.DeviceBuffer;
import dev.culebra.DeviceRange;
import dev.culebra.DeviceTier;
import dev.culebra.ElementType;
import dev.culebra.Stream;
import dev.culebra.TensorView;
import dev.culebra.testkit.HardInput;
import dev.culebra.testkit.StorageType;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * Tensors of more elements than 31 and 32 bits count, where offsets overflow: what broke others
 * (kernels.md 4.1) at their sizes. Tensors repeat a block of known elements, so that the float64
 * truth of any element is known without a copy of the tensor; results are compared at both ends, on
 * both sides of 2^31 and 2^32, and at random.
 *
 * <p>Each check runs with small sizes everywhere, and with the large ones on a GPU that has the
 * memory.
 */
abstract class LargeTensors extends DeviceTier {

  static final int SMALL_BLOCK = 1009;
  static final int LARGE_BLOCK = 1_000_003;
  private static final long GIB = 1L << 30;
  private static final int SAMPLE = 64;

  /** Sums of numbers that repeat a block. */
  static final class Sums {
    private final double[] block;
    private final double[] before;

    Sums(double[] block) {
      this.block = block;
      before = new double[block.length + 1];
      for (int i = 0; i < block.length; i++) {
        before[i + 1] = before[i] + block[i];
      }
    }

    /** Of the numbers from one up to, not including, another. */
    double between(long from, long to) {
      if (to - from <= block.length) { // without the rounding of what is before
        return LongStream.range(from, to).mapToDouble(i -> block[(int) (i % block.length)]).sum();
      }
      return first(to) - first(from);
    }

    private double first(long count) {
      long times = count / block.length;
      return times * before[block.length] + before[(int) (count % block.length)];
    }
  }

  /** A block of elements that a tensor repeats; element i is that of i modulo its length. */
  static final class Pattern {
    final StorageType storage;
    final double[] block;
    final double largest;
    final Sums sums;
    final Sums weights; // exp(x - largest)

    Pattern(ElementType<?> type, int length, long seed, boolean negative) {
      storage = Tensors.storage(type);
      block = HardInput.NORMAL.row(length, storage, seed);
      if (negative) {
        for (int i = 0; i < length; i++) {
          block[i] = -Math.abs(block[i]);
        }
      }
      double m = Double.NEGATIVE_INFINITY;
      for (double x : block) {
        m = Math.max(m, x);
      }
      largest = m;
      sums = new Sums(block);
      weights = new Sums(Arrays.stream(block).map(x -> Math.exp(x - largest)).toArray());
    }

    double at(long i) {
      return block[(int) (i % block.length)];
    }

    /** The place, from {@code from} on, of the first that is the largest up to {@code to}. */
    long placeOfLargest(long from, long to) {
      long place = from;
      for (long i = from; i < Math.min(to, from + block.length); i++) {
        place = at(i) > at(place) ? i : place;
      }
      return place - from;
    }

    <E extends ElementType<E>> void fill(DeviceRange<E> range, Stream stream) {
      long first = Math.min(block.length, range.length());
      Tensors.write(range.view(0, first), Arrays.copyOf(block, (int) first));
      repeat(range, first, stream);
    }
  }

  /**
   * Repeats the first elements to the end, by copies within the device, each twice as long as the
   * one before.
   */
  static <E extends ElementType<E>> void repeat(
      DeviceRange<E> range, long elements, Stream stream) {
    for (long done = elements, more; done < range.length(); done += more) {
      more = Math.min(done, range.length() - done);
      range.view(done, done + more).copyFromAsync(range.view(0, more), stream);
    }
  }

  final void requireGpuWith(long gib) {
    requireGpu();
    long free = context.memoryInfo().freeBytes();
    assumeTrue(free >= gib * GIB, () -> "needs " + gib + " GiB of memory, " + free + " are free");
  }

  /** Where results are looked at, of so many elements. */
  static long[] samples(long count) {
    Set<Long> starts = new LinkedHashSet<>(List.of(0L, Math.max(0, count - SAMPLE)));
    for (int bits = 28; bits <= 33; bits++) { // bytes and elements
      starts.add((1L << bits) - SAMPLE / 2);
    }
    new Random(count).longs(40, 0, count).forEach(starts::add);
    return starts.stream()
        .mapToLong(Long::longValue)
        .filter(start -> start >= 0 && start < count)
        .toArray();
  }

  static double[] read(DeviceRange<?> range, long start) {
    return Tensors.read(range.view(start, Math.min(range.length(), start + SAMPLE)));
  }

  /** The same of any type that a result has. */
  static double[] readAny(DeviceRange<?> range, long start) {
    return Tensors.readAny(range.view(start, Math.min(range.length(), start + SAMPLE)));
  }

  static double relative(StorageType storage) {
    return switch (storage) {
      case F16 -> 0x1p-11;
      case BF16 -> 0x1p-8;
      case F32 -> 1e-5; // of sums of 2^31 elements, whose pieces' states are merged
      case F64 -> 1e-13;
    };
  }

  final double extreme(Reduction.Op op, DeviceBuffer<?> all) {
    try (DeviceBuffer<?> result = context.allocate(op.resultType(all.type()), 1, stream)) {
      Reduction.of(context, op).all(TensorView.of(all, all.length()), scalar(result), stream);
      return Tensors.read(result)[0];
    }
  }

  static <E extends ElementType<E>> TensorView<E> scalar(DeviceBuffer<E> one) {
    return TensorView.of(one);
  }
}

package dev.culebra.benchmarks.kernels;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import dev.culebra.testkit.StorageType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * What a check sees of one set: inputs as they were meant to be, made again on the host, and
 * outputs as they are on the device.
 */
final class Reader {
  private static final long PART = 1 << 16;

  private final Tensors tensors;
  private final List<RandomValues> values;
  private final int set;
  private final List<Long> strides;

  /**
   * @param values of each input, over all sets
   * @param set which one
   * @param strides elements of each input from one set to the next
   */
  Reader(Tensors tensors, List<RandomValues> values, int set, List<Long> strides) {
    this.tensors = tensors;
    this.values = values;
    this.set = set;
    this.strides = strides;
  }

  private long place(int index, long element) {
    return set * strides.get(index) + element;
  }

  /** Elements of an input, in the values of its type. */
  double[] input(int index, long from, int count) {
    return input(index, from, 1, count);
  }

  /** The same of elements that lie {@code stride} apart. */
  double[] input(int index, long from, long stride, int count) {
    LongToDoubleFunction values = values(index);
    long first = place(index, from);
    return LongStream.range(0, count)
        .parallel()
        .mapToDouble(i -> values.applyAsDouble(first + i * stride))
        .toArray();
  }

  private LongToDoubleFunction values(int index) {
    return values.get(index).in(tensors.inputs().get(index).type());
  }

  /** The exact sum and the sum of magnitudes of elements of an input, and its largest. */
  record Totals(double sum, double magnitudes, double largest) {
    Totals plus(Totals other) {
      return new Totals(
          sum + other.sum, magnitudes + other.magnitudes, Math.max(largest, other.largest));
    }
  }

  /** What float64 makes of a stretch of an input that is too long to be held. */
  Totals totals(int index, long from, long count) {
    LongToDoubleFunction values = values(index);
    // Every value is a multiple of 2^-20 below 2^3, rounded or not: 2^30 of them add up exactly in
    // any order.
    long first = place(index, from);
    long parts = Math.ceilDiv(count, PART);
    return LongStream.range(0, parts)
        .parallel()
        .mapToObj(
            part -> {
              double sum = 0;
              double magnitudes = 0;
              double largest = Double.NEGATIVE_INFINITY;
              long end = Math.min((part + 1) * PART, count);
              for (long i = part * PART; i < end; i++) {
                double value = values.applyAsDouble(first + i);
                sum += value;
                magnitudes += Math.abs(value);
                largest = Math.max(largest, value);
              }
              return new Totals(sum, magnitudes, largest);
            })
        .reduce(new Totals(0, 0, Double.NEGATIVE_INFINITY), Totals::plus);
  }

  /** Elements of an output, as they are on the device. */
  double[] output(int index, long from, int count) {
    return read(tensors.outputs().get(index), from, count);
  }

  /**
   * That the device computes on what was meant: a kernel is fast on zeros.
   *
   * @throws IllegalStateException if an element differs
   */
  void requireInput(int index, long from, int count) {
    double[] meant = input(index, from, count);
    double[] there = read(tensors.inputs().get(index), from, count);
    for (int i = 0; i < count; i++) {
      if (meant[i] != there[i]) {
        throw new IllegalStateException(
            "element %d of input %d is %s on the device, not the random %s"
                .formatted(from + i, index, there[i], meant[i]));
      }
    }
  }

  private static double[] read(TensorView<?> view, long from, int count) {
    if (view.type() == ElementType.I32 || view.type() == ElementType.I64) {
      return places(view, from, count);
    }
    StorageType type = TensorSpec.storage(view.type());
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment bytes = arena.allocate((long) count * type.bytes(), 8);
      view.range().view(from, from + count).copyTo(bytes);
      double[] elements = new double[count];
      for (int i = 0; i < count; i++) {
        elements[i] = type.get(bytes, i);
      }
      return elements;
    }
  }

  private static double[] places(TensorView<?> view, long from, int count) {
    try (Arena arena = Arena.ofConfined()) {
      boolean isLong = view.type() == ElementType.I64;
      MemorySegment bytes =
          arena.allocate(isLong ? ValueLayout.JAVA_LONG : ValueLayout.JAVA_INT, count);
      view.range().view(from, from + count).copyTo(bytes);
      return IntStream.range(0, count)
          .mapToLong(
              i ->
                  isLong
                      ? bytes.getAtIndex(ValueLayout.JAVA_LONG, i)
                      : bytes.getAtIndex(ValueLayout.JAVA_INT, i))
          .mapToDouble(place -> (double) place)
          .toArray();
    }
  }
}

package dev.culebra.ops;

import dev.culebra.ElementType;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * Joins on the host what {@link Reduction#partials} gave, in double precision and, for sums,
 * compensated. The order in which partial results come is that in which they are joined, so the
 * same order gives the same bits.
 *
 * <p>Not safe for several threads at once.
 */
public final class ReductionTotal {
  private static final ValueLayout.OfFloat FLOAT =
      ValueLayout.JAVA_FLOAT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
  private static final ValueLayout.OfDouble DOUBLE =
      ValueLayout.JAVA_DOUBLE_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final Reduction.Op op;

  /** The extremum so far, or the sum. */
  private double value;

  /** What {@code value} lacks of the sum; meaningless once that is not finite. */
  private double error;

  private ReductionTotal(Reduction.Op op) {
    this.op = op;
    this.value =
        switch (op) {
          case SUM, MEAN -> 0;
          case MAX -> Double.NEGATIVE_INFINITY;
          case MIN -> Double.POSITIVE_INFINITY;
        };
  }

  /**
   * The total of nothing yet.
   *
   * @param op that of the reduction whose partial results will come
   * @return the total
   */
  public static ReductionTotal of(Reduction.Op op) {
    return new ReductionTotal(op);
  }

  /**
   * Joins further partial results to the total.
   *
   * @param partials what {@link Reduction#partials} wrote, or more of it at once
   * @param type the type of its elements, F32 or F64
   */
  public void add(MemorySegment partials, ElementType<?> type) {
    long count = partials.byteSize() / type.byteSize();
    switch (op) {
      case SUM, MEAN -> {
        for (long i = 0; i < count; i += 2) {
          addSum(get(partials, type, i), get(partials, type, i + 1));
        }
      }
      case MAX -> {
        for (long i = 0; i < count; i++) {
          value = Math.max(value, get(partials, type, i)); // keeps NaN
        }
      }
      case MIN -> {
        for (long i = 0; i < count; i++) {
          value = Math.min(value, get(partials, type, i));
        }
      }
    }
  }

  /** Knuth's two-sum: the error of the addition is found exactly and added up apart. */
  private void addSum(double otherValue, double otherError) {
    double sum = value + otherValue;
    double othersShare = sum - value;
    double share = sum - othersShare;
    error += otherError + ((value - share) + (otherValue - othersShare));
    value = sum;
  }

  /**
   * The result so far.
   *
   * @param elements how many elements there were; only a mean asks
   * @return the result, to be rounded to its type; of nothing what {@link Reduction} says
   */
  public double value(long elements) {
    return switch (op) {
      case SUM -> sum();
      case MEAN -> sum() / elements;
      case MAX, MIN -> value;
    };
  }

  private double sum() {
    // Of an infinite sum the error is inf - inf.
    return Double.isFinite(value) ? value + error : value;
  }

  private static double get(MemorySegment values, ElementType<?> type, long index) {
    return type == ElementType.F64
        ? values.getAtIndex(DOUBLE, index)
        : values.getAtIndex(FLOAT, index);
  }
}

package dev.culebra.ops;

import dev.culebra.ElementType;
import java.lang.foreign.MemorySegment;
import java.math.BigInteger;

/**
 * Joins on the host what {@link Reduction#partials} and {@link Reduction#partialsAlong} gave, in
 * double precision and, for sums, compensated; of integers exactly. The order in which partial
 * results come is that of the elements, and that in which they are joined, so the same order gives
 * the same bits.
 *
 * <p>Not safe for several threads at once.
 */
public final class ReductionTotal {

  /** The place that the kernels write of nothing: kNone. */
  private static final long NOWHERE = Long.MAX_VALUE;

  private final ReductionForm form;
  private final Reduction.Op op;
  private final Joined joined;
  private long elements;

  private ReductionTotal(Reduction.Op op, ReductionForm form) {
    this.op = op;
    this.form = form;
    boolean floating = form.input().isFloating();
    this.joined =
        switch (op) {
          case SUM -> floating ? new CompensatedSum() : new WrappingSum();
          case MEAN -> floating ? new CompensatedSum() : new WideSum();
          case MAX -> floating ? new Extremum(true) : new IntegerExtremum(true);
          case MIN -> floating ? new Extremum(false) : new IntegerExtremum(false);
          case ARGMAX -> new Place(floating ? Place::isGreater : (x, best) -> x > best);
          case ARGMIN -> new Place(floating ? Place::isLess : (x, best) -> x < best);
          case LOGSUMEXP -> new Exponentials();
          case L2_NORM -> new Squares();
        };
  }

  /**
   * The total of nothing yet.
   *
   * @param op that of the reduction whose partial results will come
   * @param type the type of its input
   * @return the total
   * @throws IllegalArgumentException if the operation does not take elements of the type
   */
  public static ReductionTotal of(Reduction.Op op, ElementType<?> type) {
    return new ReductionTotal(op, ReductionForm.of(op, type));
  }

  /**
   * Joins further partial results to the total.
   *
   * @param partials what a reduction wrote for further elements
   * @param elements how many elements those were, behind all that came before
   * @throws IllegalArgumentException if the partial results end within one, or the number is
   *     negative
   */
  public void add(MemorySegment partials, long elements) {
    long stateBytes = (long) form.stateLength() * form.state().byteSize();
    if (partials.byteSize() % stateBytes != 0) {
      throw new IllegalArgumentException(
          "a partial result has "
              + stateBytes
              + " bytes, "
              + partials.byteSize()
              + " are not a number of them");
    }
    if (elements < 0) {
      throw new IllegalArgumentException("a number of elements is not negative: " + elements);
    }
    long count = partials.byteSize() / stateBytes * form.stateLength();
    for (long i = 0; i < count; i += form.stateLength()) {
      joined.join(partials, form.state(), i, this.elements);
    }
    this.elements += elements;
  }

  /** {@return how many elements there were} */
  public long elements() {
    return elements;
  }

  /**
   * The result so far.
   *
   * @return the result, to be rounded to its type; of nothing what {@link Reduction} says
   * @throws IllegalStateException if results are integers
   */
  public double doubleValue() {
    if (!form.result().isFloating()) {
      throw new IllegalStateException("the result is " + form.result() + ": ask for longValue");
    }
    double value = joined.floating();
    return op == Reduction.Op.MEAN ? value / elements : value;
  }

  /**
   * The result so far, of an operation whose results are integers or indices.
   *
   * @return the result; of nothing what {@link Reduction} says, or -1 for an index
   * @throws IllegalStateException if results are floating numbers
   */
  public long longValue() {
    if (form.result().isFloating()) {
      throw new IllegalStateException("the result is " + form.result() + ": ask for doubleValue");
    }
    long least = form.result() == ElementType.I32 ? Integer.MIN_VALUE : Long.MIN_VALUE;
    long greatest = form.result() == ElementType.I32 ? Integer.MAX_VALUE : Long.MAX_VALUE;
    // Of no elements the extrema of all 64-bit numbers are left.
    return op.isIndex() ? joined.integer() : Math.clamp(joined.integer(), least, greatest);
  }

  /** States as one; one of the two results, by the operation. */
  private abstract static class Joined {
    /** Takes in the state that begins at an element; its indices count from {@code before}. */
    abstract void join(MemorySegment states, ElementType<?> type, long at, long before);

    double floating() {
      throw new AssertionError();
    }

    long integer() {
      throw new AssertionError();
    }
  }

  private static double real(MemorySegment values, ElementType<?> type, long at) {
    return type == ElementType.F32
        ? values.getAtIndex(HostScalars.FLOAT, at)
        : values.getAtIndex(HostScalars.DOUBLE, at);
  }

  private static long whole(MemorySegment values, ElementType<?> type, long at) {
    return type == ElementType.I32
        ? values.getAtIndex(HostScalars.INT, at)
        : values.getAtIndex(HostScalars.LONG, at);
  }

  private static final class CompensatedSum extends Joined {
    private double sum;

    /** What {@code sum} lacks; meaningless once that is not finite. */
    private double error;

    /** Knuth's two-sum: the error of the addition is found exactly and added up apart. */
    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      double other = real(states, type, at);
      double next = sum + other;
      double othersShare = next - sum;
      double share = next - othersShare;
      error += real(states, type, at + 1) + ((sum - share) + (other - othersShare));
      sum = next;
    }

    @Override
    double floating() {
      // Of an infinite sum the error is inf - inf.
      return Double.isFinite(sum) ? sum + error : sum;
    }
  }

  private static final class WrappingSum extends Joined {
    private long sum;

    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      sum += whole(states, type, at);
    }

    @Override
    long integer() {
      return sum;
    }
  }

  /** 128 bits, in two's complement. */
  private static final class WideSum extends Joined {
    private long low;
    private long high;

    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      long next = low + whole(states, type, at);
      long carry = Long.compareUnsigned(next, low) < 0 ? 1 : 0;
      low = next;
      high += whole(states, type, at + 1) + carry;
    }

    @Override
    double floating() {
      BigInteger unsigned = new BigInteger(Long.toUnsignedString(low));
      return BigInteger.valueOf(high).shiftLeft(Long.SIZE).add(unsigned).doubleValue();
    }
  }

  private static final class Extremum extends Joined {
    private final boolean largest;
    private double value;

    Extremum(boolean largest) {
      this.largest = largest;
      this.value = largest ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
    }

    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      double other = real(states, type, at);
      value = largest ? Math.max(value, other) : Math.min(value, other); // both keep NaN
    }

    @Override
    double floating() {
      return value;
    }
  }

  private static final class IntegerExtremum extends Joined {
    private final boolean largest;
    private long value;

    IntegerExtremum(boolean largest) {
      this.largest = largest;
      this.value = largest ? Long.MIN_VALUE : Long.MAX_VALUE;
    }

    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      long other = whole(states, type, at);
      value = largest ? Math.max(value, other) : Math.min(value, other);
    }

    @Override
    long integer() {
      return value;
    }
  }

  /** States come in the order of indices, so what is equal to what was before does not count. */
  private static final class Place extends Joined {
    /** Of values as a state has them: integers, or the bits of floating numbers. */
    private interface Order {
      boolean isBefore(long value, long best);
    }

    private final Order order;
    private long best;
    private long index = -1;

    Place(Order order) {
      this.order = order;
    }

    static boolean isGreater(long bits, long best) {
      return Double.longBitsToDouble(bits) > Double.longBitsToDouble(best)
          || isFirstNan(bits, best);
    }

    static boolean isLess(long bits, long best) {
      return Double.longBitsToDouble(bits) < Double.longBitsToDouble(best)
          || isFirstNan(bits, best);
    }

    private static boolean isFirstNan(long bits, long best) {
      return Double.isNaN(Double.longBitsToDouble(bits))
          && !Double.isNaN(Double.longBitsToDouble(best));
    }

    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      long value = states.getAtIndex(HostScalars.LONG, at);
      long place = states.getAtIndex(HostScalars.LONG, at + 1);
      if (place != NOWHERE && (index < 0 || order.isBefore(value, best))) {
        best = value;
        index = before + place;
      }
    }

    @Override
    long integer() {
      return index;
    }
  }

  /**
   * The maximum m and the sum of exp(x - m), of exp(x) where m is infinite: unlike {@link
   * OnlineState}, which a softmax asks, it tells +inf from NaN.
   */
  private static final class Exponentials extends Joined {
    private double m = Double.NEGATIVE_INFINITY;
    private double d;

    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      double otherM = real(states, type, at);
      double otherD = real(states, type, at + 1);
      double highest = Math.max(m, otherM);
      d = d * weight(m, highest) + otherD * weight(otherM, highest);
      m = highest;
    }

    private static double weight(double low, double high) {
      return low == high ? 1 : Math.exp(low - (Double.isInfinite(high) ? 0 : high));
    }

    @Override
    double floating() {
      return m + Math.log(d);
    }
  }

  /** A power of two m near the largest magnitude, and the sum of (x / m)^2. */
  private static final class Squares extends Joined {
    private double m = Double.MIN_NORMAL;
    private double d;

    @Override
    void join(MemorySegment states, ElementType<?> type, long at, long before) {
      double otherM = real(states, type, at);
      double highest = Math.max(m, otherM);
      double ratio = m / highest;
      double otherRatio = otherM / highest;
      d = d * ratio * ratio + real(states, type, at + 1) * otherRatio * otherRatio;
      m = highest;
    }

    @Override
    double floating() {
      return m * Math.sqrt(d);
    }
  }
}

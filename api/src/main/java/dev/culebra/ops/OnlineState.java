package dev.culebra.ops;

import dev.culebra.ElementType;
import java.lang.foreign.MemorySegment;

/**
 * The state of an online softmax over some elements: their maximum {@code m} and the sum {@code d}
 * of {@code exp(x - m)}. States of parts merge into the state of the whole, in any order and
 * grouping (rounding aside), so a row can be done in pieces; softmax of x is then {@code exp(x - m)
 * / d} and logsumexp is {@link #logSumExp}. The host's twin of the state that {@link SoftmaxStates}
 * finds on the device, in double precision; {@link #read} and {@link #write} are the way between
 * them.
 *
 * <p>With a scale {@code s}, which is not negative, d sums {@code exp((x - m) * s)}, and what is
 * merged has to be of the same one.
 *
 * <p>NaN or +inf among the elements makes d NaN. Elements of -inf weigh nothing.
 *
 * @param m the maximum; -inf if there is none
 * @param d the sum of exp(x - m)
 * @see <a href="https://arxiv.org/abs/1805.02867">Milakov, Gimelshein: Online normalizer
 *     calculation for softmax</a>
 */
public record OnlineState(double m, double d) {

  /** The state of no elements; merging it changes nothing. */
  public static final OnlineState EMPTY = new OnlineState(Double.NEGATIVE_INFINITY, 0);

  /**
   * The state of one element.
   *
   * @param x the element
   * @return its state; {@link #EMPTY} for -inf
   */
  public static OnlineState of(double x) {
    if (x == Double.NEGATIVE_INFINITY) {
      return EMPTY;
    }
    return new OnlineState(x, Double.isFinite(x) ? 1 : Double.NaN);
  }

  /**
   * The state of the elements of both.
   *
   * @param other a state
   * @return the merged state; the same for {@code other.merge(this)}, to the bit
   */
  public OnlineState merge(OnlineState other) {
    return merge(other, 1);
  }

  /**
   * The state of the elements of both, of states with a scale.
   *
   * @param other a state
   * @param scale what both were found with: 0 or more, see {@link SoftmaxStates#stateScale}
   * @return the merged state; the same for {@code other.merge(this, scale)}, to the bit
   * @throws IllegalArgumentException if the scale is negative or not finite
   */
  public OnlineState merge(OnlineState other, double scale) {
    requireScale(scale);
    boolean otherIsHigher = m < other.m;
    OnlineState high = otherIsHigher ? other : this;
    OnlineState low = otherIsHigher ? this : other;
    // (-inf) - (-inf) is never computed.
    double weight = low.m == Double.NEGATIVE_INFINITY ? 0 : Math.exp((low.m - high.m) * scale);
    // Math.max orders -0 below +0 and keeps NaN, so that the order of the two does not show.
    return new OnlineState(Math.max(m, other.m), high.d + low.d * weight);
  }

  /** {@return log of the sum of exp(x) over the elements; -inf of none} */
  public double logSumExp() {
    return logSumExp(1);
  }

  /**
   * The logarithm of the sum of {@code exp(x * scale)}.
   *
   * @param scale what the state was found with, 0 or more
   * @return the logarithm; -inf of no elements
   * @throws IllegalArgumentException if the scale is negative or not finite
   */
  public double logSumExp(double scale) {
    requireScale(scale);
    return d == 0 ? Double.NEGATIVE_INFINITY : m * scale + Math.log(d);
  }

  private static void requireScale(double scale) {
    if (!(scale >= 0 && scale < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "the scale of a state is 0 or more and finite, not " + scale);
    }
  }

  /**
   * Reads one of the states that {@link SoftmaxStates} wrote.
   *
   * @param states states side by side: m and d in turn, little-endian as the device has them, at
   *     any alignment
   * @param type of these numbers, F32 or F64
   * @param index which, from 0
   * @return the state
   * @throws IllegalArgumentException if the type is another
   * @throws IndexOutOfBoundsException if there is no such state
   */
  public static OnlineState read(MemorySegment states, ElementType<?> type, long index) {
    return isSingle(type)
        ? new OnlineState(
            states.getAtIndex(HostScalars.FLOAT, 2 * index),
            states.getAtIndex(HostScalars.FLOAT, 2 * index + 1))
        : new OnlineState(
            states.getAtIndex(HostScalars.DOUBLE, 2 * index),
            states.getAtIndex(HostScalars.DOUBLE, 2 * index + 1));
  }

  /**
   * Writes this as {@link SoftmaxStates} reads it; d is rounded to the type.
   *
   * @param states where, as of {@link #read}
   * @param type of the numbers, F32 or F64
   * @param index which, from 0
   * @throws IllegalArgumentException if the type is another, or m is not a number of it, as that of
   *     F64 elements may be: d is relative to m, so it cannot be rounded
   * @throws IndexOutOfBoundsException if there is no such state
   */
  public void write(MemorySegment states, ElementType<?> type, long index) {
    if (isSingle(type)) {
      if (!Double.isNaN(m) && (float) m != m) {
        throw new IllegalArgumentException("m is " + m + ", which F32 has not; write F64");
      }
      states.setAtIndex(HostScalars.FLOAT, 2 * index, (float) m);
      states.setAtIndex(HostScalars.FLOAT, 2 * index + 1, (float) d);
    } else {
      states.setAtIndex(HostScalars.DOUBLE, 2 * index, m);
      states.setAtIndex(HostScalars.DOUBLE, 2 * index + 1, d);
    }
  }

  private static boolean isSingle(ElementType<?> type) {
    if (type != ElementType.F32 && type != ElementType.F64) {
      throw new IllegalArgumentException("states are of F32 or F64, not " + type);
    }
    return type == ElementType.F32;
  }
}

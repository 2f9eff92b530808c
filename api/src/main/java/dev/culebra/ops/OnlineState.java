package dev.culebra.ops;

/**
 * The state of an online softmax over some elements: their maximum {@code m} and the sum {@code d}
 * of {@code exp(x - m)}. States of parts merge into the state of the whole, in any order and
 * grouping (rounding aside), so a row can be done in pieces; softmax of x is then {@code exp(x - m)
 * / d} and logsumexp is {@link #logSumExp}. The host's twin of the state that the kernels keep, in
 * double precision.
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
    boolean otherIsHigher = m < other.m;
    OnlineState high = otherIsHigher ? other : this;
    OnlineState low = otherIsHigher ? this : other;
    // (-inf) - (-inf) is never computed.
    double weight = low.m == Double.NEGATIVE_INFINITY ? 0 : Math.exp(low.m - high.m);
    // Math.max orders -0 below +0 and keeps NaN, so that the order of the two does not show.
    return new OnlineState(Math.max(m, other.m), high.d + low.d * weight);
  }

  /** {@return log of the sum of exp(x) over the elements; -inf of none} */
  public double logSumExp() {
    return d == 0 ? Double.NEGATIVE_INFINITY : m + Math.log(d);
  }
}

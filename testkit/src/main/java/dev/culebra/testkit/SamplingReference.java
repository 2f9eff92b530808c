package dev.culebra.testkit;

import java.util.stream.IntStream;

/**
 * The truth of drawing a token from a row of logits in float64: in which order its elements are,
 * what the filters leave of them, and which element random bits fall on.
 *
 * <p>Masses that were rounded differently may end a prefix, or a token's share, one element sooner
 * or later; so what is judged is whether the bits fall on a token within a relative {@code slack}.
 */
public final class SamplingReference {
  private final int[] order;
  private final double[] upto;
  private final double least;
  private final double most;
  private final double slack;

  /**
   * The distribution of one row.
   *
   * @param row the logits; no NaN, no +inf, and not of -inf alone
   * @param temperature above 0
   * @param topK 0 for all
   * @param topP 1 for all
   * @param minP 0 for all
   * @param slack how far masses may be off, relative
   */
  public SamplingReference(
      double[] row, double temperature, int topK, double topP, double minP, double slack) {
    this.slack = slack;
    this.order =
        IntStream.range(0, row.length)
            .boxed()
            .sorted((a, b) -> row[a] < row[b] ? 1 : row[a] > row[b] ? -1 : 0)
            .mapToInt(i -> i)
            .toArray();
    double largest = row[order[0]];
    double[] weights = new double[row.length];
    this.upto = new double[row.length];
    double sum = 0;
    for (int i = 0; i < row.length; i++) {
      double x = row[order[i]];
      weights[i] = x == Double.NEGATIVE_INFINITY ? 0 : Math.exp((x - largest) / temperature);
      sum += weights[i];
      upto[i] = sum;
    }
    double kept = upto[(topK > 0 ? Math.min(topK, row.length) : row.length) - 1];
    double low = kept;
    double high = kept;
    if (topP < 1) {
      low = firstAtLeast(kept * topP * (1 - slack));
      high = firstAtLeast(Math.min(kept * topP * (1 + slack), kept));
    }
    if (minP > 0) {
      double lowNear = 0;
      double highNear = 0;
      for (int i = 0; i < row.length; i++) {
        if (weights[i] >= minP * (1 + slack) || row[order[i]] == largest) {
          lowNear = upto[i];
        }
        if (weights[i] >= minP * (1 - slack)) {
          highNear = upto[i];
        }
      }
      low = Math.min(low, lowNear);
      high = Math.min(high, highNear);
    }
    this.least = low;
    this.most = high;
  }

  private double firstAtLeast(double target) {
    for (double sum : upto) {
      if (sum >= target) {
        return sum;
      }
    }
    return upto[upto.length - 1];
  }

  /** How many elements the filters leave. */
  public int left() {
    int count = 0;
    while (count < upto.length && upto[count] <= most) {
      count++;
    }
    return count;
  }

  /** The probability of a token under what the filters leave. */
  public double probability(int token) {
    int place = rank(token);
    return before(place) >= most ? 0 : (upto[place] - before(place)) / most;
  }

  private int rank(int token) {
    return IntStream.range(0, order.length)
        .filter(i -> order[i] == token)
        .findFirst()
        .orElseThrow();
  }

  private double before(int place) {
    return place == 0 ? 0 : upto[place - 1];
  }

  /** Fails unless the bits fall on that token, and it has that probability. */
  public void judge(long bits, long token, double probability) {
    if (token < 0 || token >= order.length) {
      throw new AssertionError("token " + token + " of a row of " + order.length);
    }
    int place = rank((int) token);
    double share = ((bits >>> 11) + (bits & 0x7ff) * 0x1p-11) * 0x1p-53;
    double weight = upto[place] - before(place);
    String which = "token " + token + " of rank " + place + " with weight " + weight;
    if (!(weight > 0)
        || before(place) > share * most * (1 + slack)
        || upto[place] < share * least * (1 - slack)) {
      throw new AssertionError(
          which
              + " has the running sum "
              + before(place)
              + " to "
              + upto[place]
              + "; the bits fall on "
              + share * least
              + " to "
              + share * most);
    }
    if (!(probability >= weight / most * (1 - slack)
        && probability <= weight / least * (1 + slack))) {
      throw new AssertionError(
          which
              + " has the probability "
              + probability
              + ", the truth is "
              + weight / most
              + " to "
              + weight / least);
    }
  }
}

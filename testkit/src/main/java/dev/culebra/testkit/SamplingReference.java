package dev.culebra.testkit;

import java.util.stream.IntStream;

/**
 * The truth of drawing a token from a row of logits in float64: what the filters leave of its
 * elements, in the order of probability, and which of those random bits fall on, by index.
 *
 * <p>Masses that were rounded differently may end a prefix, or a token's share, one element sooner
 * or later; so what is judged is whether the bits fall on a token within a relative {@code slack}.
 */
public final class SamplingReference {
  private final int[] order;
  private final double[] upto;
  private final int least;
  private final int most;
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
    int kept = topK > 0 ? Math.min(topK, row.length) : row.length;
    int low = kept;
    int high = kept;
    if (topP < 1) {
      double whole = upto[kept - 1];
      low = countWith(whole * topP * (1 - slack));
      high = countWith(Math.min(whole * topP * (1 + slack), whole));
    }
    if (minP > 0) {
      int lowNear = 1;
      int highNear = 1;
      for (int i = 0; i < row.length; i++) {
        if (weights[i] >= minP * (1 + slack) || row[order[i]] == largest) {
          lowNear = i + 1;
        }
        if (weights[i] >= minP * (1 - slack)) {
          highNear = i + 1;
        }
      }
      low = Math.min(low, lowNear);
      high = Math.min(high, highNear);
    }
    this.least = low;
    this.most = high;
  }

  /** How many of the first reach a sum. */
  private int countWith(double target) {
    int count = 1;
    while (count < upto.length && upto[count - 1] < target) {
      count++;
    }
    return count;
  }

  /** How many elements the filters leave. */
  public int left() {
    return most;
  }

  /** The probability of a token under what the filters leave. */
  public double probability(int token) {
    int place = rank(token);
    return place >= most ? 0 : weight(place) / upto[most - 1];
  }

  private int rank(int token) {
    return IntStream.range(0, order.length)
        .filter(i -> order[i] == token)
        .findFirst()
        .orElseThrow();
  }

  private double weight(int place) {
    return place == 0 ? upto[0] : upto[place] - upto[place - 1];
  }

  /** What the first {@code count} elements weigh that are before a token in the row. */
  private double before(int token, int count) {
    return IntStream.range(0, count).filter(i -> order[i] < token).mapToDouble(this::weight).sum();
  }

  /** Fails unless the bits fall on that token, and it has that probability. */
  public void judge(long bits, long token, double probability) {
    if (token < 0 || token >= order.length) {
      throw new AssertionError("token " + token + " of a row of " + order.length);
    }
    int place = rank((int) token);
    if (place >= most) {
      throw new AssertionError(
          "token " + token + " of rank " + place + "; the filters leave " + least + " to " + most);
    }
    double share = ((bits >>> 11) + (bits & 0x7ff) * 0x1p-11) * 0x1p-53;
    double weight = weight(place);
    double low = upto[least - 1];
    double high = upto[most - 1];
    double before = before((int) token, least);
    double upTo = before((int) token, most) + weight;
    String which = "token " + token + " of rank " + place + " with weight " + weight;
    if (!(weight > 0)
        || before > share * high * (1 + slack)
        || upTo < share * low * (1 - slack)) {
      throw new AssertionError(
          which
              + " has the running sum "
              + before
              + " to "
              + upTo
              + "; the bits fall on "
              + share * low
              + " to "
              + share * high);
    }
    if (!(probability >= weight / high * (1 - slack)
        && probability <= weight / low * (1 + slack))) {
      throw new AssertionError(
          which
              + " has the probability "
              + probability
              + ", the truth is "
              + weight / high
              + " to "
              + weight / low);
    }
  }
}

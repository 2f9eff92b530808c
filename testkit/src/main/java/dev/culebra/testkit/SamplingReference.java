package dev.culebra.testkit;

import java.util.Optional;
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

  /** Whether random bits may fall on a token: whether its share of the mass reaches over them. */
  public boolean mayDraw(long bits, long token) {
    return fault(bits, token).isEmpty();
  }

  /** Why the bits do not fall on that token, or nothing. */
  private Optional<String> fault(long bits, long token) {
    if (token < 0 || token >= order.length) {
      return Optional.of("token " + token + " of a row of " + order.length);
    }
    int place = rank((int) token);
    if (place >= most) {
      return Optional.of(
          "token " + token + " of rank " + place + "; the filters leave " + least + " to " + most);
    }
    double share = ((bits >>> 11) + (bits & 0x7ff) * 0x1p-11) * 0x1p-53;
    double weight = weight(place);
    double low = share * upto[least - 1];
    double high = share * upto[most - 1];
    double before = before((int) token, least);
    double upTo = before((int) token, most) + weight;
    return weight > 0 && before <= high * (1 + slack) && upTo >= low * (1 - slack)
        ? Optional.empty()
        : Optional.of(
            "token %d of rank %d with weight %s has the running sum %s to %s; the bits fall on %s to %s"
                .formatted(token, place, weight, before, upTo, low, high));
  }

  /**
   * How far a probability of a token that may be drawn is off, relative to the truth's: what the
   * filters leave is between two truths where masses may be off.
   */
  public double probabilityError(int token, double probability) {
    double weight = weight(rank(token));
    double least = weight / upto[most - 1];
    double largest = weight / upto[this.least - 1];
    // NaN is handed on, which no bound allows.
    return Math.max(0, Math.max(1 - probability / least, probability / largest - 1));
  }

  /** Fails unless the bits fall on that token, and it has that probability. */
  public void judge(long bits, long token, double probability) {
    fault(bits, token)
        .ifPresent(
            fault -> {
              throw new AssertionError(fault);
            });
    double error = probabilityError((int) token, probability);
    if (!(error <= slack)) {
      throw new AssertionError(
          "token %d has the probability %s, off by %s of the truth's"
              .formatted(token, probability, error));
    }
  }
}

package dev.culebra.cli;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Counts which character follows which few, in a text.
 *
 * <p>Each context that occurs, that is each run of {@code order} characters, gives a row; each
 * character of the text gives a column. The logits are logarithms of smoothed counts, so a softmax
 * along a row is the distribution of the next character. Smoothed after Witten and Bell: a context
 * that was followed by t different characters lends t counts to the distribution of the next
 * shorter context; the shortest, empty one borrows from the uniform distribution. No count is 0
 * then.
 */
final class NgramModel {
  private final int order;
  private final int[] alphabet;

  /** For each length of context: the counts of what followed it. */
  private final List<Map<String, int[]>> counts;

  private final List<String> contexts;
  private final Map<String, Integer> rows;

  private NgramModel(int order, int[] alphabet, List<Map<String, int[]>> counts) {
    this.order = order;
    this.alphabet = alphabet;
    this.counts = counts;
    this.contexts = counts.get(order).keySet().stream().sorted().toList();
    this.rows = new HashMap<>();
    for (String context : contexts) {
      rows.put(context, rows.size());
    }
  }

  /**
   * Counts a text.
   *
   * @param text longer than {@code order} characters
   * @param order characters a context, at least 1
   * @param maxBytes the most memory that the counts may take
   * @throws IllegalArgumentException if the text is too short, or its counts take more
   */
  static NgramModel count(String text, int order, long maxBytes) {
    int[] characters = text.codePoints().toArray();
    if (characters.length <= order) {
      throw new IllegalArgumentException(
          "a text of %d characters has no context of %d and a character behind it"
              .formatted(characters.length, order));
    }
    int[] alphabet = Arrays.stream(characters).sorted().distinct().toArray();
    requireFits(characters, order, alphabet.length, maxBytes);
    List<Map<String, int[]>> counts = new ArrayList<>();
    for (int length = 0; length <= order; length++) {
      Map<String, int[]> ofLength = new HashMap<>();
      for (int next = length; next < characters.length; next++) {
        String context = new String(characters, next - length, length);
        int[] row = ofLength.computeIfAbsent(context, unseen -> new int[alphabet.length]);
        row[Arrays.binarySearch(alphabet, characters[next])]++;
      }
      counts.add(ofLength);
    }
    return new NgramModel(order, alphabet, counts);
  }

  /** Before anything is counted: every context gets a row as wide as the alphabet. */
  private static void requireFits(int[] characters, int order, int alphabet, long maxBytes) {
    long bytes = 0;
    for (int length = 0; length <= order; length++) {
      Set<String> contexts = new HashSet<>();
      for (int next = length; next < characters.length; next++) {
        contexts.add(new String(characters, next - length, length));
      }
      bytes += (long) Integer.BYTES * alphabet * contexts.size();
      if (bytes > maxBytes) {
        throw new IllegalArgumentException(
            "the counts of its contexts of up to %d characters, with %d different characters, take more than %s; use a smaller --order or a smaller text"
                .formatted(length, alphabet, Quantities.bytes(maxBytes)));
      }
    }
  }

  /** Characters a context. */
  int order() {
    return order;
  }

  /** Contexts, the rows of the matrix. */
  int rowCount() {
    return contexts.size();
  }

  /** Characters, the columns of the matrix. */
  int columnCount() {
    return alphabet.length;
  }

  /** The character of a column. */
  String character(int column) {
    return Character.toString(alphabet[column]);
  }

  /** The context of a row. */
  String context(int row) {
    return contexts.get(row);
  }

  /**
   * The row that continues {@code prompt}: that of its last {@code order} characters. Where they
   * never occur in the text, a row whose context ends in as many of them as any; the most frequent
   * of those.
   */
  int row(String prompt) {
    int[] characters = prompt.codePoints().toArray();
    int length = Math.min(order, characters.length);
    String ending = new String(characters, characters.length - length, length);
    Integer exact = rows.get(ending);
    while (exact == null) {
      int best = -1;
      long bestTotal = 0;
      for (int row = 0; row < contexts.size(); row++) {
        if (contexts.get(row).endsWith(ending)) {
          long total = total(countsOf(contexts.get(row)));
          if (total > bestTotal) {
            best = row;
            bestTotal = total;
          }
        }
      }
      if (best >= 0) {
        return best;
      }
      ending = ending.substring(ending.offsetByCodePoints(0, 1));
    }
    return exact;
  }

  /** The matrix of logits, float32, row after row, allocated in {@code arena}. */
  MemorySegment logits(Arena arena) {
    MemorySegment logits =
        arena.allocate(
            ValueLayout.JAVA_FLOAT, Math.multiplyExact((long) rowCount(), columnCount()));
    Map<String, double[]> shorter = new HashMap<>();
    for (int row = 0; row < contexts.size(); row++) {
      double[] smoothed = smoothedCounts(contexts.get(row), shorter);
      for (int column = 0; column < smoothed.length; column++) {
        logits.setAtIndex(
            ValueLayout.JAVA_FLOAT,
            (long) row * smoothed.length + column,
            (float) Math.log(smoothed[column]));
      }
    }
    return logits;
  }

  private double[] smoothedCounts(String context, Map<String, double[]> shorter) {
    int[] seen = countsOf(context);
    double lent = Arrays.stream(seen).filter(count -> count > 0).count();
    double[] smoothed = new double[seen.length];
    double[] backOff =
        context.isEmpty()
            ? uniform(seen.length)
            : distribution(context.substring(context.offsetByCodePoints(0, 1)), shorter);
    for (int column = 0; column < seen.length; column++) {
      smoothed[column] = seen[column] + lent * backOff[column];
    }
    return smoothed;
  }

  private double[] distribution(String context, Map<String, double[]> known) {
    double[] distribution = known.get(context);
    if (distribution == null) {
      distribution = smoothedCounts(context, known);
      double total = Arrays.stream(distribution).sum();
      for (int column = 0; column < distribution.length; column++) {
        distribution[column] /= total;
      }
      known.put(context, distribution);
    }
    return distribution;
  }

  private static double[] uniform(int length) {
    double[] uniform = new double[length];
    Arrays.fill(uniform, 1.0 / length);
    return uniform;
  }

  private int[] countsOf(String context) {
    int[] row = counts.get(context.codePointCount(0, context.length())).get(context);
    if (row == null) {
      throw new IllegalStateException("the context '" + context + "' was never counted");
    }
    return row;
  }

  private static long total(int[] row) {
    long total = 0;
    for (int count : row) {
      total += count;
    }
    return total;
  }
}

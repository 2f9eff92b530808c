package dev.culebra;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** Names that somebody may have meant, for messages. */
final class NearNames {

  private static final int SHOWN = 3;

  private NearNames() {}

  /** A clause such as {@code "; near names are [a, b]"}, or nothing if there are no names. */
  static String hint(String name, Collection<String> known) {
    List<String> nearest =
        known.stream()
            .sorted(
                Comparator.comparingInt((String other) -> distance(name, other))
                    .thenComparing(other -> other))
            .limit(SHOWN)
            .toList();
    return nearest.isEmpty() ? "" : "; near names are " + nearest;
  }

  /** Levenshtein distance. */
  private static int distance(String a, String b) {
    int[] row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int substituted = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(substituted, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[b.length()];
  }
}

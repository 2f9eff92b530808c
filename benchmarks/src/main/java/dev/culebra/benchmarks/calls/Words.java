package dev.culebra.benchmarks.calls;

import java.util.Locale;

/** Names of classes and methods as people read them. */
final class Words {
  private Words() {}

  /** {@code sharedSegment} becomes "shared segment", {@code c} "C". */
  static String of(String camelCase) {
    if (camelCase.equals("c")) {
      return "C";
    }
    String words = camelCase.replaceAll("(?<=[a-z0-9])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    return words
        .replaceAll("\\bc$", "C")
        .replaceAll("\\bjava\\b", "Java")
        .replaceAll("\\bculebra\\b", "Culebra");
  }

  /** Bytes in the largest unit that divides them. */
  static String bytes(long bytes) {
    if (bytes >= 1 << 20 && bytes % (1 << 20) == 0) {
      return (bytes >> 20) + " MiB";
    }
    return bytes >= 1 << 10 && bytes % (1 << 10) == 0 ? (bytes >> 10) + " KiB" : bytes + " B";
  }
}

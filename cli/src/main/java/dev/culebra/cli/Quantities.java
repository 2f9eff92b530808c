package dev.culebra.cli;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** Writes numbers for people: three significant digits and a unit. */
final class Quantities {
  private Quantities() {}

  /** Bytes with a binary prefix, as memory is counted. */
  static String bytes(long bytes) {
    String[] units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = bytes;
    int unit = 0;
    while (value >= 1024 && unit < units.length - 1) {
      value /= 1024;
      unit++;
    }
    return unit == 0 ? bytes + " B" : threeDigits(value) + " " + units[unit];
  }

  /** A rate with a decimal prefix, as bandwidth is counted. */
  static String bytesPerSecond(double rate) {
    String[] units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
    double value = rate;
    int unit = 0;
    while (value >= 1000 && unit < units.length - 1) {
      value /= 1000;
      unit++;
    }
    return threeDigits(value) + " " + units[unit];
  }

  /** A time span. */
  static String seconds(double seconds) {
    if (seconds >= 1) {
      return threeDigits(seconds) + " s";
    }
    return seconds >= 1e-3
        ? threeDigits(seconds * 1e3) + " ms"
        : threeDigits(seconds * 1e6) + " us";
  }

  /** A shape: {@code 4000 x 32000}. */
  static String shape(long[] shape) {
    return shape.length == 0
        ? "scalar"
        : Arrays.stream(shape).mapToObj(Long::toString).collect(Collectors.joining(" x "));
  }

  private static String threeDigits(double value) {
    int decimals = value >= 100 ? 0 : value >= 10 ? 1 : 2;
    return String.format(Locale.ROOT, "%." + decimals + "f", value);
  }
}

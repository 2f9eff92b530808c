package dev.culebra.benchmarks.report;

import dev.culebra.benchmarks.statistics.Interval;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.Locale;

/** Numbers and texts as people read them. */
final class Format {
  private Format() {}

  /** Three significant digits, without an exponent. */
  static String number(double value) {
    if (value == 0 || !Double.isFinite(value)) {
      return value == 0 ? "0" : String.valueOf(value);
    }
    // 99.96 is 100, not 100.0
    double magnitude = new BigDecimal(Math.abs(value)).round(new MathContext(3)).doubleValue();
    int digits = magnitude >= 100 ? 0 : magnitude >= 10 ? 1 : magnitude >= 1 ? 2 : 3;
    return String.format(Locale.ROOT, "%." + digits + "f", value);
  }

  /** A time in a unit that suits it. */
  static String time(double seconds) {
    if (seconds < 1e-6) {
      return number(seconds * 1e9) + " ns";
    }
    if (seconds < 1e-3) {
      return number(seconds * 1e6) + " us";
    }
    return seconds < 1 ? number(seconds * 1e3) + " ms" : number(seconds) + " s";
  }

  /** Bytes a second. */
  static String rate(double bytesPerSecond) {
    return bytesPerSecond >= 1e12
        ? number(bytesPerSecond / 1e12) + " TB/s"
        : number(bytesPerSecond / 1e9) + " GB/s";
  }

  static String ratio(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }

  /** A ratio with its interval. */
  static String ratio(Interval value) {
    return "%s (%s to %s)"
        .formatted(ratio(value.median()), ratio(value.low()), ratio(value.high()));
  }

  /** A time with its interval, in seconds. */
  static String times(Interval seconds) {
    return "%s (%s to %s)"
        .formatted(time(seconds.median()), time(seconds.low()), time(seconds.high()));
  }

  static String percent(double part) {
    return String.format(Locale.ROOT, "%.0f %%", part * 100);
  }

  /** A count with a unit prefix, for axes: 64k, 64Ki, 1M, 2^20. */
  static String count(double value) {
    long whole = (long) value;
    if (value >= 1 << 10 && value == whole && Long.bitCount(whole) == 1) {
      return value >= 1 << 20 ? "2^" + Long.numberOfTrailingZeros(whole) : (whole >> 10) + "Ki";
    }
    if (value > 0 && value < 1e-2) {
      return String.format(Locale.ROOT, "%.0e", value).replace("e-0", "e-");
    }
    if (value >= 1e6) {
      return plain(value / 1e6) + "M";
    }
    return value >= 1e3 ? plain(value / 1e3) + "k" : plain(value);
  }

  /** Without zeros that say nothing. */
  private static String plain(double value) {
    String text = number(value);
    return text.contains(".") ? text.replaceAll("\\.?0+$", "") : text;
  }

  /** Text within a line of Markdown, or a cell of a table: no markup, and no further line. */
  static String markdown(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace("|", "\\|")
        .replaceAll("\\R", " ");
  }

  /** Text that is no markup. */
  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;");
  }
}

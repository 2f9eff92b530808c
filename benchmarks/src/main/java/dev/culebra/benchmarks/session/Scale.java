package dev.culebra.benchmarks.session;

import java.util.Locale;

/** How much is measured. */
public enum Scale {
  /** Tiny sizes, to see that everything works; no figure counts. */
  SMOKE,
  /** A few minutes. */
  SHORT,
  /** Everything. */
  FULL;

  /** One of three values. */
  public <T> T pick(T smoke, T inShort, T full) {
    return switch (this) {
      case SMOKE -> smoke;
      case SHORT -> inShort;
      case FULL -> full;
    };
  }

  /** The name in files and on the command line. */
  public String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}

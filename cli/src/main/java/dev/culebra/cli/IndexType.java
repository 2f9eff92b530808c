package dev.culebra.cli;

import java.util.Locale;

/** What places in a row are stored as. */
enum IndexType {
  I32,
  I64;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}

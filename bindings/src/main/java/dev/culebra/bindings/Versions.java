package dev.culebra.bindings;

/** CUDA's version numbers: 1000 * major + 10 * minor. */
final class Versions {
  private Versions() {}

  static String format(int version) {
    return version / 1000 + "." + version % 1000 / 10;
  }
}

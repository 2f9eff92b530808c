package dev.culebra.benchmarks.session;

import java.nio.file.Path;

/** Where the C side of the benchmarks is, which make builds from {@code src/main/c}. */
public final class NativeFolder {
  private static final String PROPERTY = "culebra.bench.native";

  private NativeFolder() {}

  /**
   * The folder.
   *
   * @throws IllegalStateException if nobody said where it is
   */
  public static Path path() {
    String folder = System.getProperty(PROPERTY);
    if (folder == null) {
      throw new IllegalStateException(
          "-D" + PROPERTY + " does not name the folder of the C loops: use `make bench`");
    }
    return Path.of(folder);
  }
}

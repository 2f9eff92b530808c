package dev.culebra.io;

import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.Objects;

/**
 * Finds the files that NumPy and the safetensors library wrote; make_fixtures.py beside them did.
 */
final class Fixtures {
  private Fixtures() {}

  static Path fixture(String name) {
    URL url = Objects.requireNonNull(Fixtures.class.getResource(name), name);
    try {
      return Path.of(url.toURI());
    } catch (URISyntaxException e) {
      throw new AssertionError(e);
    }
  }
}

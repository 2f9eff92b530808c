package dev.culebra;

import dev.culebra.kernels.EmbeddedKernels;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Where a kernel root's files lie: a folder, or the resources of {@code dev.culebra.kernels}. */
sealed interface KernelRoot {

  String PROPERTY = "culebra.kernels";
  String VARIABLE = "CULEBRA_KERNELS";

  /** The bytes of a file, or empty if there is none of that name. */
  Optional<byte[]> read(String name);

  /** The folder that the property or, failing that, the environment names; else the jar. */
  static KernelRoot configured() {
    String folder = configuredFolder();
    return folder == null ? new Jar() : new Folder(Path.of(folder), true);
  }

  private static @Nullable String configuredFolder() {
    String property = System.getProperty(PROPERTY);
    String folder = property == null ? System.getenv(VARIABLE) : property;
    return folder == null || folder.isEmpty() ? null : folder;
  }

  /**
   * A folder.
   *
   * @param configured whether the property or the environment names it, which messages then tell
   */
  record Folder(Path folder, boolean configured) implements KernelRoot {

    Folder(Path folder) {
      this(folder, false);
    }

    @Override
    public Optional<byte[]> read(String name) {
      Path file = folder.resolve(name).normalize();
      if (!file.startsWith(folder.normalize()) || !Files.isRegularFile(file)) {
        return Optional.empty();
      }
      try {
        return Optional.of(Files.readAllBytes(file));
      } catch (IOException e) {
        throw new UncheckedIOException("cannot read " + file, e);
      }
    }

    @Override
    public String toString() {
      return configured
          ? folder + " (named by -D" + PROPERTY + " or " + VARIABLE + ")"
          : folder.toString();
    }
  }

  /** The jar of {@code culebra-kernels-cu}. */
  record Jar() implements KernelRoot {

    @Override
    public Optional<byte[]> read(String name) {
      try (InputStream in = EmbeddedKernels.open(name)) {
        return in == null ? Optional.empty() : Optional.of(in.readAllBytes());
      } catch (IOException e) {
        throw new UncheckedIOException(
            "cannot read " + name + " in the jar of culebra-kernels-cu", e);
      }
    }

    @Override
    public String toString() {
      return "the jar of culebra-kernels-cu";
    }
  }
}

package dev.culebra.io;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where a tensor is, as a user writes it: {@code logits.npy}, {@code model.safetensors#logits},
 * {@code model.safetensors} if it has one tensor, or {@code -} for a {@code .npy} on a standard
 * stream.
 *
 * @param file the file's path, or {@code -}
 * @param tensor the tensor's name, or null if none was given
 */
public record TensorLocation(String file, @Nullable String tensor) {
  private static final String STREAM = "-";

  /**
   * Splits {@code text} at the first {@code #} that follows {@code .safetensors}; a {@code #}
   * anywhere else belongs to the name of the file or of the tensor.
   */
  public static TensorLocation parse(String text) {
    String mark = TensorFileFormat.SAFETENSORS.extension() + "#";
    int start = text.toLowerCase(Locale.ROOT).indexOf(mark);
    if (start < 0) {
      return new TensorLocation(text, null);
    }
    int hash = start + mark.length() - 1;
    return new TensorLocation(text.substring(0, hash), text.substring(hash + 1));
  }

  /** Whether a standard stream is meant. */
  public boolean isStream() {
    return file.equals(STREAM);
  }

  @Override
  public String toString() {
    return tensor == null ? file : file + "#" + tensor;
  }
}

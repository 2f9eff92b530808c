package dev.culebra.io;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The file formats, told apart by the file's extension. */
public enum TensorFileFormat {
  /** NumPy's {@code .npy}: one tensor, no name. */
  NPY(".npy"),
  /** {@code .safetensors}: named tensors and metadata. */
  SAFETENSORS(".safetensors");

  private final String extension;

  TensorFileFormat(String extension) {
    this.extension = extension;
  }

  /** The extension, with its dot. */
  public String extension() {
    return extension;
  }

  /** The format that the extension of {@code fileName} stands for, if any; case is ignored. */
  public static Optional<TensorFileFormat> of(String fileName) {
    String lowerCase = fileName.toLowerCase(Locale.ROOT);
    return Arrays.stream(values()).filter(f -> lowerCase.endsWith(f.extension)).findFirst();
  }
}

package dev.culebra.cli;

import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Small tensors in files, as float64 values. */
final class TensorFiles {
  private TensorFiles() {}

  static StorageType storage(DType dtype) {
    return StorageType.valueOf(dtype.name());
  }

  /** The smallest format that holds the type. */
  static String extension(DType dtype) {
    return dtype == DType.BF16 ? ".safetensors" : ".npy";
  }

  static Path write(Path path, DType dtype, double[] values, long... shape) throws IOException {
    String name = path.toString().endsWith(".npy") ? "" : "logits";
    TensorSpec spec = new TensorSpec(name, dtype, shape);
    try (TensorWriter writer = TensorWriter.create(path, List.of(spec), Map.of())) {
      writer.append(name, MemorySegment.ofArray(storage(dtype).encode(values)));
      writer.commit();
    }
    return path;
  }

  /**
   * One row of zeros in F32 that takes no space, or null where the file system has no such file.
   */
  static Path sparse(Path path, long length) throws IOException {
    byte[] header = Files.readAllBytes(write(path, DType.F32, new double[0], 0, length));
    String text = new String(header, StandardCharsets.ISO_8859_1);
    // Of the same length, so that the header's own length stays true.
    byte[] changed = text.replace("(0, ", "(1, ").getBytes(StandardCharsets.ISO_8859_1);
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "rw")) {
      file.write(changed);
      file.setLength(changed.length + length * Float.BYTES);
    }
    return path;
  }

  /** A tensor's description and values. */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Contents(TensorSpec spec, Map<String, String> metadata, double[] values) {}

  static Contents read(Path path) throws IOException {
    return read(path.toString());
  }

  static Contents read(String location) throws IOException {
    TensorLocation parsed = TensorLocation.parse(location);
    try (TensorFile file = TensorFile.open(Path.of(parsed.file()))) {
      TensorData tensor = file.tensor(parsed.tensor());
      double[] values = storage(tensor.spec().dtype()).decode(tensor.bytes());
      return new Contents(tensor.spec(), Map.copyOf(file.metadata()), values);
    }
  }
}

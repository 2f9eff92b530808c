package dev.culebra.cli;

import dev.culebra.io.DType;
import dev.culebra.io.TensorData;
import dev.culebra.io.TensorFile;
import dev.culebra.io.TensorLocation;
import dev.culebra.io.TensorSpec;
import dev.culebra.io.TensorWriter;
import dev.culebra.testkit.StorageType;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
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

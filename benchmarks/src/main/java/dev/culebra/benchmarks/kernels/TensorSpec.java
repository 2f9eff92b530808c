package dev.culebra.benchmarks.kernels;

import dev.culebra.ElementType;
import dev.culebra.testkit.StorageType;
import java.util.List;
import java.util.Locale;

/** A dense tensor that a problem reads or writes. */
record TensorSpec(ElementType<?> type, List<Long> shape) {
  static TensorSpec of(ElementType<?> type, Long... shape) {
    return new TensorSpec(type, List.of(shape));
  }

  long elements() {
    return shape.stream().reduce(1L, Math::multiplyExact);
  }

  long bytes() {
    return elements() * type.byteSize();
  }

  StorageType storage() {
    return storage(type);
  }

  static StorageType storage(ElementType<?> type) {
    return StorageType.valueOf(type.symbol().toUpperCase(Locale.ROOT));
  }
}

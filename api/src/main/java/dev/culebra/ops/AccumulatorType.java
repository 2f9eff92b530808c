package dev.culebra.ops;

import dev.culebra.ElementType;

/** The type in which kernels add up and compare: single precision at least. */
final class AccumulatorType {

  private AccumulatorType() {}

  static ElementType<?> of(ElementType<?> storage) {
    requireFloating(storage);
    return storage == ElementType.F64 ? ElementType.F64 : ElementType.F32;
  }

  static void requireFloating(ElementType<?> type) {
    if (!type.isFloating()) {
      throw new IllegalArgumentException(
          "elements of " + type + " are integers; the operation takes F16, BF16, F32 and F64");
    }
  }
}

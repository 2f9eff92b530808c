package dev.culebra.benchmarks.kernels;

import dev.culebra.ElementType;
import dev.culebra.TensorView;
import java.util.List;

/** One set of inputs and outputs of a problem, on the device. */
record Tensors(List<TensorView<?>> inputs, List<TensorView<?>> outputs) {
  /** An input of the type that it has. */
  <E extends ElementType<E>> TensorView<E> in(int index, ElementType<E> type) {
    return typed(inputs.get(index), type);
  }

  /** An output of the type that it has. */
  <E extends ElementType<E>> TensorView<E> out(int index, ElementType<E> type) {
    return typed(outputs.get(index), type);
  }

  @SuppressWarnings("unchecked") // element types are singletons: the same type is the same E
  private static <E extends ElementType<E>> TensorView<E> typed(
      TensorView<?> view, ElementType<E> type) {
    if (view.type() != type) {
      throw new IllegalArgumentException(view + " has no elements of " + type);
    }
    return (TensorView<E>) view;
  }
}

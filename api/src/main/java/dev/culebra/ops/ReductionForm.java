package dev.culebra.ops;

import dev.culebra.ElementType;

/**
 * How an operation reduces elements of a type: with which kernels, to what, and by which states on
 * the way.
 *
 * @param kernel the operation's name in symbols and tables
 * @param input the type of the elements
 * @param result the type of a result
 * @param state the type of a state's elements
 * @param stateLength how many elements a state has; 1 if states are results
 * @param merged the type by which the kernel is named that merges states
 */
record ReductionForm(
    String kernel,
    ElementType<?> input,
    ElementType<?> result,
    ElementType<?> state,
    int stateLength,
    ElementType<?> merged) {

  /**
   * The form of an operation.
   *
   * @throws IllegalArgumentException if the operation does not take the type
   */
  static ReductionForm of(Reduction.Op op, ElementType<?> type) {
    boolean integers = type == ElementType.I32 || type == ElementType.I64;
    if (!integers && !type.isFloating()) {
      throw new IllegalArgumentException(
          "a reduction takes F16, BF16, F32, F64, I32 and I64, not elements of " + type);
    }
    ElementType<?> own = integers ? type : AccumulatorType.of(type);
    return switch (op) {
      case SUM ->
          integers ? results("sum", type, ElementType.I64) : states("sum", type, own, own, own);
      // The sum of 64-bit integers needs 128 bits; floating sums differ by the divisor alone.
      case MEAN ->
          integers
              ? states("mean", type, ElementType.F64, ElementType.I64, ElementType.I64)
              : states("sum", type, own, own, own);
      case MAX -> results("max", type, own);
      case MIN -> results("min", type, own);
      case ARGMAX -> indexed("argmax", type, integers);
      case ARGMIN -> indexed("argmin", type, integers);
      case LOGSUMEXP -> floating("logsumexp", op, type, own);
      case L2_NORM -> floating("l2_norm", op, type, own);
    };
  }

  private static ReductionForm results(String kernel, ElementType<?> type, ElementType<?> result) {
    return new ReductionForm(kernel, type, result, result, 1, result);
  }

  private static ReductionForm states(
      String kernel,
      ElementType<?> type,
      ElementType<?> result,
      ElementType<?> state,
      ElementType<?> merged) {
    return new ReductionForm(kernel, type, result, state, 2, merged);
  }

  /** A state is the value, as F64 or I64 whatever the input is, and the index. */
  private static ReductionForm indexed(String kernel, ElementType<?> type, boolean integers) {
    return states(
        kernel,
        type,
        ElementType.I64,
        ElementType.I64,
        integers ? ElementType.I64 : ElementType.F64);
  }

  private static ReductionForm floating(
      String kernel, Reduction.Op op, ElementType<?> type, ElementType<?> own) {
    if (!type.isFloating()) {
      throw new IllegalArgumentException(
          "elements of "
              + type
              + " are integers; "
              + op
              + " takes F16, BF16, F32 and F64: convert them first");
    }
    return states(kernel, type, own, own, own);
  }

  /** Whether results can be merged as states are. */
  boolean statesAreResults() {
    return stateLength == 1;
  }
}

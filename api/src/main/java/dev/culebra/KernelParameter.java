package dev.culebra;

/**
 * A parameter of a kernel. The factories read like the kernel's declaration:
 *
 * {@snippet :
 * // __global__ void axpy(float* y, const float* x, float a, long long n)
 * KernelSignature axpy = KernelSignature.of(out("y", F32), in("x", F32), f32("a"), i64("n"));
 * }
 *
 * @param name the name that setters and messages use
 * @param type the type
 */
public record KernelParameter(String name, ParameterType type) {

  /**
   * Checks the name.
   *
   * @throws IllegalArgumentException if it is empty or has a dot, which separates a struct from its
   *     field
   */
  public KernelParameter {
    if (name.isEmpty() || name.indexOf('.') >= 0) {
      throw new IllegalArgumentException("'" + name + "' cannot be the name of a parameter");
    }
  }

  /**
   * Memory that the kernel writes, or reads and writes.
   *
   * @param name the name
   * @param type the type of its elements
   * @return the parameter
   */
  public static KernelParameter out(String name, ElementType<?> type) {
    return new KernelParameter(name, new ParameterType.Pointer(type.symbol(), false));
  }

  /**
   * Memory that the kernel only reads.
   *
   * @param name the name
   * @param type the type of its elements
   * @return the parameter
   */
  public static KernelParameter in(String name, ElementType<?> type) {
    return new KernelParameter(name, new ParameterType.Pointer(type.symbol(), true));
  }

  /**
   * A {@code float} by value.
   *
   * @param name the name
   * @return the parameter
   */
  public static KernelParameter f32(String name) {
    return scalar(name, ParameterType.Scalar.F32);
  }

  /**
   * A {@code double} by value.
   *
   * @param name the name
   * @return the parameter
   */
  public static KernelParameter f64(String name) {
    return scalar(name, ParameterType.Scalar.F64);
  }

  /**
   * A 32-bit integer by value.
   *
   * @param name the name
   * @return the parameter
   */
  public static KernelParameter i32(String name) {
    return scalar(name, ParameterType.Scalar.I32);
  }

  /**
   * A 64-bit integer by value.
   *
   * @param name the name
   * @return the parameter
   */
  public static KernelParameter i64(String name) {
    return scalar(name, ParameterType.Scalar.I64);
  }

  /**
   * A scalar of any type by value.
   *
   * @param name the name
   * @param type the type
   * @return the parameter
   */
  public static KernelParameter scalar(String name, ParameterType.Scalar type) {
    return new KernelParameter(name, type);
  }

  /** {@return the form {@code const f32* x}} */
  @Override
  public String toString() {
    return type + " " + name;
  }
}

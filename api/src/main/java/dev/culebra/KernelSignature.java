package dev.culebra;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The parameters of a kernel and where each lies in the parameter block, by the rules of C.
 *
 * <p>The driver knows number, offset and size of the parameters and {@link CudaLibrary#kernel}
 * compares them. It does not know their types: {@code float} for {@code int} stays the caller's
 * word, except for kernels of a {@link KernelCatalog}, whose types come from the compiler.
 *
 * <p>Immutable; any thread may use it.
 */
public final class KernelSignature {

  private final List<KernelParameter> parameters;
  private final long[] offsets;
  private final long byteSize;

  private KernelSignature(List<KernelParameter> parameters) {
    this.parameters = List.copyOf(parameters);
    this.offsets = new long[parameters.size()];
    Set<String> names = new HashSet<>();
    long end = 0;
    for (int ordinal = 0; ordinal < offsets.length; ordinal++) {
      KernelParameter parameter = parameters.get(ordinal);
      if (!names.add(parameter.name())) {
        throw new IllegalArgumentException("two parameters have the name " + parameter.name());
      }
      long alignment = parameter.type().byteAlignment();
      offsets[ordinal] = Math.ceilDiv(end, alignment) * alignment;
      end = offsets[ordinal] + parameter.type().byteSize();
    }
    byteSize = end;
  }

  /**
   * A signature of these parameters, in the order of the kernel's declaration.
   *
   * @param parameters the parameters
   * @return the signature
   * @throws IllegalArgumentException if two have the same name
   */
  public static KernelSignature of(KernelParameter... parameters) {
    return new KernelSignature(List.of(parameters));
  }

  /**
   * A signature of these parameters, in the order of the kernel's declaration.
   *
   * @param parameters the parameters
   * @return the signature
   * @throws IllegalArgumentException if two have the same name
   */
  public static KernelSignature of(List<KernelParameter> parameters) {
    return new KernelSignature(parameters);
  }

  /** {@return the parameters in order} */
  public List<KernelParameter> parameters() {
    return parameters;
  }

  /**
   * Where a parameter lies.
   *
   * @param ordinal its number, from 0
   * @return bytes from the start of the parameter block
   */
  public long offset(int ordinal) {
    return offsets[ordinal];
  }

  /** {@return the size of the parameter block in bytes, without padding at its end} */
  public long byteSize() {
    return byteSize;
  }

  /** A pointer or scalar that can be set: a parameter, or a field of a struct parameter. */
  record Slot(String name, ParameterType type, long offset) {}

  /** All slots in order; a struct contributes its fields under the names {@code struct.field}. */
  List<Slot> slots() {
    List<Slot> slots = new ArrayList<>();
    for (int ordinal = 0; ordinal < offsets.length; ordinal++) {
      KernelParameter parameter = parameters.get(ordinal);
      if (parameter.type() instanceof ParameterType.Struct struct) {
        for (ParameterType.Struct.Field field : struct.fields()) {
          slots.add(
              new Slot(
                  parameter.name() + "." + field.name(),
                  field.type(),
                  offsets[ordinal] + field.offset()));
        }
      } else {
        slots.add(new Slot(parameter.name(), parameter.type(), offsets[ordinal]));
      }
    }
    return slots;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KernelSignature that && parameters.equals(that.parameters);
  }

  @Override
  public int hashCode() {
    return parameters.hashCode();
  }

  /** {@return the form {@code (f32* y, const f32* x, f32 a, i64 n)}} */
  @Override
  public String toString() {
    return parameters.stream()
        .map(KernelParameter::toString)
        .collect(Collectors.joining(", ", "(", ")"));
  }
}

package dev.culebra;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;

/**
 * The type of the elements of device memory. Each type is a class with one instance, and the two
 * have the same name:
 *
 * {@snippet :
 * import static dev.culebra.ElementType.*;
 *
 * DeviceBuffer<F32> logits = context.allocate(F32, 32_000, stream); // @highlight substring="F32"
 * }
 *
 * <p>Tokens rather than {@code Float} or {@code Short}: 16-bit floating types have no Java
 * primitive, and nothing is boxed. Elements are little-endian, as the device has them.
 *
 * <p>Instances are immutable and may be used by any thread.
 *
 * @param <E> the type itself
 */
@SuppressWarnings("VariableNameSameAsType") // the point of it: F32 is the type and its instance
public abstract sealed class ElementType<E extends ElementType<E>> {

  /** Half precision (IEEE 754 binary16); {@code short} bits in Java. */
  public static final F16 F16 = new F16();

  /** Brain floating point, the upper half of a {@link #F32}; {@code short} bits in Java. */
  public static final BF16 BF16 = new BF16();

  /** Single precision; {@code float}. */
  public static final F32 F32 = new F32();

  /** Double precision; {@code double}. */
  public static final F64 F64 = new F64();

  /** Signed 8-bit integers; {@code byte}. */
  public static final I8 I8 = new I8();

  /** Signed 32-bit integers; {@code int}. */
  public static final I32 I32 = new I32();

  /** Signed 64-bit integers; {@code long}. */
  public static final I64 I64 = new I64();

  /** Unsigned 8-bit integers, also plain bytes; {@code byte}. */
  public static final U8 U8 = new U8();

  private static final List<ElementType<?>> ALL = List.of(F16, BF16, F32, F64, I8, I32, I64, U8);

  private final String symbol;
  private final ValueLayout layout;
  private final boolean floating;

  private ElementType(String symbol, ValueLayout layout, boolean floating) {
    this.symbol = symbol;
    this.layout = layout.withOrder(ByteOrder.LITTLE_ENDIAN);
    this.floating = floating;
  }

  /** {@return all element types} */
  public static List<ElementType<?>> all() {
    return ALL;
  }

  /**
   * The type of that name.
   *
   * @param symbol a name as {@link #symbol()} gives it
   * @return the type
   * @throws IllegalArgumentException if there is none of that name
   */
  public static ElementType<?> of(String symbol) {
    for (ElementType<?> type : ALL) {
      if (type.symbol.equals(symbol)) {
        return type;
      }
    }
    throw new IllegalArgumentException("no element type '" + symbol + "'; there are " + ALL);
  }

  /** {@return the short name that kernels and their index use, such as {@code f32}} */
  public final String symbol() {
    return symbol;
  }

  /** {@return the size of one element in bytes, which is its alignment too} */
  public final int byteSize() {
    return Math.toIntExact(layout.byteSize());
  }

  /**
   * The layout of one element in host memory: little-endian and without an alignment constraint, so
   * that it fits files and arrays of bytes. The carrier is {@code short} for 16-bit floating types.
   *
   * @return the layout
   */
  public final ValueLayout layout() {
    return layout;
  }

  /** {@return whether elements are floating point numbers} */
  public final boolean isFloating() {
    return floating;
  }

  /** {@return the name in upper case, as the constant is written} */
  @Override
  public final String toString() {
    return getClass().getSimpleName();
  }

  /** See {@link ElementType#F16}. */
  public static final class F16 extends ElementType<F16> {
    private F16() {
      super("f16", JAVA_SHORT_UNALIGNED, true);
    }
  }

  /** See {@link ElementType#BF16}. */
  public static final class BF16 extends ElementType<BF16> {
    private BF16() {
      super("bf16", JAVA_SHORT_UNALIGNED, true);
    }
  }

  /** See {@link ElementType#F32}. */
  public static final class F32 extends ElementType<F32> {
    private F32() {
      super("f32", JAVA_FLOAT_UNALIGNED, true);
    }
  }

  /** See {@link ElementType#F64}. */
  public static final class F64 extends ElementType<F64> {
    private F64() {
      super("f64", JAVA_DOUBLE_UNALIGNED, true);
    }
  }

  /** See {@link ElementType#I8}. */
  public static final class I8 extends ElementType<I8> {
    private I8() {
      super("i8", JAVA_BYTE, false);
    }
  }

  /** See {@link ElementType#I32}. */
  public static final class I32 extends ElementType<I32> {
    private I32() {
      super("i32", JAVA_INT_UNALIGNED, false);
    }
  }

  /** See {@link ElementType#I64}. */
  public static final class I64 extends ElementType<I64> {
    private I64() {
      super("i64", JAVA_LONG_UNALIGNED, false);
    }
  }

  /** See {@link ElementType#U8}. */
  public static final class U8 extends ElementType<U8> {
    private U8() {
      super("u8", JAVA_BYTE, false);
    }
  }
}

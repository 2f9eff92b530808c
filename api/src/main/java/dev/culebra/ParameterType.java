package dev.culebra;

import java.util.List;

/** The type of a kernel's parameter: a pointer to device memory, a scalar, or a struct of these. */
public sealed interface ParameterType {

  /** {@return the size in bytes} */
  long byteSize();

  /** {@return the alignment in bytes} */
  long byteAlignment();

  /**
   * An address in device memory, 8 bytes.
   *
   * @param target symbol of the type pointed to, such as {@code f32}; {@code void} takes any
   * @param readOnly whether the kernel only reads there
   */
  record Pointer(String target, boolean readOnly) implements ParameterType {

    @Override
    public long byteSize() {
      return Long.BYTES;
    }

    @Override
    public long byteAlignment() {
      return Long.BYTES;
    }

    /**
     * Whether memory of a type may be passed.
     *
     * @param type the type of the memory's elements
     * @return true if it is the type pointed to, or an integer of the same size, or that is {@code
     *     void}
     */
    public boolean accepts(ElementType<?> type) {
      return target.equals("void") || signed(target).equals(signed(type.symbol()));
    }

    // Java's integers are both: the kernel decides how to read the bits.
    private static String signed(String symbol) {
      return symbol.startsWith("u") ? "i" + symbol.substring(1) : symbol;
    }

    /** {@return the form {@code const f32*}} */
    @Override
    public String toString() {
      return (readOnly ? "const " : "") + target + "*";
    }
  }

  /**
   * A number passed by value. Nothing is widened or narrowed: an {@code i32} takes a Java int and
   * nothing else.
   */
  enum Scalar implements ParameterType {
    /** Half precision, passed as its bits in a {@code short}. */
    F16(2),
    /** Brain floating point, passed as its bits in a {@code short}. */
    BF16(2),
    /** Single precision, a {@code float}. */
    F32(4),
    /** Double precision, a {@code double}. */
    F64(8),
    /** Signed 8 bits, a {@code byte}. */
    I8(1),
    /** Unsigned 8 bits, a {@code byte}. */
    U8(1),
    /** Signed 16 bits, a {@code short}. */
    I16(2),
    /** Unsigned 16 bits, a {@code short}. */
    U16(2),
    /** Signed 32 bits, an {@code int}. */
    I32(4),
    /** Unsigned 32 bits, an {@code int}. */
    U32(4),
    /** Signed 64 bits, a {@code long}. */
    I64(8),
    /** Unsigned 64 bits and {@code size_t}, a {@code long}. */
    U64(8);

    private final int byteSize;

    Scalar(int byteSize) {
      this.byteSize = byteSize;
    }

    @Override
    public long byteSize() {
      return byteSize;
    }

    @Override
    public long byteAlignment() {
      return byteSize;
    }

    /** {@return the name the index uses, such as {@code f32}} */
    @Override
    public String toString() {
      return name().toLowerCase(java.util.Locale.ROOT);
    }
  }

  /**
   * A struct passed by value. Its fields are set one by one.
   *
   * @param name the C++ name
   * @param fields pointers and scalars, with their offsets
   * @param byteSize the size in bytes with the padding at the end
   * @param byteAlignment the alignment in bytes
   */
  record Struct(String name, List<Field> fields, long byteSize, long byteAlignment)
      implements ParameterType {

    /**
     * Checks that the fields lie inside.
     *
     * @throws IllegalArgumentException if one does not
     */
    public Struct {
      fields = List.copyOf(fields);
      for (Field field : fields) {
        if (field.offset() < 0 || field.offset() > byteSize - field.type().byteSize()) {
          throw new IllegalArgumentException(
              "field "
                  + field.name()
                  + " at offset "
                  + field.offset()
                  + " lies outside of "
                  + name
                  + " of "
                  + byteSize
                  + " bytes");
        }
      }
    }

    /**
     * A field of a struct.
     *
     * @param name its name
     * @param type a pointer or scalar
     * @param offset bytes from the start of the struct
     */
    public record Field(String name, ParameterType type, long offset) {

      /**
       * Checks that it is a leaf.
       *
       * @throws IllegalArgumentException if the type is a struct
       */
      public Field {
        if (type instanceof Struct) {
          throw new IllegalArgumentException(
              "field " + name + " is a struct; nested structs are not supported");
        }
      }
    }

    /** {@return the name} */
    @Override
    public String toString() {
      return name;
    }
  }
}

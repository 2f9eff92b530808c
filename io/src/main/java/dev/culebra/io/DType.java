package dev.culebra.io;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The element types that the two formats can name. Constants are called as safetensors calls them.
 *
 * <p>All of them are recognised, so that a file is understood as a whole and a refusal can name the
 * type; what an operation can compute with is the operation's affair.
 */
public enum DType {
  /** IEEE 754 binary16. */
  F16(16, "f2"),
  /** bfloat16; {@code .npy} cannot say it. */
  BF16(16, null),
  /** IEEE 754 binary32. */
  F32(32, "f4"),
  /** IEEE 754 binary64. */
  F64(64, "f8"),
  /** A truth value in a byte. */
  BOOL(8, "b1"),
  /** Signed 8-bit integer. */
  I8(8, "i1"),
  /** Signed 16-bit integer. */
  I16(16, "i2"),
  /** Signed 32-bit integer. */
  I32(32, "i4"),
  /** Signed 64-bit integer. */
  I64(64, "i8"),
  /** Unsigned 8-bit integer. */
  U8(8, "u1"),
  /** Unsigned 16-bit integer. */
  U16(16, "u2"),
  /** Unsigned 32-bit integer. */
  U32(32, "u4"),
  /** Unsigned 64-bit integer. */
  U64(64, "u8"),
  /** Two binary32, real and imaginary. */
  C64(64, "c8"),
  /** 4-bit float. */
  F4(4, null),
  /** 6-bit float, 2 exponent bits. */
  F6_E2M3(6, null),
  /** 6-bit float, 3 exponent bits. */
  F6_E3M2(6, null),
  /** 8-bit float, 4 exponent bits. */
  F8_E4M3(8, null),
  /** 8-bit float, 5 exponent bits. */
  F8_E5M2(8, null),
  /** 8-bit power of two. */
  F8_E8M0(8, null);

  private final int bits;
  private final @Nullable String npyName;

  DType(int bits, @Nullable String npyName) {
    this.bits = bits;
    this.npyName = npyName;
  }

  /** Bits an element takes; elements of fewer than 8 are packed. */
  public int bits() {
    return bits;
  }

  /** Whether {@code .npy} can hold it. */
  public boolean isInNpy() {
    return npyName != null;
  }

  /**
   * NumPy's kind and size, for instance {@code f4}, without the byte order; empty if it has none.
   */
  Optional<String> npyName() {
    return Optional.ofNullable(npyName);
  }

  static Optional<DType> ofNpyName(String name) {
    return Arrays.stream(values()).filter(type -> name.equals(type.npyName)).findFirst();
  }

  static Optional<DType> ofName(String name) {
    return Arrays.stream(values()).filter(type -> type.name().equals(name)).findFirst();
  }
}

package dev.culebra;

import static java.lang.foreign.ValueLayout.JAVA_SHORT;

/** Rounds {@code float} to a 16-bit floating type and widens it again, on the host. */
enum SixteenBit {
  F16 {
    @Override
    short round(float value) {
      return Float.floatToFloat16(value);
    }

    @Override
    float widen(short bits) {
      return Float.float16ToFloat(bits);
    }
  },
  BF16 {
    @Override
    short round(float value) {
      int bits = Float.floatToRawIntBits(value);
      if (Float.isNaN(value)) {
        // Rounding could carry a payload away into infinity: keep the sign and make it quiet.
        return (short) ((bits >>> 16) | 0x40);
      }
      int lowestKept = (bits >>> 16) & 1;
      return (short) ((bits + 0x7fff + lowestKept) >>> 16);
    }

    @Override
    float widen(short bits) {
      return Float.intBitsToFloat(bits << 16);
    }
  };

  static SixteenBit of(ElementType<?> type) {
    return valueOf(type.toString());
  }

  /** To the nearest, ties to even. */
  abstract short round(float value);

  /** Exact. */
  abstract float widen(short bits);

  HostCopy.Piece rounding(float[] source) {
    return (pinned, offset, bytes) -> {
      int first = Math.toIntExact(offset / Short.BYTES);
      int count = Math.toIntExact(bytes / Short.BYTES);
      for (int i = 0; i < count; i++) {
        pinned.setAtIndex(JAVA_SHORT, i, round(source[first + i]));
      }
    };
  }

  HostCopy.Piece widening(float[] target) {
    return (pinned, offset, bytes) -> {
      int first = Math.toIntExact(offset / Short.BYTES);
      int count = Math.toIntExact(bytes / Short.BYTES);
      for (int i = 0; i < count; i++) {
        target[first + i] = widen(pinned.getAtIndex(JAVA_SHORT, i));
      }
    };
  }
}

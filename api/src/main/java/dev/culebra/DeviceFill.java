package dev.culebra;

import dev.culebra.bindings.Driver;

/** Fills device memory with one element's bits. */
final class DeviceFill {

  private DeviceFill() {}

  static long bitsOf(ElementType<?> type, double value) {
    return switch (type) {
      case ElementType.F16 f -> SixteenBit.F16.round(onlyRoundedOnce(value));
      case ElementType.BF16 f -> SixteenBit.BF16.round(onlyRoundedOnce(value));
      case ElementType.F32 f -> Float.floatToRawIntBits((float) value);
      case ElementType.F64 f -> Double.doubleToRawLongBits(value);
      default ->
          throw new IllegalArgumentException(
              "elements of " + type + " are integers; fill with a long, not with " + value);
    };
  }

  /**
   * A float from which rounding to 16 bits gives what rounding the double at once would: rounding
   * to odd keeps the trace of what was cut off.
   */
  private static float onlyRoundedOnce(double value) {
    float nearest = (float) value;
    if (nearest == value || Double.isNaN(value) || Float.isInfinite(nearest)) {
      return nearest;
    }
    boolean odd = (Float.floatToRawIntBits(nearest) & 1) != 0;
    if (odd) {
      return nearest;
    }
    return nearest < value ? Math.nextUp(nearest) : Math.nextDown(nearest);
  }

  static long bitsOf(ElementType<?> type, long value) {
    if (type.isFloating()) {
      long bits = bitsOf(type, (double) value);
      double told = widened(type, bits);
      // The cast to long saturates: 2^63 and the infinities would pass for its limits.
      if (told < -0x1p63 || told >= 0x1p63 || (long) told != value) {
        throw new IllegalArgumentException(
            value + " cannot be told exactly as " + type + "; pass a double to have it rounded");
      }
      return bits;
    }
    boolean unsigned = type == ElementType.U8;
    int bits = type.byteSize() * Byte.SIZE;
    long least = unsigned ? 0 : -1L << (bits - 1);
    long most = unsigned ? (1L << bits) - 1 : ~least;
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          value + " does not fit " + type + " (" + least + " to " + most + ")");
    }
    return value;
  }

  private static double widened(ElementType<?> floating, long bits) {
    return switch (floating) {
      case ElementType.F32 f -> Float.intBitsToFloat((int) bits);
      case ElementType.F64 f -> Double.longBitsToDouble(bits);
      default -> SixteenBit.of(floating).widen((short) bits);
    };
  }

  static void fill(DeviceRange<?> range, long bits, Stream stream) {
    NativeStream target = range.usableOn(stream);
    Context context = range.context();
    context.checkPoison("cuMemsetD8Async");
    if (range.length() == 0) {
      return;
    }
    long address = range.rawAddress();
    long length = range.length();
    context.call("cuStreamWaitEvent", () -> range.allocation.write(target));
    context.run(
        "cuMemsetAsync",
        () -> {
          switch (range.type().byteSize()) {
            case 1 -> Driver.memsetD8Async(address, (byte) bits, length, target.handle());
            case 2 -> Driver.memsetD16Async(address, (short) bits, length, target.handle());
            case 4 -> Driver.memsetD32Async(address, (int) bits, length, target.handle());
            default -> fill64(address, bits, length, target);
          }
        });
  }

  /**
   * There is no 64-bit memset: if the halves differ, the first element is set by halves and then
   * doubled by copies.
   */
  private static void fill64(long address, long bits, long length, NativeStream stream) {
    int low = (int) bits;
    int high = (int) (bits >>> Integer.SIZE);
    if (low == high) {
      Driver.memsetD32Async(address, low, 2 * length, stream.handle());
      return;
    }
    Driver.memsetD32Async(address, low, 1, stream.handle());
    Driver.memsetD32Async(address + Integer.BYTES, high, 1, stream.handle());
    for (long done = 1; done < length; ) {
      long more = Math.min(done, length - done);
      Driver.memcpyDtoDAsync(
          address + done * Long.BYTES, address, more * Long.BYTES, stream.handle());
      done += more;
    }
  }
}

// The storage types as a host program sees them: bits, what they mean as a double, and how exact
// they are.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace runner {

// A 16-bit float: sign, kExponentBits, and the rest.
template <int kExponentBits>
struct Narrow {
  std::uint16_t bits;

  static constexpr int kFractionBits = 15 - kExponentBits;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  double value() const {
    const int exponent = (bits >> kFractionBits) & ((1 << kExponentBits) - 1);
    const int fraction = bits & ((1 << kFractionBits) - 1);
    const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == (1 << kExponentBits) - 1) {
      return fraction != 0 ? std::numeric_limits<double>::quiet_NaN() : sign * INFINITY;
    }
    const int implicit = exponent != 0 ? 1 << kFractionBits : 0;
    const int scale = (exponent != 0 ? exponent : 1) - kBias - kFractionBits;
    return sign * std::ldexp(implicit + fraction, scale);
  }

  // The nearest value towards zero; exact where x has few bits. Good enough to make inputs.
  static Narrow truncated(double x) {
    const std::uint16_t sign = std::signbit(x) ? 0x8000 : 0;
    if (std::isnan(x)) return {0x7fff};
    const int top = (1 << kExponentBits) - 1;
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);  // in [0.5, 1)
    const int biased = exponent - 1 + kBias;
    if (std::isinf(x) || biased >= top) {
      return {static_cast<std::uint16_t>(sign | (top << kFractionBits))};
    }
    if (x == 0.0 || biased <= 0) return {sign};
    const int digits = static_cast<int>((2.0 * fraction - 1.0) * (1 << kFractionBits));
    return {static_cast<std::uint16_t>(sign | (biased << kFractionBits) | digits)};
  }
};

struct F16 {
  using Storage = Narrow<5>;
  using Result = float;  // of a reduction
  static constexpr const char* kName = "f16";
  static constexpr int kMaxExponent = 16;          // every finite value is below 2^this
  static constexpr double kHalfUlp = 0x1p-11;      // relative, of a normal value
  static constexpr double kHalfSpacing = 0x1p-25;  // of the smallest values
  static constexpr double kArithmetic = 0x1p-24;
  static Storage make(double x) { return Storage::truncated(x); }
  static double value(Storage s) { return s.value(); }
};

struct BF16 {
  using Storage = Narrow<8>;
  using Result = float;
  static constexpr const char* kName = "bf16";
  static constexpr int kMaxExponent = 128;
  static constexpr double kHalfUlp = 0x1p-8;
  static constexpr double kHalfSpacing = 0x1p-134;
  static constexpr double kArithmetic = 0x1p-24;
  static Storage make(double x) { return Storage::truncated(x); }
  static double value(Storage s) { return s.value(); }
};

struct F32 {
  using Storage = float;
  using Result = float;
  static constexpr const char* kName = "f32";
  static constexpr int kMaxExponent = 128;
  static constexpr double kHalfUlp = 0x1p-24;
  static constexpr double kHalfSpacing = 0x1p-150;
  static constexpr double kArithmetic = 0x1p-24;
  static Storage make(double x) { return static_cast<float>(x); }
  static double value(Storage s) { return s; }
};

struct F64 {
  using Storage = double;
  using Result = double;
  static constexpr const char* kName = "f64";
  static constexpr int kMaxExponent = 1024;
  static constexpr double kHalfUlp = 0x1p-53;
  static constexpr double kHalfSpacing = 0x1p-1074;
  static constexpr double kArithmetic = 0x1p-53;
  static Storage make(double x) { return x; }
  static double value(Storage s) { return s; }
};

struct I32 {
  using Storage = std::int32_t;
  static constexpr const char* kName = "i32";
  static constexpr double kArithmetic = 0;
  static Storage make(double x) { return static_cast<Storage>(x); }
  static long double value(Storage s) { return s; }
};

struct I64 {
  using Storage = std::int64_t;
  static constexpr const char* kName = "i64";
  static constexpr double kArithmetic = 0;
  static Storage make(double x) { return static_cast<Storage>(x); }
  static long double value(Storage s) { return static_cast<long double>(s); }
};

}  // namespace runner

// The 8-bit formats e4m3 (no infinity, one NaN) and e5m2 (a short f16), bit for bit as
// cuda_fp8.h converts them (test/check_conversions.cpp compares).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace culebra_emu {

template <int kMantissaBits, std::uint8_t kLargestFinite>
struct TinyFloat {
  static constexpr int kBias = kMantissaBits == 3 ? 7 : 15;
  static constexpr std::uint8_t kNan = 0x7F;

  static float to_float(std::uint8_t bits) {
    const unsigned magnitude = bits & 0x7Fu;
    if (magnitude > kLargestFinite) {
      const bool infinite = kMantissaBits == 2 && magnitude == kLargestFinite + 1u;
      if (!infinite) return std::bit_cast<float>(0x7FFFFFFFu);
      return std::bit_cast<float>((bits & 0x80u) << 24 | 0x7F800000u);
    }
    const unsigned exponent = magnitude >> kMantissaBits;
    const unsigned mantissa = magnitude & ((1u << kMantissaBits) - 1);
    const unsigned implicit = exponent != 0 ? 1u << kMantissaBits : 0;
    const int scale = static_cast<int>(exponent != 0 ? exponent : 1) - kBias - kMantissaBits;
    const float value = std::ldexp(static_cast<float>(implicit + mantissa), scale);
    return (bits & 0x80u) != 0 ? -value : value;
  }

  // .rn.satfinite: to nearest even; what is too large, infinity too, becomes the largest finite.
  static std::uint8_t from_float(float value) {
    if (std::isnan(value)) return kNan;
    const auto sign = static_cast<std::uint8_t>(std::signbit(value) ? 0x80 : 0);
    const float magnitude = std::fabs(value);
    if (std::isinf(value)) return sign | kLargestFinite;
    constexpr int kSmallest = 1 - kBias;
    const int exponent = magnitude == 0.0f ? kSmallest : std::max(std::ilogb(magnitude), kSmallest);
    // In units of the last place, an exact scaling.
    const double scaled = std::ldexp(static_cast<double>(magnitude), kMantissaBits - exponent);
    const double floor = std::floor(scaled);
    auto units = static_cast<std::int64_t>(floor);
    const double rest = scaled - floor;
    if (rest > 0.5 || (rest == 0.5 && units % 2 != 0)) ++units;
    // A carry runs into the exponent, which is right.
    const std::int64_t bits = (std::int64_t{exponent - kSmallest} << kMantissaBits) + units;
    return sign | static_cast<std::uint8_t>(std::min<std::int64_t>(bits, kLargestFinite));
  }
};

using E4m3Format = TinyFloat<3, 0x7E>;
using E5m2Format = TinyFloat<2, 0x7B>;

}  // namespace culebra_emu

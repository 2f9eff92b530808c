// Conversions between float, double and a 16-bit format, in integer arithmetic so that no compiler
// flag changes them.
#pragma once

#include <bit>
#include <cstdint>

namespace culebra_emu {

template <unsigned kExponentBits, unsigned kMantissaBits>
struct NarrowFloat {
  static_assert(1 + kExponentBits + kMantissaBits == 16);

  static constexpr std::uint16_t kInfinity = ((1u << kExponentBits) - 1) << kMantissaBits;
  // What NVIDIA's conversions give for every NaN.
  static constexpr std::uint16_t kNan = 0x7FFF;
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;

  static constexpr std::uint16_t from_double(double value) {
    return narrow<std::uint64_t, 52, 11>(std::bit_cast<std::uint64_t>(value));
  }

  static constexpr std::uint16_t from_float(float value) {
    return narrow<std::uint32_t, 23, 8>(std::bit_cast<std::uint32_t>(value));
  }

  static constexpr float to_float(std::uint16_t bits) {
    constexpr int kFloatBias = 127;
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
    std::uint32_t exponent = (bits & 0x7FFFu) >> kMantissaBits;
    std::uint32_t mantissa = bits & ((1u << kMantissaBits) - 1);
    if constexpr (kExponentBits == 8) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
    } else if (exponent == (1u << kExponentBits) - 1) {
      return std::bit_cast<float>(mantissa != 0 ? 0x7FFFFFFFu : sign | 0x7F800000u);
    } else if (exponent == 0) {
      if (mantissa == 0) return std::bit_cast<float>(sign);
      // A subnormal here is a normal float: move the leading one to the implicit place.
      const int shift = std::countl_zero(mantissa) - (31 - static_cast<int>(kMantissaBits));
      mantissa = (mantissa << shift) & ((1u << kMantissaBits) - 1);
      exponent = static_cast<std::uint32_t>(kFloatBias - kBias + 1 - shift);
    } else {
      exponent = exponent + static_cast<std::uint32_t>(kFloatBias - kBias);
    }
    return std::bit_cast<float>(sign | (exponent << 23) | (mantissa << (23 - kMantissaBits)));
  }

 private:
  // Rounds to nearest, ties to even, straight from the wide format (through float would round a
  // double twice).
  template <class Bits, unsigned kWideMantissa, unsigned kWideExponent>
  static constexpr std::uint16_t narrow(Bits bits) {
    constexpr Bits kOne = 1;
    constexpr Bits kWideInfinity = ((kOne << kWideExponent) - 1) << kWideMantissa;
    constexpr int kWideBias = (1 << (kWideExponent - 1)) - 1;
    constexpr unsigned kDropped = kWideMantissa - kMantissaBits;
    const auto sign = static_cast<std::uint16_t>((bits >> (kWideMantissa + kWideExponent)) << 15);
    const Bits magnitude = bits & ((kOne << (kWideMantissa + kWideExponent)) - 1);
    if (magnitude > kWideInfinity) return kNan;
    if (magnitude == kWideInfinity) return sign | kInfinity;

    const int exponent = static_cast<int>(magnitude >> kWideMantissa) - kWideBias + kBias;
    if (exponent >= (1 << kExponentBits) - 1) return sign | kInfinity;
    Bits kept;
    unsigned dropped = kDropped;
    if (exponent >= 1) {
      kept = (static_cast<Bits>(exponent) << kWideMantissa) |
             (magnitude & ((kOne << kWideMantissa) - 1));
    } else {
      // Subnormal result: the implicit one becomes explicit and more bits go. (A subnormal wide
      // value has no implicit one, but it is far below half of the smallest result unless the
      // exponents have the same range.)
      const Bits implicit = (magnitude >> kWideMantissa) != 0 ? kOne << kWideMantissa : 0;
      kept = (magnitude & ((kOne << kWideMantissa) - 1)) | implicit;
      const int extra = implicit != 0 ? 1 - exponent : -exponent;
      if (extra > static_cast<int>(kMantissaBits) + 1) return sign;
      dropped += static_cast<unsigned>(extra);
    }
    const Bits half = kOne << (dropped - 1);
    const Bits rest = kept & ((kOne << dropped) - 1);
    kept >>= dropped;
    // A carry runs into the exponent, which is right: up to the next binade, and from the last one
    // to infinity.
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
    return static_cast<std::uint16_t>(sign | kept);
  }
};

}  // namespace culebra_emu

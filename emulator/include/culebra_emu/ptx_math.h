// Arithmetic: approximate functions (exact to the last bit or so here: a test must not rely on the
// hardware's error), packed 16-bit arithmetic, conversions, bit fields.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "culebra_emu/bf16.h"
#include "culebra_emu/fp16.h"
#include "culebra_emu/fp8.h"
#include "culebra_emu/math.h"
#include "culebra_emu/narrow_arithmetic.h"

namespace culebra_emu {

inline float canonical_nan() { return __uint_as_float(0x7FFFFFFFu); }
inline float with_canonical_nan(float value) { return std::isnan(value) ? canonical_nan() : value; }

// .ftz: a subnormal number counts, and comes out, as a zero of its sign.
inline float flush_to_zero(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

// The larger or smaller of two with -0 below +0; a NaN in gives the canonical NaN.
inline float max_NaN_f32(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return canonical_nan();
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

inline float min_NaN_f32(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return canonical_nan();
  if (a == b) return std::signbit(a) ? a : b;
  return b < a ? b : a;
}

// In double, so that the result is rounded once.
template <class Function>
float approximate(float a, Function function) {
  return with_canonical_nan(static_cast<float>(function(static_cast<double>(a))));
}
template <class Function>
float approximate_ftz(float a, Function function) {
  return flush_to_zero(approximate(flush_to_zero(a), function));
}

#define CULEBRA_EMU_APPROXIMATE(name, expression)                             \
  inline float name##_approx_f32(float a) {                                   \
    return approximate(a, [](double x) -> double { return expression; });     \
  }                                                                           \
  inline float name##_approx_ftz_f32(float a) {                               \
    return approximate_ftz(a, [](double x) -> double { return expression; }); \
  }
CULEBRA_EMU_APPROXIMATE(ex2, std::exp2(x))
CULEBRA_EMU_APPROXIMATE(lg2, std::log2(x))
CULEBRA_EMU_APPROXIMATE(rcp, 1.0 / x)
CULEBRA_EMU_APPROXIMATE(rsqrt, 1.0 / std::sqrt(x))
CULEBRA_EMU_APPROXIMATE(sqrt, std::sqrt(x))
#undef CULEBRA_EMU_APPROXIMATE

inline float tanh_approx_f32(float a) {
  return approximate(a, [](double x) { return std::tanh(x); });
}

// Two 16-bit numbers in a register, the first one in the low half.

struct F16x2 {
  static float first(std::uint32_t pair) {
    return HalfFormat::to_float(static_cast<std::uint16_t>(pair));
  }
  static std::uint16_t narrow(float value) { return HalfFormat::from_float(value); }
  static std::uint16_t narrow(double value) { return HalfFormat::from_double(value); }
};
struct Bf16x2 {
  static float first(std::uint32_t pair) {
    return Bfloat16Format::to_float(static_cast<std::uint16_t>(pair));
  }
  static std::uint16_t narrow(float value) { return Bfloat16Format::from_float(value); }
  static std::uint16_t narrow(double value) { return Bfloat16Format::from_double(value); }
};

// The function is given floats and gives what is rounded once to 16 bits: double holds any product
// of two 16-bit numbers and nearly any sum exactly.
template <class Pair, class Function, class... Pairs>
std::uint32_t for_each_half(Function function, Pairs... pairs) {
  const std::uint32_t low = Pair::narrow(function(Pair::first(pairs)...));
  const std::uint32_t high = Pair::narrow(function(Pair::first(pairs >> 16)...));
  return low | high << 16;
}

inline std::uint32_t ex2_approx_f16x2(std::uint32_t a) {
  return for_each_half<F16x2>([](float x) { return std::exp2(static_cast<double>(x)); }, a);
}
inline std::uint32_t ex2_approx_ftz_bf16x2(std::uint32_t a) {
  return for_each_half<Bf16x2>([](float x) { return ex2_approx_ftz_f32(x); }, a);
}
inline std::uint32_t tanh_approx_f16x2(std::uint32_t a) {
  return for_each_half<F16x2>([](float x) { return std::tanh(static_cast<double>(x)); }, a);
}
inline std::uint32_t tanh_approx_bf16x2(std::uint32_t a) {
  return for_each_half<Bf16x2>([](float x) { return std::tanh(static_cast<double>(x)); }, a);
}

#define CULEBRA_EMU_PACKED(suffix, Pair)                                                           \
  inline std::uint32_t fma_rn_##suffix(std::uint32_t a, std::uint32_t b, std::uint32_t c) {        \
    return for_each_half<Pair>([](float x, float y, float z) { return fused(x, y, z); }, a, b, c); \
  }                                                                                                \
  inline std::uint32_t add_rn_##suffix(std::uint32_t a, std::uint32_t b) {                         \
    return for_each_half<Pair>([](float x, float y) { return fused(x, 1.0f, y); }, a, b);          \
  }                                                                                                \
  inline std::uint32_t mul_rn_##suffix(std::uint32_t a, std::uint32_t b) {                         \
    return for_each_half<Pair>([](float x, float y) { return static_cast<double>(x) * y; }, a, b); \
  }                                                                                                \
  inline std::uint32_t max_NaN_##suffix(std::uint32_t a, std::uint32_t b) {                        \
    return for_each_half<Pair>([](float x, float y) { return max_NaN_f32(x, y); }, a, b);          \
  }                                                                                                \
  inline std::uint32_t min_NaN_##suffix(std::uint32_t a, std::uint32_t b) {                        \
    return for_each_half<Pair>([](float x, float y) { return min_NaN_f32(x, y); }, a, b);          \
  }
CULEBRA_EMU_PACKED(f16x2, F16x2)
CULEBRA_EMU_PACKED(bf16x2, Bf16x2)
#undef CULEBRA_EMU_PACKED

// Conversions. As in PTX the first operand becomes the upper half.

inline std::uint32_t cvt_rn_f16x2_f32(float high, float low) {
  return static_cast<std::uint32_t>(HalfFormat::from_float(high)) << 16 |
         HalfFormat::from_float(low);
}
inline std::uint32_t cvt_rn_bf16x2_f32(float high, float low) {
  return static_cast<std::uint32_t>(Bfloat16Format::from_float(high)) << 16 |
         Bfloat16Format::from_float(low);
}

template <class Format>
std::uint16_t to_tiny_pair(float high, float low) {
  return static_cast<std::uint16_t>(Format::from_float(high) << 8 | Format::from_float(low));
}
template <class Format>
std::uint32_t from_tiny_pair(std::uint16_t pair) {
  return cvt_rn_f16x2_f32(Format::to_float(static_cast<std::uint8_t>(pair >> 8)),
                          Format::to_float(static_cast<std::uint8_t>(pair)));
}
#define CULEBRA_EMU_TINY(suffix, Format)                                        \
  inline std::uint16_t cvt_rn_satfinite_##suffix##_f32(float high, float low) { \
    return to_tiny_pair<Format>(high, low);                                     \
  }                                                                             \
  inline std::uint16_t cvt_rn_satfinite_##suffix##_f16x2(std::uint32_t pair) {  \
    return to_tiny_pair<Format>(F16x2::first(pair >> 16), F16x2::first(pair));  \
  }                                                                             \
  inline std::uint32_t cvt_rn_f16x2_##suffix(std::uint16_t pair) {              \
    return from_tiny_pair<Format>(pair);                                        \
  }
CULEBRA_EMU_TINY(e4m3x2, E4m3Format)
CULEBRA_EMU_TINY(e5m2x2, E5m2Format)
#undef CULEBRA_EMU_TINY

// To nearest, ties away from zero, 10 bits behind the point; the low 13 bits are zero.
inline std::uint32_t cvt_rna_tf32_f32(float value) {
  const std::uint32_t bits = __float_as_uint(value);
  if (std::isnan(value)) return 0x7FFFFFFFu;
  if (std::isinf(value)) return bits;
  return (bits + 0x1000u) & 0xFFFFE000u;
}

// Bits.

// Each nibble of the selector picks a byte of the eight in b:a; its top bit asks for that byte's
// sign in all bits.
inline std::uint32_t prmt_b32(std::uint32_t a, std::uint32_t b, std::uint32_t selector) {
  const std::uint64_t bytes = static_cast<std::uint64_t>(b) << 32 | a;
  std::uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t nibble = selector >> (4 * i) & 0xF;
    std::uint32_t byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7))) & 0xFF;
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xFF : 0;
    result |= byte << (8 * i);
  }
  return result;
}

// Bit i of the table is the result for the bits (a, b, c) = i.
inline std::uint32_t lop3_b32(std::uint32_t a, std::uint32_t b, std::uint32_t c, unsigned table) {
  std::uint32_t result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    if ((table >> i & 1) == 0) continue;
    result |= ((i & 4) != 0 ? a : ~a) & ((i & 2) != 0 ? b : ~b) & ((i & 1) != 0 ? c : ~c);
  }
  return result;
}

// `bits` bits from `first` on; only the low byte of each counts.
inline std::uint32_t bfe_u32(std::uint32_t a, std::uint32_t first, std::uint32_t bits) {
  first &= 0xFF;
  bits &= 0xFF;
  if (bits == 0 || first > 31) return 0;
  a >>= first;
  return bits >= 32 ? a : a & ((1u << bits) - 1);
}
inline std::int32_t bfe_s32(std::int32_t a, std::uint32_t first, std::uint32_t bits) {
  first &= 0xFF;
  bits &= 0xFF;
  if (bits == 0) return 0;
  // What lies beyond the top is its sign.
  const std::int64_t wide = static_cast<std::int64_t>(a) >> (first > 31 ? 31 : first);
  if (bits >= 32) return static_cast<std::int32_t>(wide);
  const int unused = 64 - static_cast<int>(bits);
  return static_cast<std::int32_t>(
      static_cast<std::int64_t>(static_cast<std::uint64_t>(wide) << unused) >> unused);
}

}  // namespace culebra_emu

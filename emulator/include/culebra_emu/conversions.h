// CUDA's conversions between f32, f64, i32, u32, i64 and u64, with the rounding in the name, and
// the bit casts. (A plain cast of what the integer cannot hold is undefined in C++, and differs
// here from a device.)
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "culebra_emu/rounding.h"

namespace culebra_emu {

template <Round kRound, class Float>
Float rounded_to_whole(Float value) {
  if constexpr (kRound == Round::kNearest) return std::nearbyint(value);
  if constexpr (kRound == Round::kZero) return std::trunc(value);
  if constexpr (kRound == Round::kDown) return std::floor(value);
  return std::ceil(value);
}

// The nearest integer of the type to what is too large or too small for it. A NaN gives 0 if both
// types have at most 32 bits, else the top bit alone.
template <Round kRound, class Integer, class Float>
Integer to_integer(Float value) {
  using Limits = std::numeric_limits<Integer>;
  if (std::isnan(value)) {
    if (sizeof(Float) <= 4 && sizeof(Integer) <= 4) return 0;
    return static_cast<Integer>(std::make_unsigned_t<Integer>{1} << (8 * sizeof(Integer) - 1));
  }
  const Float whole = rounded_to_whole<kRound>(value);
  // A power of two, as the largest integer need not be a Float.
  const Float end = std::ldexp(Float{1}, Limits::digits);
  if (whole >= end) return Limits::max();
  if (whole < (std::is_signed_v<Integer> ? -end : Float{0})) return Limits::min();
  return static_cast<Integer>(whole);
}

template <Round kRound, class Float, class Integer>
Float from_integer(Integer value) {
  const auto nearest = static_cast<Float>(value);
  // (Up to 2^64, which is no Integer any more.)
  const auto back = static_cast<__int128>(nearest);
  return directed<kRound>(nearest, compare(static_cast<__int128>(value), back));
}

template <Round kRound>
float to_float(double value) {
  const auto nearest = static_cast<float>(value);
  return directed<kRound>(nearest, compare(value, static_cast<double>(nearest)));
}

}  // namespace culebra_emu

#define CULEBRA_EMU_CONVERSIONS_OF(name, Integer, suffix, mode) \
  inline Integer __float2##name##_##suffix(float a) {           \
    return culebra_emu::to_integer<mode, Integer>(a);           \
  }                                                             \
  inline Integer __double2##name##_##suffix(double a) {         \
    return culebra_emu::to_integer<mode, Integer>(a);           \
  }                                                             \
  inline float __##name##2float_##suffix(Integer a) {           \
    return culebra_emu::from_integer<mode, float>(a);           \
  }
#define CULEBRA_EMU_CONVERSIONS(suffix, mode)                           \
  CULEBRA_EMU_CONVERSIONS_OF(int, int, suffix, mode)                    \
  CULEBRA_EMU_CONVERSIONS_OF(uint, unsigned int, suffix, mode)          \
  CULEBRA_EMU_CONVERSIONS_OF(ll, long long int, suffix, mode)           \
  CULEBRA_EMU_CONVERSIONS_OF(ull, unsigned long long int, suffix, mode) \
  inline double __ll2double_##suffix(long long int a) {                 \
    return culebra_emu::from_integer<mode, double>(a);                  \
  }                                                                     \
  inline double __ull2double_##suffix(unsigned long long int a) {       \
    return culebra_emu::from_integer<mode, double>(a);                  \
  }                                                                     \
  inline float __double2float_##suffix(double a) { return culebra_emu::to_float<mode>(a); }
CULEBRA_EMU_CONVERSIONS(rn, culebra_emu::Round::kNearest)
CULEBRA_EMU_CONVERSIONS(rz, culebra_emu::Round::kZero)
CULEBRA_EMU_CONVERSIONS(rd, culebra_emu::Round::kDown)
CULEBRA_EMU_CONVERSIONS(ru, culebra_emu::Round::kUp)
#undef CULEBRA_EMU_CONVERSIONS
#undef CULEBRA_EMU_CONVERSIONS_OF

// Exact.
inline double __int2double_rn(int a) { return a; }
inline double __uint2double_rn(unsigned int a) { return a; }

inline unsigned int __float_as_uint(float a) { return std::bit_cast<unsigned int>(a); }
inline int __float_as_int(float a) { return std::bit_cast<int>(a); }
inline float __uint_as_float(unsigned int a) { return std::bit_cast<float>(a); }
inline float __int_as_float(int a) { return std::bit_cast<float>(a); }
inline long long int __double_as_longlong(double a) { return std::bit_cast<long long int>(a); }
inline double __longlong_as_double(long long int a) { return std::bit_cast<double>(a); }
inline int __double2hiint(double a) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(a) >> 32);
}
inline int __double2loint(double a) { return static_cast<int>(std::bit_cast<std::uint64_t>(a)); }
inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(static_cast<unsigned int>(high)) << 32 |
                               static_cast<unsigned int>(low));
}

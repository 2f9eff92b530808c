// Arithmetic of __half and __nv_bfloat16 as CUDA's headers have it. Each operation is done in
// double, where it is exact or rounded to odd, and rounded once to 16 bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "culebra_emu/bf16.h"
#include "culebra_emu/conversions.h"
#include "culebra_emu/fp16.h"
#include "culebra_emu/rounding.h"

namespace culebra_emu {

template <class T>
struct FormatOfNarrow;
template <>
struct FormatOfNarrow<__half> {
  using type = HalfFormat;
  using Pair = __half2;
};
template <>
struct FormatOfNarrow<__nv_bfloat16> {
  using type = Bfloat16Format;
  using Pair = __nv_bfloat162;
};
template <class T>
using FormatOf = typename FormatOfNarrow<T>::type;
template <class T>
using PairOf = typename FormatOfNarrow<T>::Pair;

template <class T>
T of_bits(std::uint16_t bits) {
  T result;
  result.__x = bits;
  return result;
}
template <class T>
T narrow_nan() {
  return of_bits<T>(FormatOf<T>::kNan);
}
template <class T>
double wide(T a) {
  return FormatOf<T>::to_float(a.__x);
}
template <class T>
bool is_nan(T a) {
  return (a.__x & 0x7FFF) > FormatOf<T>::kInfinity;
}

// The neighbour of `nearest` that the mode asks for; `beyond` has the sign of exact - nearest.
template <Round kRound>
std::uint16_t directed_bits(std::uint16_t nearest, int beyond) {
  const bool negative = (nearest & 0x8000) != 0;
  const bool is_zero = (nearest & 0x7FFF) == 0;
  if (kRound == Round::kNearest || beyond == 0) return nearest;
  if (kRound == Round::kZero && is_zero) return nearest;
  const bool down = kRound == Round::kDown || (kRound == Round::kZero && !negative);
  if (down == (beyond > 0)) return nearest;
  if (is_zero) return down ? 0x8001 : 0x0001;
  return static_cast<std::uint16_t>(negative == down ? nearest + 1 : nearest - 1);
}

template <class T, Round kRound = Round::kNearest>
T narrowed(double value) {
  const std::uint16_t nearest = FormatOf<T>::from_double(value);
  if (std::isnan(value)) return of_bits<T>(nearest);
  const double back = FormatOf<T>::to_float(nearest);
  return of_bits<T>(directed_bits<kRound>(nearest, compare(value, back)));
}

// The double that is odd in its last place where it is not exact: a second rounding goes right.
inline double odd_double(long double value) {
  const auto nearest = static_cast<double>(value);
  const int beyond = compare(value, static_cast<long double>(nearest));
  const auto bits = std::bit_cast<std::uint64_t>(nearest);
  if (beyond == 0 || (bits & 1) != 0 || !std::isfinite(nearest)) return nearest;
  return std::bit_cast<double>((beyond > 0) == (nearest > 0) ? bits + 1 : bits - 1);
}

template <class T, Round kRound, class Integer>
T narrow_from_integer(Integer value) {
  return narrowed<T, kRound>(odd_double(static_cast<long double>(value)));
}

// A product is exact in float, and its sum with a third number in double nearly always; the
// rounding to odd in between keeps the second rounding right also where it is not.
inline double sum_rounded_to_odd(double a, double b) {
  const double sum = a + b;
  const double in_b = sum - a;
  const double lost = (a - (sum - in_b)) + (b - in_b);
  if (lost == 0.0 || !std::isfinite(sum)) return sum;
  const std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  if ((bits & 1) != 0) return sum;
  // The exact value lies beside an even number: take the odd neighbour on its side.
  const bool away = (lost > 0) == (sum > 0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}
inline double fused(double a, double b, double c) { return sum_rounded_to_odd(a * b, c); }

template <class T>
T narrow_add(T a, T b) {
  return narrowed<T>(sum_rounded_to_odd(wide(a), wide(b)));
}
template <class T>
T narrow_sub(T a, T b) {
  return narrowed<T>(sum_rounded_to_odd(wide(a), -wide(b)));
}
template <class T>
T narrow_mul(T a, T b) {
  return narrowed<T>(wide(a) * wide(b));
}
template <class T>
T narrow_div(T a, T b) {
  return narrowed<T>(wide(a) / wide(b));
}
template <class T>
T narrow_fma(T a, T b, T c) {
  return narrowed<T>(fused(wide(a), wide(b), wide(c)));
}

// Between 0 and 1; a NaN becomes 0.
template <class T>
T saturated(T a) {
  const double value = wide(a);
  return value > 0 ? (value < 1 ? a : narrowed<T>(1.0)) : of_bits<T>(0);
}
template <class T>
T rectified(T a) {
  if (is_nan(a)) return narrow_nan<T>();
  return wide(a) > 0 ? a : of_bits<T>(0);
}
template <class T>
T negated(T a) {
  return of_bits<T>(a.__x ^ 0x8000);
}
template <class T>
T absolute(T a) {
  return of_bits<T>(a.__x & 0x7FFF);
}

// +0 is above -0. A NaN gives way to a number, or with kNan comes out.
template <class T, bool kNan>
T larger(T a, T b) {
  if (is_nan(a) || is_nan(b)) {
    if (kNan || (is_nan(a) && is_nan(b))) return narrow_nan<T>();
    return is_nan(a) ? b : a;
  }
  if (wide(a) == wide(b)) return (a.__x & 0x8000) != 0 ? b : a;
  return wide(a) < wide(b) ? b : a;
}
template <class T, bool kNan>
T smaller(T a, T b) {
  return negated(larger<T, kNan>(negated(a), negated(b)));
}
template <class T, bool kNan>
T smaller_number(T a, T b) {
  const T result = smaller<T, kNan>(a, b);
  return is_nan(result) ? narrow_nan<T>() : result;
}

}  // namespace culebra_emu

#define CULEBRA_EMU_NARROW_BINARY(T, name, function)                                               \
  inline T __h##name(T a, T b) { return function(a, b); }                                          \
  inline culebra_emu::PairOf<T> __h##name##2(culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b) { \
    return {function(a.x, b.x), function(a.y, b.y)};                                               \
  }
// In the four forms: as it is, never fused with another operation (here nothing is), saturated.
#define CULEBRA_EMU_NARROW_SUM(T, name)                                          \
  CULEBRA_EMU_NARROW_BINARY(T, name, culebra_emu::narrow_##name)                 \
  inline T __h##name##_rn(T a, T b) { return culebra_emu::narrow_##name(a, b); } \
  inline T __h##name##_sat(T a, T b) {                                           \
    return culebra_emu::saturated(culebra_emu::narrow_##name(a, b));             \
  }                                                                              \
  inline culebra_emu::PairOf<T> __h##name##2_rn(culebra_emu::PairOf<T> a,        \
                                                culebra_emu::PairOf<T> b) {      \
    return __h##name##2(a, b);                                                   \
  }                                                                              \
  inline culebra_emu::PairOf<T> __h##name##2_sat(culebra_emu::PairOf<T> a,       \
                                                 culebra_emu::PairOf<T> b) {     \
    return {__h##name##_sat(a.x, b.x), __h##name##_sat(a.y, b.y)};               \
  }
#define CULEBRA_EMU_NARROW_FMA(T, suffix, after)                                             \
  inline T __hfma##suffix(T a, T b, T c) { return after(culebra_emu::narrow_fma(a, b, c)); } \
  inline culebra_emu::PairOf<T> __hfma2##suffix(                                             \
      culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b, culebra_emu::PairOf<T> c) {        \
    return {__hfma##suffix(a.x, b.x, c.x), __hfma##suffix(a.y, b.y, c.y)};                   \
  }
#define CULEBRA_EMU_NARROW_EXTREME(T, name, function)                                              \
  inline T __h##name(T a, T b) { return culebra_emu::function<T, false>(a, b); }                   \
  inline T __h##name##_nan(T a, T b) { return culebra_emu::function<T, true>(a, b); }              \
  inline culebra_emu::PairOf<T> __h##name##2(culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b) { \
    return {__h##name(a.x, b.x), __h##name(a.y, b.y)};                                             \
  }                                                                                                \
  inline culebra_emu::PairOf<T> __h##name##2_nan(culebra_emu::PairOf<T> a,                         \
                                                 culebra_emu::PairOf<T> b) {                       \
    return {__h##name##_nan(a.x, b.x), __h##name##_nan(a.y, b.y)};                                 \
  }
// Of numbers; and the same which also holds if one of them is a NaN.
#define CULEBRA_EMU_NARROW_COMPARE(T, name, operation)                                          \
  CULEBRA_EMU_NARROW_COMPARE_AS(T, name, wide(a) operation wide(b) && !is_nan(a) && !is_nan(b)) \
  CULEBRA_EMU_NARROW_COMPARE_AS(T, name##u, wide(a) operation wide(b) || is_nan(a) || is_nan(b))
#define CULEBRA_EMU_NARROW_COMPARE_AS(T, name, expression)                                         \
  inline bool __h##name(T a, T b) {                                                                \
    using namespace culebra_emu;                                                                   \
    return expression;                                                                             \
  }                                                                                                \
  inline bool __hb##name##2(culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b) {                  \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                             \
  }                                                                                                \
  inline culebra_emu::PairOf<T> __h##name##2(culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b) { \
    return {culebra_emu::narrowed<T>(__h##name(a.x, b.x) ? 1.0 : 0.0),                             \
            culebra_emu::narrowed<T>(__h##name(a.y, b.y) ? 1.0 : 0.0)};                            \
  }                                                                                                \
  inline unsigned int __h##name##2_mask(culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b) {      \
    return (__h##name(a.x, b.x) ? 0xFFFFu : 0u) | (__h##name(a.y, b.y) ? 0xFFFF0000u : 0u);        \
  }
#define CULEBRA_EMU_NARROW_UNARY(T, name, expression)                \
  inline T h##name(T a) {                                            \
    const double x = culebra_emu::wide(a);                           \
    return culebra_emu::narrowed<T>(expression);                     \
  }                                                                  \
  inline culebra_emu::PairOf<T> h2##name(culebra_emu::PairOf<T> a) { \
    return {h##name(a.x), h##name(a.y)};                             \
  }
#define CULEBRA_EMU_NARROW_INTEGER(T, type, name, Integer, suffix, mode)     \
  inline Integer __##type##2##name##_##suffix(T a) {                         \
    return culebra_emu::to_integer<culebra_emu::Round::mode, Integer>(       \
        culebra_emu::FormatOf<T>::to_float(a.__x));                          \
  }                                                                          \
  inline T __##name##2##type##_##suffix(Integer a) {                         \
    return culebra_emu::narrow_from_integer<T, culebra_emu::Round::mode>(a); \
  }
#define CULEBRA_EMU_NARROW_ROUNDED(T, type, suffix, mode)                   \
  CULEBRA_EMU_NARROW_INTEGER(T, type, short, short, suffix, mode)           \
  CULEBRA_EMU_NARROW_INTEGER(T, type, ushort, unsigned short, suffix, mode) \
  CULEBRA_EMU_NARROW_INTEGER(T, type, int, int, suffix, mode)               \
  CULEBRA_EMU_NARROW_INTEGER(T, type, uint, unsigned int, suffix, mode)     \
  CULEBRA_EMU_NARROW_INTEGER(T, type, ll, long long int, suffix, mode)      \
  CULEBRA_EMU_NARROW_INTEGER(T, type, ull, unsigned long long int, suffix, mode)

#define CULEBRA_EMU_NARROW(T, type, pair)                                                      \
  CULEBRA_EMU_NARROW_SUM(T, add)                                                               \
  CULEBRA_EMU_NARROW_SUM(T, sub)                                                               \
  CULEBRA_EMU_NARROW_SUM(T, mul)                                                               \
  CULEBRA_EMU_NARROW_FMA(T, , )                                                                \
  CULEBRA_EMU_NARROW_FMA(T, _sat, culebra_emu::saturated)                                      \
  CULEBRA_EMU_NARROW_FMA(T, _relu, culebra_emu::rectified)                                     \
  inline T __hdiv(T a, T b) { return culebra_emu::narrow_div(a, b); }                          \
  inline culebra_emu::PairOf<T> __h2div(culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b) {  \
    return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)};                                               \
  }                                                                                            \
  inline T __hneg(T a) { return culebra_emu::negated(a); }                                     \
  inline T __habs(T a) { return culebra_emu::absolute(a); }                                    \
  inline culebra_emu::PairOf<T> __hneg2(culebra_emu::PairOf<T> a) {                            \
    return {__hneg(a.x), __hneg(a.y)};                                                         \
  }                                                                                            \
  inline culebra_emu::PairOf<T> __habs2(culebra_emu::PairOf<T> a) {                            \
    return {__habs(a.x), __habs(a.y)};                                                         \
  }                                                                                            \
  /* A complex product and a sum, the imaginary part above. */                                 \
  inline culebra_emu::PairOf<T> __hcmadd(culebra_emu::PairOf<T> a, culebra_emu::PairOf<T> b,   \
                                         culebra_emu::PairOf<T> c) {                           \
    return {__hfma(__hneg(a.y), b.y, __hfma(a.x, b.x, c.x)),                                   \
            __hfma(a.y, b.x, __hfma(a.x, b.y, c.y))};                                          \
  }                                                                                            \
  CULEBRA_EMU_NARROW_EXTREME(T, max, larger)                                                   \
  CULEBRA_EMU_NARROW_EXTREME(T, min, smaller_number)                                           \
  CULEBRA_EMU_NARROW_COMPARE(T, eq, ==)                                                        \
  CULEBRA_EMU_NARROW_COMPARE(T, ne, !=)                                                        \
  CULEBRA_EMU_NARROW_COMPARE(T, lt, <)                                                         \
  CULEBRA_EMU_NARROW_COMPARE(T, le, <=)                                                        \
  CULEBRA_EMU_NARROW_COMPARE(T, gt, >)                                                         \
  CULEBRA_EMU_NARROW_COMPARE(T, ge, >=)                                                        \
  inline bool __hisnan(T a) { return culebra_emu::is_nan(a); }                                 \
  inline int __hisinf(T a) {                                                                   \
    const bool infinite = (a.__x & 0x7FFF) == culebra_emu::FormatOf<T>::kInfinity;             \
    return infinite ? ((a.__x & 0x8000) != 0 ? -1 : 1) : 0;                                    \
  }                                                                                            \
  inline culebra_emu::PairOf<T> __hisnan2(culebra_emu::PairOf<T> a) {                          \
    return {culebra_emu::narrowed<T>(__hisnan(a.x) ? 1.0 : 0.0),                               \
            culebra_emu::narrowed<T>(__hisnan(a.y) ? 1.0 : 0.0)};                              \
  }                                                                                            \
  CULEBRA_EMU_NARROW_UNARY(T, ceil, std::ceil(x))                                              \
  CULEBRA_EMU_NARROW_UNARY(T, floor, std::floor(x))                                            \
  CULEBRA_EMU_NARROW_UNARY(T, trunc, std::trunc(x))                                            \
  CULEBRA_EMU_NARROW_UNARY(T, rint, std::nearbyint(x))                                         \
  CULEBRA_EMU_NARROW_UNARY(T, sqrt, std::sqrt(x))                                              \
  CULEBRA_EMU_NARROW_UNARY(T, rsqrt, 1 / std::sqrt(x))                                         \
  CULEBRA_EMU_NARROW_UNARY(T, rcp, 1 / x)                                                      \
  CULEBRA_EMU_NARROW_UNARY(T, exp, std::exp(x))                                                \
  CULEBRA_EMU_NARROW_UNARY(T, exp2, std::exp2(x))                                              \
  CULEBRA_EMU_NARROW_UNARY(T, exp10, exp10(x))                                                 \
  CULEBRA_EMU_NARROW_UNARY(T, log, std::log(x))                                                \
  CULEBRA_EMU_NARROW_UNARY(T, log2, std::log2(x))                                              \
  CULEBRA_EMU_NARROW_UNARY(T, log10, std::log10(x))                                            \
  CULEBRA_EMU_NARROW_UNARY(T, sin, std::sin(x))                                                \
  CULEBRA_EMU_NARROW_UNARY(T, cos, std::cos(x))                                                \
  CULEBRA_EMU_NARROW_UNARY(T, tanh, std::tanh(x))                                              \
  CULEBRA_EMU_NARROW_UNARY(T, tanh_approx, std::tanh(x))                                       \
  CULEBRA_EMU_NARROW_ROUNDED(T, type, rn, kNearest)                                            \
  CULEBRA_EMU_NARROW_ROUNDED(T, type, rz, kZero)                                               \
  CULEBRA_EMU_NARROW_ROUNDED(T, type, rd, kDown)                                               \
  CULEBRA_EMU_NARROW_ROUNDED(T, type, ru, kUp)                                                 \
  inline signed char __##type##2char_rz(T a) {                                                 \
    return culebra_emu::to_integer<culebra_emu::Round::kZero, signed char>(                    \
        culebra_emu::FormatOf<T>::to_float(a.__x));                                            \
  }                                                                                            \
  inline unsigned char __##type##2uchar_rz(T a) {                                              \
    return culebra_emu::to_integer<culebra_emu::Round::kZero, unsigned char>(                  \
        culebra_emu::FormatOf<T>::to_float(a.__x));                                            \
  }                                                                                            \
  inline T __float2##type##_rz(float a) {                                                      \
    return culebra_emu::narrowed<T, culebra_emu::Round::kZero>(a);                             \
  }                                                                                            \
  inline T __float2##type##_rd(float a) {                                                      \
    return culebra_emu::narrowed<T, culebra_emu::Round::kDown>(a);                             \
  }                                                                                            \
  inline T __float2##type##_ru(float a) {                                                      \
    return culebra_emu::narrowed<T, culebra_emu::Round::kUp>(a);                               \
  }                                                                                            \
  inline culebra_emu::PairOf<T> __##type##2##pair(T a) { return {a, a}; }                      \
  inline culebra_emu::PairOf<T> __low2##pair(culebra_emu::PairOf<T> a) { return {a.x, a.x}; }  \
  inline culebra_emu::PairOf<T> __high2##pair(culebra_emu::PairOf<T> a) { return {a.y, a.y}; } \
  inline culebra_emu::PairOf<T> __lows2##pair(culebra_emu::PairOf<T> a,                        \
                                              culebra_emu::PairOf<T> b) {                      \
    return {a.x, b.x};                                                                         \
  }                                                                                            \
  inline culebra_emu::PairOf<T> __highs2##pair(culebra_emu::PairOf<T> a,                       \
                                               culebra_emu::PairOf<T> b) {                     \
    return {a.y, b.y};                                                                         \
  }                                                                                            \
  inline culebra_emu::PairOf<T> __lowhigh2highlow(culebra_emu::PairOf<T> a) { return {a.y, a.x}; }

CULEBRA_EMU_NARROW(__half, half, half2)
CULEBRA_EMU_NARROW(__nv_bfloat16, bfloat16, bfloat162)

#undef CULEBRA_EMU_NARROW
#undef CULEBRA_EMU_NARROW_ROUNDED
#undef CULEBRA_EMU_NARROW_INTEGER
#undef CULEBRA_EMU_NARROW_UNARY
#undef CULEBRA_EMU_NARROW_COMPARE_AS
#undef CULEBRA_EMU_NARROW_COMPARE
#undef CULEBRA_EMU_NARROW_EXTREME
#undef CULEBRA_EMU_NARROW_FMA
#undef CULEBRA_EMU_NARROW_SUM
#undef CULEBRA_EMU_NARROW_BINARY

// The operators of numbers and of pairs. (A pair compares equal, less ... if both numbers do.)
#define CULEBRA_EMU_OPERATORS(T, add, sub, mul, div, neg, one)     \
  inline T operator+(const T& a, const T& b) { return add(a, b); } \
  inline T operator-(const T& a, const T& b) { return sub(a, b); } \
  inline T operator*(const T& a, const T& b) { return mul(a, b); } \
  inline T operator/(const T& a, const T& b) { return div(a, b); } \
  inline T operator+(const T& a) { return a; }                     \
  inline T operator-(const T& a) { return neg(a); }                \
  inline T& operator+=(T& a, const T& b) { return a = add(a, b); } \
  inline T& operator-=(T& a, const T& b) { return a = sub(a, b); } \
  inline T& operator*=(T& a, const T& b) { return a = mul(a, b); } \
  inline T& operator/=(T& a, const T& b) { return a = div(a, b); } \
  inline T& operator++(T& a) { return a = add(a, one(1.0f)); }     \
  inline T& operator--(T& a) { return a = sub(a, one(1.0f)); }     \
  inline T operator++(T& a, int) {                                 \
    const T before = a;                                            \
    ++a;                                                           \
    return before;                                                 \
  }                                                                \
  inline T operator--(T& a, int) {                                 \
    const T before = a;                                            \
    --a;                                                           \
    return before;                                                 \
  }
CULEBRA_EMU_OPERATORS(__half, __hadd, __hsub, __hmul, __hdiv, __hneg, __float2half)
CULEBRA_EMU_OPERATORS(__half2, __hadd2, __hsub2, __hmul2, __h2div, __hneg2, __float2half2_rn)
CULEBRA_EMU_OPERATORS(__nv_bfloat16, __hadd, __hsub, __hmul, __hdiv, __hneg, __float2bfloat16)
CULEBRA_EMU_OPERATORS(__nv_bfloat162, __hadd2, __hsub2, __hmul2, __h2div, __hneg2,
                      __float2bfloat162_rn)
#undef CULEBRA_EMU_OPERATORS

#define CULEBRA_EMU_RELATION(operation, name)                                                  \
  inline bool operator operation(const __half& a, const __half& b) { return __h##name(a, b); } \
  inline bool operator operation(const __half2& a, const __half2& b) {                         \
    return __hb##name##2(a, b);                                                                \
  }                                                                                            \
  inline bool operator operation(const __nv_bfloat16& a, const __nv_bfloat16& b) {             \
    return __h##name(a, b);                                                                    \
  }                                                                                            \
  inline bool operator operation(const __nv_bfloat162& a, const __nv_bfloat162& b) {           \
    return __hb##name##2(a, b);                                                                \
  }
CULEBRA_EMU_RELATION(==, eq)
CULEBRA_EMU_RELATION(!=, neu)
CULEBRA_EMU_RELATION(<, lt)
CULEBRA_EMU_RELATION(<=, le)
CULEBRA_EMU_RELATION(>, gt)
CULEBRA_EMU_RELATION(>=, ge)
#undef CULEBRA_EMU_RELATION

// The members that convert, as they need the functions above.
#define CULEBRA_EMU_NARROW_MEMBERS_OF(T, Integer)                                     \
  inline T::T(Integer value) {                                                        \
    *this = culebra_emu::narrow_from_integer<T, culebra_emu::Round::kNearest>(value); \
  }                                                                                   \
  inline T::operator Integer() const {                                                \
    return culebra_emu::to_integer<culebra_emu::Round::kZero, Integer>(               \
        culebra_emu::FormatOf<T>::to_float(__x));                                     \
  }
#define CULEBRA_EMU_NARROW_MEMBERS(T)                  \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, short)              \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, unsigned short)     \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, int)                \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, unsigned int)       \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, long)               \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, unsigned long)      \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, long long)          \
  CULEBRA_EMU_NARROW_MEMBERS_OF(T, unsigned long long) \
  inline T::operator bool() const { return (__x & 0x7FFF) != 0; }
CULEBRA_EMU_NARROW_MEMBERS(__half)
CULEBRA_EMU_NARROW_MEMBERS(__nv_bfloat16)
#undef CULEBRA_EMU_NARROW_MEMBERS
#undef CULEBRA_EMU_NARROW_MEMBERS_OF

// CUDA's arithmetic with a rounding in the name: to nearest even (_rn), towards zero (_rz), down
// (_rd), up (_ru). The nearest result is the CPU's own; on which side of it the exact one lies is
// then found by an exact comparison in a type of twice the digits, and the neighbour on that side
// taken where the mode asks for it. No rounding mode of the CPU is changed.
//
// Images are compiled with contraction off, so that each operation rounds once, as its name says.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

namespace culebra_emu {

enum class Round { kNearest, kZero, kDown, kUp };

// Holds any product of two doubles exactly.
#if defined(__SIZEOF_FLOAT128__)
using Quad = __float128;
#else
using Quad = long double;
static_assert(std::numeric_limits<long double>::digits >= 2 * 53);
#endif

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, Quad>;

// The result in the mode; `nearest` is the rounded one, `beyond` has the sign of exact - nearest.
template <Round kRound, class T>
T directed(T nearest, int beyond) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if constexpr (kRound == Round::kNearest) return nearest;
  if (beyond == 0 || std::isnan(nearest)) return nearest;
  const bool down = kRound == Round::kDown ||
                    (kRound == Round::kZero && (nearest > 0 || (nearest == 0 && beyond > 0)));
  if (down == (beyond > 0)) return nearest;
  const T neighbour = std::nextafter(nearest, down ? -kInfinity : kInfinity);
  // Keeps the sign of what is rounded to zero.
  return neighbour == 0 ? std::copysign(neighbour, nearest) : neighbour;
}

template <class T>
int compare(T a, T b) {
  return (a > b) - (a < b);
}

// A sum of 0 from other terms than zeros of one sign is -0 if one rounds down, else +0.
template <Round kRound, class T>
T signed_zero(T sum, T a, T b) {
  if constexpr (kRound == Round::kDown) {
    const bool both_positive = a == 0 && b == 0 && !std::signbit(a) && !std::signbit(b);
    if (sum == 0 && !both_positive) return -T{0};
  }
  return sum;
}

template <class T>
bool all_finite(T a, T b, T c = 0) {
  return std::isfinite(a) && std::isfinite(b) && std::isfinite(c);
}

template <Round kRound, class T>
T add(T a, T b) {
  const T sum = a + b;
  if (sum == 0) return signed_zero<kRound>(sum, a, b);
  if (!all_finite(a, b)) return sum;
  if (std::isinf(sum)) return directed<kRound>(sum, sum > 0 ? -1 : 1);
  // What the sum has lost is exact.
  const T in_b = sum - a;
  const T lost = (a - (sum - in_b)) + (b - in_b);
  return directed<kRound>(sum, compare(lost, T{0}));
}

template <Round kRound, class T>
T multiply(T a, T b) {
  const T product = a * b;
  if (!all_finite(a, b)) return product;
  const Wide<T> exact = static_cast<Wide<T>>(a) * b;
  return directed<kRound>(product, compare(exact, static_cast<Wide<T>>(product)));
}

template <Round kRound, class T>
T fused_multiply_add(T a, T b, T c) {
  const T result = std::fma(a, b, c);
  if (!all_finite(a, b, c)) return result;
  const Wide<T> product = static_cast<Wide<T>>(a) * b;
  if (result == 0 && product == -static_cast<Wide<T>>(c)) {
    const T sign_of_product = std::copysign(product == 0 ? T{0} : T{1}, a * b);
    return signed_zero<kRound>(result, sign_of_product, c);
  }
  // Where the wide sum is another number than the result, rounding has not hidden on which side of
  // it the exact one lies; where it is the same, what the wide sum has lost tells.
  const Wide<T> sum = product + c;
  const int beyond = compare(sum, static_cast<Wide<T>>(result));
  if (beyond != 0) return directed<kRound>(result, beyond);
  const Wide<T> in_c = sum - product;
  const Wide<T> lost = (product - (sum - in_c)) + (static_cast<Wide<T>>(c) - in_c);
  return directed<kRound>(result, compare(lost, Wide<T>{0}));
}

template <Round kRound, class T>
T divide(T a, T b) {
  const T quotient = a / b;
  if (!all_finite(a, b) || b == 0) return quotient;
  if (std::isinf(quotient)) return directed<kRound>(quotient, quotient > 0 ? -1 : 1);
  const int above = compare(static_cast<Wide<T>>(a), static_cast<Wide<T>>(quotient) * b);
  return directed<kRound>(quotient, b > 0 ? above : -above);
}

template <Round kRound, class T>
T square_root(T a) {
  const T root = std::sqrt(a);
  if (!std::isfinite(a) || !(a > 0)) return root;
  return directed<kRound>(root,
                          compare(static_cast<Wide<T>>(a), static_cast<Wide<T>>(root) * root));
}

}  // namespace culebra_emu

#define CULEBRA_EMU_ARITHMETIC(suffix, mode)                                                      \
  inline float __fadd_##suffix(float a, float b) { return culebra_emu::add<mode>(a, b); }         \
  inline float __fsub_##suffix(float a, float b) { return culebra_emu::add<mode>(a, -b); }        \
  inline float __fmul_##suffix(float a, float b) { return culebra_emu::multiply<mode>(a, b); }    \
  inline float __fdiv_##suffix(float a, float b) { return culebra_emu::divide<mode>(a, b); }      \
  inline float __frcp_##suffix(float a) { return culebra_emu::divide<mode>(1.0f, a); }            \
  inline float __fsqrt_##suffix(float a) { return culebra_emu::square_root<mode>(a); }            \
  inline float __fmaf_##suffix(float a, float b, float c) {                                       \
    return culebra_emu::fused_multiply_add<mode>(a, b, c);                                        \
  }                                                                                               \
  inline float __fmaf_ieee_##suffix(float a, float b, float c) {                                  \
    return culebra_emu::fused_multiply_add<mode>(a, b, c);                                        \
  }                                                                                               \
  inline double __dadd_##suffix(double a, double b) { return culebra_emu::add<mode>(a, b); }      \
  inline double __dsub_##suffix(double a, double b) { return culebra_emu::add<mode>(a, -b); }     \
  inline double __dmul_##suffix(double a, double b) { return culebra_emu::multiply<mode>(a, b); } \
  inline double __ddiv_##suffix(double a, double b) { return culebra_emu::divide<mode>(a, b); }   \
  inline double __drcp_##suffix(double a) { return culebra_emu::divide<mode>(1.0, a); }           \
  inline double __dsqrt_##suffix(double a) { return culebra_emu::square_root<mode>(a); }          \
  inline double __fma_##suffix(double a, double b, double c) {                                    \
    return culebra_emu::fused_multiply_add<mode>(a, b, c);                                        \
  }
CULEBRA_EMU_ARITHMETIC(rz, culebra_emu::Round::kZero)
CULEBRA_EMU_ARITHMETIC(rd, culebra_emu::Round::kDown)
CULEBRA_EMU_ARITHMETIC(ru, culebra_emu::Round::kUp)
#undef CULEBRA_EMU_ARITHMETIC

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fmaf_ieee_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __frsqrt_rn(float a) {
  return static_cast<float>(1.0L / std::sqrt(static_cast<long double>(a)));
}
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dsub_rn(double a, double b) { return a - b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline double __ddiv_rn(double a, double b) { return a / b; }
inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }
inline double __dsqrt_rn(double a) { return std::sqrt(a); }
inline double __drcp_rn(double a) { return 1.0 / a; }

// CUDA's mathematical functions that the C library lacks. Computed in long double and rounded once,
// so that they are as good as exact.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace culebra_emu {

inline constexpr long double kPi = 3.14159265358979323846264338327950288L;
inline constexpr long double kRootOfPi = 1.77245385090551602729816748334114518L;
inline constexpr long double kRootOfTwo = 1.41421356237309504880168872420969808L;
inline constexpr long double kLongInfinity = std::numeric_limits<long double>::infinity();
inline constexpr long double kLongNan = std::numeric_limits<long double>::quiet_NaN();

// sin(pi x / 2) of a quarter: x is reduced exactly, so whole and half numbers give whole results.
struct HalfTurns {
  unsigned quarter;  // modulo 4
  long double rest;  // in quarters of a turn, at most half of one

  explicit HalfTurns(long double x) {
    const long double turns = std::fmod(x, 2.0L);
    const long double nearest = std::nearbyint(2 * turns);
    quarter = static_cast<unsigned>(static_cast<int>(nearest)) & 3;
    rest = turns - nearest / 2;
  }
  long double sine(unsigned advance) const {
    const long double angle = kPi * rest;
    switch ((quarter + advance) & 3) {
      case 0:
        return std::sin(angle);
      case 1:
        return std::cos(angle);
      case 2:
        return -std::sin(angle);
      default:
        return -std::cos(angle);
    }
  }
};

inline long double sinpi_of(long double x) {
  if (!std::isfinite(x)) return kLongNan;
  const long double result = HalfTurns(x).sine(0);
  return result == 0 ? std::copysign(0.0L, x) : result;
}
inline long double cospi_of(long double x) {
  if (!std::isfinite(x)) return kLongNan;
  const long double result = HalfTurns(x).sine(1);
  return result == 0 ? 0.0L : result;
}

// e^(x^2) erfc(x)
inline long double erfcx_of(long double x) {
  // There the product has lost nothing yet, and beyond it the series needs few terms.
  constexpr long double kFar = 25;
  if (!(x > kFar)) return std::exp(x * x) * std::erfc(x);
  if (std::isinf(x)) return 0;
  long double sum = 1, term = 1;
  for (int n = 1; n < 12; ++n) {
    term *= -(2 * n - 1) / (2 * x * x);
    sum += term;
  }
  return sum / (x * kRootOfPi);
}

// The x for which erf(x) = y, where |y| < 0.75, by Halley's steps, each of which triples the
// digits.
inline long double central_erfinv(long double y) {
  long double x = y * kRootOfPi / 2;
  for (int i = 0; i < 8; ++i) {
    const long double newton = (y - std::erf(x)) * std::exp(x * x) * kRootOfPi / 2;
    x += newton / (1 + x * newton);
  }
  return y == 0 ? y : x;
}

// The x > 0 for which erfc(x) = c, where 0 < c < 0.75: of their logarithms, which are nearly
// straight, so that Newton's steps go well also where c is next to nothing.
inline long double upper_erfcinv(long double c) {
  const long double wanted = std::log(c);
  long double x = std::sqrt(std::max(-wanted - std::log(std::max(-wanted, 1.0L)) / 2, 0.1L));
  for (int i = 0; i < 12; ++i) {
    const long double scaled = erfcx_of(x);
    const long double step = (std::log(scaled) - x * x - wanted) * scaled * kRootOfPi / 2;
    x += step;
    if (std::fabs(step) <= 1e-19L * x) break;
  }
  return x;
}

inline long double erfcinv_of(long double c) {
  if (!(c >= 0 && c <= 2)) return kLongNan;
  if (c == 0) return kLongInfinity;
  if (c == 2) return -kLongInfinity;
  // Near 1 its distance from there counts.
  if (c > 0.5L && c < 1.5L) return central_erfinv(1 - c);
  return c <= 1 ? upper_erfcinv(c) : -upper_erfcinv(2 - c);
}

inline long double erfinv_of(long double y) {
  const long double magnitude = std::fabs(y);
  if (!(magnitude <= 1)) return kLongNan;
  if (magnitude == 1) return std::copysign(kLongInfinity, y);
  if (magnitude < 0.5L) return central_erfinv(y);
  return std::copysign(upper_erfcinv(1 - magnitude), y);
}

inline long double normcdf_of(long double x) { return std::erfc(-x / kRootOfTwo) / 2; }
inline long double normcdfinv_of(long double p) { return -kRootOfTwo * erfcinv_of(2 * p); }

// The root of a sum of squares; infinite if one of them is, whatever the others. The squares of
// doubles fit into a long double.
template <class T>
long double norm_of(std::initializer_list<T> values) {
  long double sum = 0;
  bool infinite = false;
  for (const T value : values) {
    infinite |= std::isinf(value);
    sum += static_cast<long double>(value) * value;
  }
  return infinite ? kLongInfinity : std::sqrt(sum);
}
template <class T>
long double norm_of(int count, const T* values) {
  long double sum = 0;
  bool infinite = false;
  for (int i = 0; i < count; ++i) {
    infinite |= std::isinf(values[i]);
    sum += static_cast<long double>(values[i]) * values[i];
  }
  return infinite ? kLongInfinity : std::sqrt(sum);
}

// The modified Bessel functions of the first kind, of order 0 or 1: a series of positive terms.
inline long double cyl_bessel_i(int order, long double x) {
  if (std::isnan(x)) return x;
  // Beyond any double.
  constexpr long double kOverflow = 1000;
  const long double magnitude = std::fabs(x);
  const long double sign = order == 1 && std::signbit(x) ? -1 : 1;
  if (magnitude > kOverflow) return sign * kLongInfinity;
  const long double quarter = magnitude * magnitude / 4;
  long double term = order == 0 ? 1 : magnitude / 2;
  long double sum = 0;
  for (int k = 1; term > sum * 1e-21L; ++k) {
    sum += term;
    term *= quarter / (static_cast<long double>(k) * (k + order));
  }
  return sign * (sum + term);
}

}  // namespace culebra_emu

// Under C's names for double and float, and under one name for both.
#define CULEBRA_EMU_SPECIAL(name, x, expression) \
  inline float name##f(float a) {                \
    const long double x = a;                     \
    return static_cast<float>(expression);       \
  }                                              \
  inline float name(float a) { return name##f(a); }
#define CULEBRA_EMU_SPECIAL_DOUBLE(name, x, expression) \
  inline double name(double a) {                        \
    const long double x = a;                            \
    return static_cast<double>(expression);             \
  }
#define CULEBRA_EMU_SPECIAL_BOTH(name, x, expression) \
  CULEBRA_EMU_SPECIAL(name, x, expression)            \
  CULEBRA_EMU_SPECIAL_DOUBLE(name, x, expression)

// Newer C libraries have some of these.
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 41)
#define CULEBRA_EMU_HAS_SINPI
inline float sinpi(float a) { return sinpif(a); }
inline float cospi(float a) { return cospif(a); }
#endif
#if __GLIBC_PREREQ(2, 42)
#define CULEBRA_EMU_HAS_RSQRT
inline float rsqrt(float a) { return rsqrtf(a); }
#endif
#endif
#ifndef CULEBRA_EMU_HAS_SINPI
CULEBRA_EMU_SPECIAL_BOTH(sinpi, x, culebra_emu::sinpi_of(x))
CULEBRA_EMU_SPECIAL_BOTH(cospi, x, culebra_emu::cospi_of(x))
#endif
#ifndef CULEBRA_EMU_HAS_RSQRT
CULEBRA_EMU_SPECIAL_BOTH(rsqrt, x, 1 / std::sqrt(x))
#endif
CULEBRA_EMU_SPECIAL_BOTH(rcbrt, x, 1 / std::cbrt(x))
CULEBRA_EMU_SPECIAL_BOTH(erfcx, x, culebra_emu::erfcx_of(x))
CULEBRA_EMU_SPECIAL_BOTH(erfinv, x, culebra_emu::erfinv_of(x))
CULEBRA_EMU_SPECIAL_BOTH(erfcinv, x, culebra_emu::erfcinv_of(x))
CULEBRA_EMU_SPECIAL_BOTH(normcdf, x, culebra_emu::normcdf_of(x))
CULEBRA_EMU_SPECIAL_BOTH(normcdfinv, x, culebra_emu::normcdfinv_of(x))
// (CUDA has no float forms under the common name for these.)
inline double cyl_bessel_i0(double a) {
  return static_cast<double>(culebra_emu::cyl_bessel_i(0, a));
}
inline float cyl_bessel_i0f(float a) { return static_cast<float>(culebra_emu::cyl_bessel_i(0, a)); }
inline double cyl_bessel_i1(double a) {
  return static_cast<double>(culebra_emu::cyl_bessel_i(1, a));
}
inline float cyl_bessel_i1f(float a) { return static_cast<float>(culebra_emu::cyl_bessel_i(1, a)); }
#undef CULEBRA_EMU_SPECIAL_BOTH
#undef CULEBRA_EMU_SPECIAL_DOUBLE
#undef CULEBRA_EMU_SPECIAL

inline void sincospi(double a, double* sine, double* cosine) {
  *sine = sinpi(a);
  *cosine = cospi(a);
}
inline void sincospif(float a, float* sine, float* cosine) {
  *sine = sinpif(a);
  *cosine = cospif(a);
}
inline void sincospi(float a, float* sine, float* cosine) { sincospif(a, sine, cosine); }

#define CULEBRA_EMU_NORMS(T, f)                                                                 \
  inline T rhypot##f(T a, T b) { return static_cast<T>(1 / culebra_emu::norm_of({a, b})); }     \
  inline T norm3d##f(T a, T b, T c) { return static_cast<T>(culebra_emu::norm_of({a, b, c})); } \
  inline T rnorm3d##f(T a, T b, T c) {                                                          \
    return static_cast<T>(1 / culebra_emu::norm_of({a, b, c}));                                 \
  }                                                                                             \
  inline T norm4d##f(T a, T b, T c, T d) {                                                      \
    return static_cast<T>(culebra_emu::norm_of({a, b, c, d}));                                  \
  }                                                                                             \
  inline T rnorm4d##f(T a, T b, T c, T d) {                                                     \
    return static_cast<T>(1 / culebra_emu::norm_of({a, b, c, d}));                              \
  }                                                                                             \
  inline T norm##f(int count, const T* values) {                                                \
    return static_cast<T>(culebra_emu::norm_of(count, values));                                 \
  }                                                                                             \
  inline T rnorm##f(int count, const T* values) {                                               \
    return static_cast<T>(1 / culebra_emu::norm_of(count, values));                             \
  }
CULEBRA_EMU_NORMS(double, )
CULEBRA_EMU_NORMS(float, f)
#undef CULEBRA_EMU_NORMS

// The C library has these for double, and for float by another name.
inline float exp10(float a) { return exp10f(a); }
inline void sincos(float a, float* sine, float* cosine) { sincosf(a, sine, cosine); }
inline float j0(float a) { return j0f(a); }
inline float j1(float a) { return j1f(a); }
inline float jn(int n, float a) { return jnf(n, a); }
inline float y0(float a) { return y0f(a); }
inline float y1(float a) { return y1f(a); }
inline float yn(int n, float a) { return ynf(n, a); }

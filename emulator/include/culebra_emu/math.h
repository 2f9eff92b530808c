// CUDA's math in the global namespace, for float and double: the C library's, min and max, and the
// fast functions, which are exact ones here: a test must not rely on the hardware's error.
#pragma once

// C's header as C++ has it: exp(float) and its like in the global namespace, else a float would go
// through double.
#include <math.h>

#include <cmath>
#include <type_traits>

#include "culebra_emu/conversions.h"
#include "culebra_emu/integer.h"
#include "culebra_emu/rounding.h"
#include "culebra_emu/simd.h"
#include "culebra_emu/special_functions.h"

template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr auto max(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmax(static_cast<T>(a), static_cast<T>(b));
  } else {
    return static_cast<T>(a) < static_cast<T>(b) ? static_cast<T>(b) : static_cast<T>(a);
  }
}

template <class A, class B>
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
constexpr auto min(A a, B b) {
  using T = std::common_type_t<A, B>;
  if constexpr (std::is_floating_point_v<T>) {
    return std::fmin(static_cast<T>(a), static_cast<T>(b));
  } else {
    return static_cast<T>(b) < static_cast<T>(a) ? static_cast<T>(b) : static_cast<T>(a);
  }
}

// The fast ones are as exact as the others here.
inline float __expf(float a) { return std::exp(a); }
inline float __exp10f(float a) { return exp10f(a); }
inline float __logf(float a) { return std::log(a); }
inline float __log2f(float a) { return std::log2(a); }
inline float __log10f(float a) { return std::log10(a); }
inline float __powf(float a, float b) { return std::pow(a, b); }
inline float __sinf(float a) { return std::sin(a); }
inline float __cosf(float a) { return std::cos(a); }
inline void __sincosf(float a, float* sine, float* cosine) {
  *sine = std::sin(a);
  *cosine = std::cos(a);
}
inline float __tanf(float a) { return std::tan(a); }
inline float __tanhf(float a) { return std::tanh(a); }
inline float __fdividef(float a, float b) { return a / b; }
inline float fdividef(float a, float b) { return a / b; }
inline double fdivide(double a, double b) { return a / b; }
inline float __saturatef(float a) { return a > 0.0f ? (a < 1.0f ? a : 1.0f) : 0.0f; }

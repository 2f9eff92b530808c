// The operators of plain reductions: neutral element and combination. All are exactly commutative.
#pragma once

#include <type_traits>

#include "culebra/math.cuh"
#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"
#include "culebra/warp.cuh"

namespace culebra {

template <class T>
struct Sum {
  static constexpr T kNeutral = T(0);
  __device__ __forceinline__ T operator()(T a, T b) const { return a + b; }

  // For a team: the sum over `lanes` lanes, a power of two, all of which call together; each gets
  // the same bits, which a multiplication merged into one side's addition would spoil.
  __device__ __forceinline__ T across(T value, unsigned lanes) const {
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      value = add_rn(value, shuffle_xor(value, distance));
    }
    return value;
  }
};

// A NaN on either side is the result. There is no max.NaN.f64, so doubles compare.
template <class T>
struct Max {
  static constexpr T kNeutral = kLeast<T>;
  __device__ __forceinline__ T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return a < b ? b : a;
    } else {
      return a != a ? a : b != b ? b : max_of(a, b);
    }
  }
};
template <>
__device__ __forceinline__ float Max<float>::operator()(float a, float b) const {
  return ptx::max_NaN_f32(a, b);
}

template <class T>
struct Min {
  static constexpr T kNeutral = kGreatest<T>;
  __device__ __forceinline__ T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      return b < a ? b : a;
    } else {
      return -Max<T>()(-a, -b);
    }
  }
};
template <>
__device__ __forceinline__ float Min<float>::operator()(float a, float b) const {
  return ptx::min_NaN_f32(a, b);
}

}  // namespace culebra

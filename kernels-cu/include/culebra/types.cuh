// Storage types, the type each is computed in, and the way between them.
//
// Statistics are kept in fp32 at least, whatever the storage type: f16, bf16 and f32 accumulate in
// float, f64 in double. Conversions to 16 bits round to nearest even; NaN stays NaN, and what is
// too large for f16 becomes infinite. Integers are compared as they are.
#pragma once

#include "culebra/platform.cuh"

namespace culebra {

// The names that symbols, tables and the kernel index use.
using f16 = __half;
using bf16 = __nv_bfloat16;
using f32 = float;
using f64 = double;
using i32 = int32_t;
using i64 = int64_t;

namespace detail {
template <class T>
struct AccumulatorOf {
  using type = float;
};
template <>
struct AccumulatorOf<f64> {
  using type = double;
};
template <>
struct AccumulatorOf<i32> {
  using type = i32;
};
template <>
struct AccumulatorOf<i64> {
  using type = i64;
};
}  // namespace detail

template <class T>
using Accumulator = typename detail::AccumulatorOf<T>::type;

template <class A>
inline constexpr A kInfinity = std::numeric_limits<A>::infinity();

// What no element is below, and above: of floating types the infinities.
template <class A>
inline constexpr A kLeast = std::numeric_limits<A>::has_infinity ? -kInfinity<A>
                                                                 : std::numeric_limits<A>::min();
template <class A>
inline constexpr A kGreatest = std::numeric_limits<A>::has_infinity ? kInfinity<A>
                                                                    : std::numeric_limits<A>::max();

template <class A>
inline constexpr A kLog2e = A(1.4426950408889634);

__device__ __forceinline__ float to_accumulator(f16 x) { return __half2float(x); }
__device__ __forceinline__ float to_accumulator(bf16 x) { return __bfloat162float(x); }
__device__ __forceinline__ float to_accumulator(f32 x) { return x; }
__device__ __forceinline__ double to_accumulator(f64 x) { return x; }
__device__ __forceinline__ i32 to_accumulator(i32 x) { return x; }
__device__ __forceinline__ i64 to_accumulator(i64 x) { return x; }

template <class T>
__device__ __forceinline__ T from_accumulator(Accumulator<T> x) {
  return x;
}
template <>
__device__ __forceinline__ f16 from_accumulator<f16>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ __forceinline__ bf16 from_accumulator<bf16>(float x) {
  return __float2bfloat16_rn(x);
}

}  // namespace culebra

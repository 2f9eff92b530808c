// The gradient of a softmax, element by element, and the sum over its row that it takes.
//
// Of a softmax y: sum = sum of y * dy, and dx = scale * y * (dy - sum). Halves are subtracted, so
// that the difference of finite numbers is finite; twice the scale makes up for it. Of its
// logarithm y: sum = sum of dy, and dx = scale * (dy - exp(y) * sum).
//
// What weighs nothing takes no part: where y is 0 (log: -inf) dy is not looked at, so that it may
// be anything behind a mask or a row's end, and dx is 0.
#pragma once

#include "culebra/math.cuh"
#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"
#include "culebra/vec.cuh"

namespace culebra {

template <class T, bool kLog>
class SoftmaxGradient {
  using A = Accumulator<T>;

 public:
  __device__ __forceinline__ explicit SoftmaxGradient(A scale, A sum = A(0))
      : scale_(kLog ? scale : A(2) * scale), sum_(kLog ? sum : A(0.5) * sum) {}

  // Where an element of y has no part.
  static __device__ __forceinline__ bool is_out(A y) {
    return kLog ? y == -kInfinity<A> : y == A(0);
  }

  // `sum` and the element's share of it.
  static __device__ __forceinline__ A added(A sum, A y, A dy) {
    if (is_out(y)) return sum;
    return kLog ? sum + dy : fma_rn(y, dy, sum);
  }

  __device__ __forceinline__ A dx(A y, A dy) const {
    if (is_out(y)) return A(0);
    if constexpr (kLog) {
      return fma_rn(-weight(y), sum_, dy) * scale_;
    } else {
      return y * fma_rn(dy, A(0.5), -sum_) * scale_;
    }
  }

 private:
  // exp(y). A result of 16 bits takes the approximate 2^x, which may give 0 for what is below the
  // smallest normal number.
  static __device__ __forceinline__ A weight(A y) {
    if constexpr (sizeof(T) == 2) {
      return ptx::ex2_approx_ftz_f32(y * kLog2e<A>);
    } else {
      return exp_of(y);
    }
  }

  A scale_;
  A sum_;
};

// What an element of y is that is not there.
template <class T>
__device__ __forceinline__ T softmax_padding(bool log) {
  using A = Accumulator<T>;
  return from_accumulator<T>(log ? -kInfinity<A> : A(0));
}

// The sum of the calling thread's elements. Each place of a pack has a sum of its own: additions
// then wait for each other less, and lose less.
template <class T, bool kLog, class Row>
__device__ __forceinline__ Accumulator<T> gradient_sum(const Row& y, const Row& dy) {
  using A = Accumulator<T>;
  A sums[kPackSize<T>] = {};
  y.for_each_with(dy, [&](int place, A y_value, A dy_value) {
    sums[place] = SoftmaxGradient<T, kLog>::added(sums[place], y_value, dy_value);
  });
#pragma unroll
  for (int step = kPackSize<T> / 2; step > 0; step /= 2) {
#pragma unroll
    for (int i = 0; i < step; ++i) sums[i] = add_rn(sums[i], sums[i + step]);
  }
  return sums[0];
}

template <class T, class Row>
__device__ __forceinline__ Accumulator<T> gradient_sum(const Row& y, const Row& dy, bool log) {
  return log ? gradient_sum<T, true>(y, dy) : gradient_sum<T, false>(y, dy);
}

// Writes the gradient of `count` elements, given the sum of the whole row.
template <class T, class Row>
__device__ __forceinline__ void store_gradient(const Row& y, const Row& dy, T* dx, int count,
                                               bool log, Accumulator<T> scale, Accumulator<T> sum) {
  using A = Accumulator<T>;
  if (log) {
    const SoftmaxGradient<T, true> gradient(scale, sum);
    y.store_with(dy, dx, count, [&](A a, A b) { return gradient.dx(a, b); });
  } else {
    const SoftmaxGradient<T, false> gradient(scale, sum);
    y.store_with(dy, dx, count, [&](A a, A b) { return gradient.dx(a, b); });
  }
}

}  // namespace culebra

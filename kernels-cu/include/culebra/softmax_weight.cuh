// How an element of a softmax is weighed against a maximum m: exp((x - m) * scale).
//
// Rows are prepared first: multiplied by the scale's sign, so that the largest product is that of
// the largest element. Then halves of x and m are subtracted, so that the difference of finite
// elements is finite; twice the scale's magnitude makes up for it. The difference is taken before
// the product, which keeps it exact where x is near m.
//
// f32 and f64 take the accurate exponential. A result of 16 bits takes the approximate 2^x, whose
// error is a hundredth of that result's rounding.
#pragma once

#include "culebra/math.cuh"
#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"

namespace culebra {

template <class T>
class SoftmaxWeight {
  using A = Accumulator<T>;
  static constexpr bool kFast = sizeof(T) == 2;

  // 2^x as ptx gives it has no denormals, but a bf16 has: results are computed times 2^24, and
  // divided by as much where they are normalised.
  static constexpr int kLiftExponent = kFast ? 24 : 0;
  static constexpr A kLift = A(1 << kLiftExponent);

 public:
  __device__ __forceinline__ explicit SoftmaxWeight(A signed_scale)
      : signed_scale_(signed_scale),
        scale_(signed_scale == A(0) ? A(1)
                                    : A(2) * (signed_scale < A(0) ? -signed_scale : signed_scale)),
        factor_(kFast ? scale_ * kLog2e<A> : scale_) {}

  // Twice the magnitude of the scale; never 0.
  __device__ __forceinline__ A scale() const { return scale_; }

  // What a masked element is before it is prepared.
  __device__ __forceinline__ T masked() const {
    return from_accumulator<T>(signed_scale_ < A(0) ? kInfinity<A> : -kInfinity<A>);
  }

  // With a scale of 0 all finite elements are equal, and -inf is still masked.
  template <class Row>
  __device__ __forceinline__ void prepare(Row& row) const {
    if (signed_scale_ < A(0)) {
      row.transform([](int, T x) { return from_accumulator<T>(-to_accumulator(x)); });
    } else if (signed_scale_ == A(0)) {
      row.transform([](int, T x) {
        const A value = to_accumulator(x);
        return value == -kInfinity<A> ? x : from_accumulator<T>(value - value);
      });
    }
  }

  // The exponent, of a logarithmic result.
  __device__ __forceinline__ A exponent(A x, A half_m) const {
    return fma_rn(x, A(0.5), -half_m) * scale_;
  }

  // The weight as a term of the sum; what is below the smallest normal number may be 0.
  __device__ __forceinline__ A term(A x, A half_m) const {
    const A difference = fma_rn(x, A(0.5), -half_m) * factor_;
    if constexpr (kFast) {
      return ptx::ex2_approx_ftz_f32(difference);
    } else {
      return exp_of(difference);
    }
  }

  // The weight times 2^24 or 1, and what to multiply it by to have it divided by d.
  __device__ __forceinline__ A result(A x, A half_m) const {
    const A difference = fma_rn(x, A(0.5), -half_m);
    if constexpr (kFast) {
      return ptx::ex2_approx_ftz_f32(fma_rn(difference, factor_, A(kLiftExponent)));
    } else {
      return exp_of(difference * factor_);
    }
  }
  __device__ __forceinline__ A share(A d) const { return A(1) / (d * kLift); }

 private:
  A signed_scale_;
  A scale_;
  A factor_;
};

}  // namespace culebra

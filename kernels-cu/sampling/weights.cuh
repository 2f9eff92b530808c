// How an element of a row is weighed, in integers.
//
// The distance of x is log2 of how much less probable it is than the largest element m:
// (m - x) * log2(e) / temperature. Its mass is 2^(bits - distance), cut to an integer: sums of
// masses are exact, so they do not depend on who adds what when.
#pragma once

#include "culebra/math.cuh"
#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"

namespace culebra {

class SamplingWeights {
 public:
  // Of a row of `length` elements with finite `largest` and `least`.
  __device__ __forceinline__ SamplingWeights(float largest, float least, float temperature,
                                             uint32_t length, int bins)
      : half_largest_(kHalf * largest),
        factor_(2.0f * kLog2e<float> / temperature),
        bits_(static_cast<float>(mass_bits(length))),
        unit_(static_cast<float>(uint64_t{1} << mass_bits(length))),
        last_bin_(bins - 1) {
    const float farthest = distance(least);
    const float range = farthest < bits_ ? farthest : bits_;
    const float per_bit = static_cast<float>(bins) / range;
    bins_a_bit_ = per_bit < kMostBinsABit ? per_bit : kMostBinsABit;
  }

  // Whether distances are numbers: not at a temperature of 0, of either sign, or so low that it
  // makes no difference.
  __device__ __forceinline__ bool are_usable() const {
    return factor_ >= 0.0f && factor_ < kInfinity<float>;
  }

  // Never less for a smaller x; halved, so that the difference of finite elements is finite. +inf
  // or NaN for -inf.
  __device__ __forceinline__ float distance(float x) const {
    return fma_rn(x, -kHalf, half_largest_) * factor_;
  }

  // Whether its mass is not 0.
  __device__ __forceinline__ bool is_present(float distance) const { return distance <= bits_; }

  // Of one that is present.
  __device__ __forceinline__ uint64_t mass(float distance) const {
    return static_cast<uint64_t>(ptx::ex2_approx_ftz_f32(-distance) * unit_);
  }

  // Of one that is present; never less for a larger distance.
  __device__ __forceinline__ int bin(float distance) const {
    const int bin = static_cast<int>(distance * bins_a_bit_);
    return bin < last_bin_ ? bin : last_bin_;
  }

 private:
  static constexpr float kHalf = 0.5f;
  static constexpr float kMostBinsABit = 0x1p100f;

  // The sum over a row stays below 2^64.
  static __device__ __forceinline__ int mass_bits(uint32_t length) {
    return 31 + __clz(static_cast<int>(length - 1));
  }

  float half_largest_;
  float factor_;  // for a halved difference
  float bits_;
  float unit_;
  float bins_a_bit_;
  int last_bin_;
};

}  // namespace culebra

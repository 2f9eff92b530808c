// The state of an online softmax: the running maximum m and the sum d of exp(x - m), and the merge
// of two such states (R3).
//
// Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867. The merge
// is associative (rounding aside) and exactly commutative, so states may come from elements, lanes,
// warps, blocks or splits in any fixed tree.
//
// With a scale, d sums exp((x - m) * scale): the difference is taken before the product, which
// keeps it exact where x is near m. `scale` is not negative; for a negative one negate the
// elements.
//
// The empty state is (-inf, 0) and neutral. (-inf) - (-inf) is never computed: an element of -inf
// weighs exactly 0. NaN anywhere makes d NaN, and so does +inf, whose weight exp(inf - inf) has no
// value.
#pragma once

#include "culebra/math.cuh"
#include "culebra/platform.cuh"
#include "culebra/types.cuh"
#include "culebra/warp.cuh"

namespace culebra {

// exp((x - m) * scale), and 0 for x = -inf whatever m and scale are.
template <class A>
__device__ __forceinline__ A softmax_weight(A x, A m, A scale) {
  return x == -kInfinity<A> ? A(0) : exp_of((x - m) * scale);
}

template <class A>
struct OnlineState {
  A m;
  A d;

  static __device__ __forceinline__ OnlineState empty() { return {-kInfinity<A>, A(0)}; }

  // The state of one element. x - x is 0 for a finite x and NaN otherwise.
  static __device__ __forceinline__ OnlineState of(A x) {
    return {x, x == -kInfinity<A> ? A(0) : (x - x) + A(1)};
  }

  // The state of both. One exponential: the side with the larger maximum keeps its sum, the other's
  // is rescaled. If the maxima are equal the factor is exactly 1, so it does not matter which side
  // is which; the explicit fma rounds the same both ways.
  static __device__ __forceinline__ OnlineState merge(const OnlineState& a, const OnlineState& b,
                                                      A scale) {
    return merge_by(a, b, [scale](A low, A high) { return softmax_weight(low, high, scale); });
  }

  // The same with another way to measure the lower state's sum by the higher m: factor(low m, high
  // m), 1 if they are equal.
  template <class Factor>
  static __device__ __forceinline__ OnlineState merge_by(const OnlineState& a, const OnlineState& b,
                                                         Factor factor) {
    const bool b_larger = a.m < b.m;
    const A high = b_larger ? b.m : a.m;
    const A high_d = b_larger ? b.d : a.d;
    const A low = b_larger ? a.m : b.m;
    const A low_d = b_larger ? a.d : b.d;
    return {high, fma_rn(low_d, factor(low, high), high_d)};
  }
};

// merge as an operator for warp_reduce, block_reduce and teams.
template <class A>
struct OnlineMerge {
  A scale;

  // Merges the states of `lanes` lanes, a power of two, all of which call together; each gets the
  // same bits. The maximum goes round first, so that it takes one exponential, not one a step.
  __device__ __forceinline__ OnlineState<A> across(const OnlineState<A>& own,
                                                   unsigned lanes) const {
    A m = own.m;
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      m = max_of(m, shuffle_xor(m, distance));
    }
    A d = own.d * softmax_weight(own.m, m, scale);
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      d = add_rn(d, shuffle_xor(d, distance));
    }
    return {m, d};
  }

  __device__ __forceinline__ OnlineState<A> operator()(const OnlineState<A>& a,
                                                       const OnlineState<A>& b) const {
    return OnlineState<A>::merge(a, b, scale);
  }
};

}  // namespace culebra

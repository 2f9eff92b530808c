// What the softmax kernels that keep rows on chip share: reading a row of which only some elements
// count, and writing its result.
#pragma once

#include "culebra/math.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/platform.cuh"
#include "culebra/softmax_weight.cuh"
#include "culebra/types.cuh"

namespace culebra {

// Where the mask's row for row r begins. The axes before its last are three at most, each of which
// may repeat (a stride of 0).
__device__ __forceinline__ int64_t mask_offset(const MaskedSoftmaxParams& params, int64_t r) {
  const int64_t middle = r / params.mask_inner_rows;
  return (r - middle * params.mask_inner_rows) * params.mask_inner_stride +
         middle % params.mask_middle_rows * params.mask_middle_stride +
         middle / params.mask_middle_rows * params.mask_outer_stride;
}

// Reads `count` elements of row r from element `first` on into `row` (resident_row.cuh), and
// `masked` where they do not count. Reads nothing if count is 0: row r need not exist then.
template <class T, class Row>
__device__ __forceinline__ void load_masked(Row& row, const MaskedSoftmaxParams& params, int64_t r,
                                            int64_t first, int count, T masked) {
  int left = count;
  if (params.lengths != nullptr && count > 0) {
    const int64_t own = params.lengths[r] - first;
    left = own < 0 ? 0 : own < count ? static_cast<int>(own) : count;
  }
  row.load(static_cast<const T*>(params.in) + r * params.in_row_stride + first, left, masked);
  if (params.mask != nullptr && count > 0) {
    const uint8_t* const counts = params.mask + mask_offset(params, r) + first;
    row.transform([&](int i, T x) { return i < left && counts[i] == 0 ? masked : x; });
  }
}

// The state of the calling thread's elements of a prepared row; its m is half of their maximum.
template <class T, class Row>
__device__ __forceinline__ OnlineState<Accumulator<T>> state_of(const Row& row,
                                                                const SoftmaxWeight<T>& weight) {
  using A = Accumulator<T>;
  const A m = row.maximum();
  const A half_m = m == -kInfinity<A> ? A(0) : m * A(0.5);
  A d = 0;
  row.for_each([&](A x) { d += weight.term(x, half_m); });
  return {m * A(0.5), d};
}

// Writes the result of `count` elements of a prepared row, given the state of the whole row.
template <class T, class Row>
__device__ __forceinline__ void store_softmax(const Row& row, T* out, int count,
                                              const MaskedSoftmaxParams& params,
                                              const SoftmaxWeight<T>& weight,
                                              const OnlineState<Accumulator<T>>& state) {
  using A = Accumulator<T>;
  const bool empty = params.empty_is_zero != 0 && state.m == -kInfinity<A> && state.d == A(0);
  const A half_m = empty ? A(0) : state.m;
  if (params.log != 0) {
    const A log_d = empty ? A(0) : log_of(state.d);
    row.store(out, count, [&](A x) { return weight.exponent(x, half_m) - log_d; });
  } else {
    const A share = empty ? A(0) : weight.share(state.d);
    row.store(out, count, [&](A x) { return weight.result(x, half_m) * share; });
  }
}

}  // namespace culebra

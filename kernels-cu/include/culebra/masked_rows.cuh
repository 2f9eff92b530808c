// What the softmax kernels that keep rows on chip share: reading a row of which only some elements
// count, and writing its result.
#pragma once

#include "culebra/math.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/platform.cuh"
#include "culebra/resident_row.cuh"
#include "culebra/softmax_weight.cuh"
#include "culebra/types.cuh"

namespace culebra {

// Where row r of memory begins that repeats along some of its axes (a stride of 0). The axes before
// the last are three at most.
__device__ __forceinline__ int64_t offset_of_row(int64_t r, int64_t inner_rows,
                                                 int64_t inner_stride, int64_t middle_rows,
                                                 int64_t middle_stride, int64_t outer_stride) {
  const int64_t middle = r / inner_rows;
  return (r - middle * inner_rows) * inner_stride + middle % middle_rows * middle_stride +
         middle / middle_rows * outer_stride;
}

// How many of the `count` elements of row r from element `first` on lie within the row's own
// length.
__device__ __forceinline__ int within_length(const MaskedSoftmaxParams& params, int64_t r,
                                             int64_t first, int count) {
  if (params.lengths == nullptr || count == 0) return count;
  const int64_t own = params.lengths[r] - first;
  return own < 0 ? 0 : own < count ? static_cast<int>(own) : count;
}

// A byte for each element of row r from element `first` on, 0 where it is masked; null if none is.
__device__ __forceinline__ const uint8_t* mask_of(const MaskedSoftmaxParams& params, int64_t r,
                                                  int64_t first) {
  if (params.mask == nullptr) return nullptr;
  return params.mask + first +
         offset_of_row(r, params.mask_inner_rows, params.mask_inner_stride, params.mask_middle_rows,
                       params.mask_middle_stride, params.mask_outer_stride);
}

// The logits of a softmax without addends: rows on chip hold elements as they were stored,
// multiplied by the sign of the scale (softmax_weight.cuh).
template <class T>
class MaskedLogits {
 public:
  // What a row on chip holds, and how a thread keeps its part.
  using Stored = T;
  template <int kPacks>
  using InRegisters = RegisterRow<T, kPacks>;
  using InSharedMemory = SharedRow<T>;

  __device__ __forceinline__ explicit MaskedLogits(const MaskedSoftmaxParams& params)
      : params_(params), weight_(static_cast<Accumulator<T>>(params.scale)) {}

  __device__ __forceinline__ const SoftmaxWeight<T>& weight() const { return weight_; }

  // Reads `count` elements of row r from element `first` on; what does not count has no weight.
  // Reads nothing if count is 0: row r need not exist then.
  template <class Row>
  __device__ __forceinline__ void load(Row& row, int64_t r, int64_t first, int count) const {
    const T masked = weight_.masked();
    const int left = within_length(params_, r, first, count);
    row.load(static_cast<const T*>(params_.in) + r * params_.in_row_stride + first, left, masked);
    if (params_.mask != nullptr && count > 0) {
      const uint8_t* const counts = mask_of(params_, r, first);
      row.transform([&](int i, T x) { return i < left && counts[i] == 0 ? masked : x; });
    }
    weight_.prepare(row);
  }

 private:
  const MaskedSoftmaxParams& params_;
  SoftmaxWeight<T> weight_;
};

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

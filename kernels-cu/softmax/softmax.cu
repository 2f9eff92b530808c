// Softmax and log-softmax of rows: the first three steps of the ladder.
//
//   variant  passes  accesses an element  statistics
//   naive    2       3 (2 reads, 1 write)  d = sum of exp(x)
//   safe     3       4 (3 reads, 1 write)  m = max of x, then d = sum of exp(x - m)
//   online   2       3 (2 reads, 1 write)  m and d in one pass, rescaling d when m grows
//
// naive overflows, by design, where an x exceeds 88 (arithmetic in fp32) or 709 (in fp64).
//
// Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
//
// Symbols: culebra_softmax_<variant>[_log]_<type> for f32, f16, bf16 (arithmetic in fp32) and f64
// (in fp64), all taking SoftmaxParams. One block works on one row at a time and walks the rows in
// steps of the grid, so any grid gives the same bits. Rows may have any length and start at any
// element.
//
// safe and online: an entry of -inf gives exactly 0 (log: -inf), equal entries give 1/n rounded
// once, and a row with NaN or +inf, or of nothing but -inf, gives NaN throughout (an infinity
// counts after multiplication by the scale's sign; with a scale of 0, -inf still gives 0).
#include "culebra/platform.cuh"

#include "culebra/block.cuh"
#include "culebra/math.cuh"
#include "culebra/online.cuh"
#include "culebra/operators.cuh"
#include "culebra/params.h"
#include "culebra/resident_row.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

// That a thread has on their way at a time, with so many threads on a multiprocessor.
constexpr int kPacks = 2;
constexpr int kResidentThreads = 1024;

// One row of logits, prepared: multiplied by the sign of the scale, so that the largest product is
// that of the largest element, and halved, so that a difference of finite elements is finite. Both
// are exact (of a denormal, up to half of its last bit). The scale within the exponential makes up
// for it.
template <class T>
struct LogitRow {
  using A = Accumulator<T>;

  const T* row;
  int64_t length;
  A factor;  // 1/2 or -1/2
  A scale;   // twice the magnitude of the scale

  __device__ __forceinline__ LogitRow(const T* elements, int64_t count, A signed_scale)
      : row(elements),
        length(count),
        factor(signed_scale < A(0) ? A(-0.5) : A(0.5)),
        scale(signed_scale / factor) {}

  // Calls visit(part, first, count) for each part of the row; its elements are yet to be prepared.
  // Places beyond the row's end read as -inf, which has no weight.
  template <class Visit>
  __device__ __forceinline__ void for_each_part(Visit visit) const {
    culebra::for_each_part<T, kPacks>(row, length, from_accumulator<T>(-factor * kInfinity<A>),
                                      visit);
  }

  // Calls visit(x) for each element that falls to the calling thread, prepared, in a fixed order.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
    for_each_part(
        [&](const auto& part, int64_t, int) { part.for_each([&](A x) { visit(x * factor); }); });
  }
};

// The variants. Each finds the row's (m, d); all threads of the block call together and get the
// same state.

struct naive {
  template <class T, class A = Accumulator<T>>
  static __device__ __forceinline__ OnlineState<A> statistics(const LogitRow<T>& row) {
    A d = 0;
    row.for_each([&](A x) { d += softmax_weight(x, A(0), row.scale); });
    return {A(0), block_reduce(d, Sum<A>())};
  }
};

struct safe {
  template <class T, class A = Accumulator<T>>
  static __device__ __forceinline__ OnlineState<A> statistics(const LogitRow<T>& row) {
    A m = -kInfinity<A>;
    // A dropped NaN comes back in the second pass as exp(NaN).
    const auto larger = [](A a, A b) { return max_of(a, b); };
    row.for_each([&](A x) { m = larger(m, x); });
    m = block_reduce(m, larger);

    A d = 0;
    row.for_each([&](A x) { d += softmax_weight(x, m, row.scale); });
    return {m, block_reduce(d, Sum<A>())};
  }
};

struct online {
  template <class T, class A = Accumulator<T>>
  static __device__ __forceinline__ OnlineState<A> statistics(const LogitRow<T>& row) {
    const OnlineMerge<A> merge{row.scale};
    OnlineState<A> state = OnlineState<A>::empty();
    row.for_each([&](A x) { state = merge(state, OnlineState<A>::of(x)); });
    return block_reduce(state, merge);
  }
};

// The last pass: reads the row again and writes the result. Each thread has read a place before it
// writes it, and the reduction's barriers lie between the statistics and here, so out may be in.
template <class T, bool kLog>
__device__ __forceinline__ void write_row(const LogitRow<T>& row, T* out,
                                          const OnlineState<Accumulator<T>>& state) {
  using A = Accumulator<T>;
  const A log_d = kLog ? log_of(state.d) : A(0);
  row.for_each_part([&](const auto& part, int64_t first, int count) {
    part.store(out + first, count, [&](A element) {
      const A x = element * row.factor;
      if constexpr (kLog) {
        return (x == -kInfinity<A> ? x : (x - state.m) * row.scale) - log_d;
      } else {
        return softmax_weight(x, state.m, row.scale) / state.d;
      }
    });
  });
}

template <class T, class Variant, bool kLog>
__device__ __forceinline__ void softmax_rows(const SoftmaxParams& params) {
  for (int64_t r = blockIdx.x; r < params.rows; r += gridDim.x) {
    const LogitRow<T> row(static_cast<const T*>(params.in) + r * params.in_row_stride,
                          params.row_length, static_cast<Accumulator<T>>(params.scale));
    T* const out = static_cast<T*>(params.out) + r * params.out_row_stride;
    write_row<T, kLog>(row, out, Variant::template statistics<T>(row));
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_SOFTMAX_KERNEL(symbol, variant, type, threads, log)                          \
  extern "C" __global__ void __launch_bounds__(threads, culebra::kResidentThreads / threads) \
      symbol(const SoftmaxParams params) {                                                   \
    culebra::softmax_rows<culebra::type, culebra::variant, log>(params);                     \
  }                                                                                          \
  CULEBRA_KERNEL(symbol, threads, params)

#define CULEBRA_SOFTMAX(variant, type, threads, reason)                                     \
  CULEBRA_SOFTMAX_KERNEL(culebra_softmax_##variant##_##type, variant, type, threads, false) \
  CULEBRA_SOFTMAX_KERNEL(culebra_softmax_##variant##_log_##type, variant, type, threads, true)

#include "softmax.def"

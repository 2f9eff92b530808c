// Sum, maximum and minimum of rows.
//
//   op   state                                        an empty row gives  NaN in a row
//   sum  a compensated sum, divided once at the end   0 (mean: NaN)       NaN
//   max  the maximum so far                           -inf                NaN
//   min  the minimum so far                           +inf                NaN
//
// Symbols: culebra_reduce_<op>_<type> for f32, f16, bf16 (results in f32) and f64 (results in f64),
// all taking ReduceParams. One access an element.
//
// One block works on one row at a time and walks the rows in steps of the grid. To reduce all
// elements of a tensor, the host launches twice: over rows that are chunks of a fixed length
// (reduce.def), then over one row of partial results. Neither depends on the grid or the device, so
// the result repeats bit for bit anywhere.
//
// The partial results of a maximum are maxima. Those of a sum keep what rounding lost, or what
// cancels between chunks would be lost with it:
//
//   culebra_reduce_sum_states_<type>  a row of elements to a state: its sum and its error, each of
//                                     the accumulator's type, side by side; divisor is not used
//   culebra_reduce_<op>_merge_<type>  a row of states (f32 or f64) to a result; lengths, strides
//                                     and the limit count states
#include "culebra/platform.cuh"

#include "culebra/block.cuh"
#include "culebra/compensated.cuh"
#include "culebra/operators.cuh"
#include "culebra/params.h"
#include "culebra/resident_row.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

// How a reduction is computed: the state, what an element does to it, how two states combine, and
// the result. Padding is an element that changes nothing.
namespace ops {

template <class A>
struct sum {
  using State = CompensatedSum<A>;
  static constexpr A kPadding = A(0);
  static __device__ __forceinline__ State empty() { return State::zero(); }
  static __device__ __forceinline__ void absorb(State& state, A x) { state.add(x); }
  __device__ __forceinline__ State operator()(const State& a, const State& b) const {
    return State::plus(a, b);
  }
  static __device__ __forceinline__ A finish(const State& state, double divisor) {
    return static_cast<A>(state.total() / divisor);
  }
};

template <class A, class Op>
struct extremum {
  using State = A;
  static constexpr A kPadding = Op::kNeutral;
  static __device__ __forceinline__ State empty() { return Op::kNeutral; }
  static __device__ __forceinline__ void absorb(State& state, A x) { state = Op()(state, x); }
  __device__ __forceinline__ State operator()(State a, State b) const { return Op()(a, b); }
  static __device__ __forceinline__ A finish(State state, double) { return state; }
};

template <class A>
using max = extremum<A, Max<A>>;
template <class A>
using min = extremum<A, Min<A>>;

}  // namespace ops

// That a thread has on their way at a time, with so many threads on a multiprocessor: together 64
// KiB, several times what it takes to keep the memory busy.
constexpr int kPacks = 4;
constexpr int kResidentThreads = 1024;

// Of the few states that one block merges: it alone has to keep its multiprocessor busy.
constexpr int kStates = 8;

// The state of row r; all threads of the block call together and get the same.
template <class T, class Op>
__device__ __forceinline__ typename Op::State state_of_row(const ReduceParams& params, int64_t r) {
  const int64_t start = r * params.in_row_stride;
  const int64_t left = params.element_limit - start;
  const int64_t length = left < params.row_length ? left : params.row_length;

  typename Op::State state = Op::empty();
  for_each_part<T, kPacks>(static_cast<const T*>(params.in) + start, length,
                           from_accumulator<T>(Op::kPadding), [&](const auto& part, int64_t, int) {
                             part.for_each([&](auto x) { Op::absorb(state, x); });
                           });
  return block_reduce(state, Op());
}

template <class T, class Op>
__device__ __forceinline__ void reduce_rows(const ReduceParams& params) {
  for (int64_t r = blockIdx.x; r < params.rows; r += gridDim.x) {
    const typename Op::State state = state_of_row<T, Op>(params, r);
    if (threadIdx.x == 0) {
      static_cast<Accumulator<T>*>(params.out)[r] = Op::finish(state, params.divisor);
    }
  }
}

template <class T, class Op>
__device__ __forceinline__ void reduce_rows_to_states(const ReduceParams& params) {
  for (int64_t r = blockIdx.x; r < params.rows; r += gridDim.x) {
    const typename Op::State state = state_of_row<T, Op>(params, r);
    if (threadIdx.x == 0) static_cast<typename Op::State*>(params.out)[r] = state;
  }
}

template <class A, class Op>
__device__ __forceinline__ void merge_rows_of_states(const ReduceParams& params) {
  using State = typename Op::State;
  for (int64_t r = blockIdx.x; r < params.rows; r += gridDim.x) {
    const int64_t start = r * params.in_row_stride;
    const int64_t left = params.element_limit - start;
    const int64_t length = left < params.row_length ? left : params.row_length;
    const State* row = static_cast<const State*>(params.in) + start;

    State state = Op::empty();
    for (int64_t i = threadIdx.x; i < length; i += kStates * blockDim.x) {
      State loaded[kStates];
#pragma unroll
      for (int k = 0; k < kStates; ++k) {
        const int64_t at = i + k * blockDim.x;
        loaded[k] = at < length ? row[at] : Op::empty();
      }
#pragma unroll
      for (int k = 0; k < kStates; ++k) state = Op()(state, loaded[k]);
    }
    state = block_reduce(state, Op());
    if (threadIdx.x == 0) static_cast<A*>(params.out)[r] = Op::finish(state, params.divisor);
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_REDUCE_KERNEL(symbol, body, op, type, threads)                               \
  extern "C" __global__ void __launch_bounds__(threads, culebra::kResidentThreads / threads) \
      symbol(const ReduceParams params) {                                                    \
    using Accumulator = culebra::Accumulator<culebra::type>;                                 \
    culebra::body<culebra::type, culebra::ops::op<Accumulator>>(params);                     \
  }                                                                                          \
  CULEBRA_KERNEL(symbol, threads, params)

#define CULEBRA_REDUCE(op, type, threads, chunk_elements, reason) \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_##type, reduce_rows, op, type, threads)
#define CULEBRA_REDUCE_STATES(op, type, threads, reason)                                      \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_states_##type, reduce_rows_to_states, op, type, \
                        threads)
#define CULEBRA_REDUCE_MERGE(op, type, threads, reason) \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_merge_##type, merge_rows_of_states, op, type, threads)

#include "reduce.def"

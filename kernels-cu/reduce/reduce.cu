// Reductions of rows; reduction_ops.cuh says which there are, their states and their contracts.
//
// Symbols: culebra_reduce_<op>_<type> for f32, f16, bf16, f64, i32 and i64, all taking
// ReduceParams. One access an element.
//
// One block works on one row at a time and walks the rows in steps of the grid. To reduce all
// elements of a tensor, the host launches twice: over rows that are chunks of a fixed length
// (reduce.def), then over one row of partial results. Neither depends on the grid or the device, so
// the result repeats bit for bit anywhere.
//
// The partial results of a maximum are maxima. Those of a sum keep what rounding lost, or what
// cancels between chunks would be lost with it, and others have states of their own:
//
//   culebra_reduce_<op>_states_<type>  a row of elements to a state, in which an index counts from
//                                      `in`; divisor is not used
//   culebra_reduce_<op>_merge_<type>   a row of states to a result; lengths, strides and the limit
//                                      count states. The type is the accumulator's (of a mean of
//                                      integers and of indices that of the wider: f64 or i64)
#include "culebra/platform.cuh"

#include "culebra/block.cuh"
#include "culebra/params.h"
#include "culebra/reduction_ops.cuh"
#include "culebra/reduction_rows.cuh"
#include "culebra/resident_row.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

// That a thread has on their way at a time, with so many threads on a multiprocessor: together 64
// KiB, several times what it takes to keep the memory busy.
constexpr int kPacks = 4;
template <class Op>
constexpr int kResidentThreads = 1024;
// The exponential of a double takes more registers than so many threads can have.
template <>
constexpr int kResidentThreads<ops::logsumexp<f64>> = 512;

__device__ __forceinline__ int64_t length_of_row(const ReduceParams& params, int64_t r) {
  const int64_t left = params.element_limit - r * params.in_row_stride;
  return left < params.row_length ? left : params.row_length;
}

// The state of row r; all threads of the block call together and get the same.
template <class T, class Op>
__device__ __forceinline__ typename Op::State state_of_row(const ReduceParams& params, int64_t r) {
  const T* row = static_cast<const T*>(params.in) + r * params.in_row_stride;
  const int64_t length = length_of_row(params, r);
  typename Op::Running running = Op::empty();
  for_each_part<T, kPacks>(row, length, from_accumulator<T>(Op::kPadding),
                           [&](const auto& part, int64_t first, int) {
                             Op::absorb(running, RowBatch<T, kPacks>{part, first});
                           });
  typename Op::State state = block_reduce(Op::state(running), Op());
  if (length > 0) Op::settle(state, 0);
  return state;
}

template <class T, class Op>
__device__ __forceinline__ void reduce_rows(const ReduceParams& params) {
  for (int64_t r = blockIdx.x; r < params.rows; r += gridDim.x) {
    const typename Op::State state = state_of_row<T, Op>(params, r);
    if (threadIdx.x == 0) {
      static_cast<typename Op::Result*>(params.out)[r] = Op::finish(state, params.divisor);
    }
  }
}

template <class T, class Op>
__device__ __forceinline__ void reduce_rows_to_states(const ReduceParams& params) {
  for (int64_t r = blockIdx.x; r < params.rows; r += gridDim.x) {
    typename Op::State state = state_of_row<T, Op>(params, r);
    if (threadIdx.x == 0) {
      Op::shift(state, r * params.in_row_stride);
      static_cast<typename Op::State*>(params.out)[r] = state;
    }
  }
}

template <class T, class Op>
__device__ __forceinline__ void merge_rows_of_states(const ReduceParams& params) {
  using State = typename Op::State;
  for (int64_t r = blockIdx.x; r < params.rows; r += gridDim.x) {
    const State* row = static_cast<const State*>(params.in) + r * params.in_row_stride;
    State state = merge_states<Op>(row, length_of_row(params, r), threadIdx.x, blockDim.x);
    state = block_reduce(state, Op());
    if (threadIdx.x == 0) {
      static_cast<typename Op::Result*>(params.out)[r] = Op::finish(state, params.divisor);
    }
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_REDUCE_KERNEL(symbol, body, op, type, threads)                       \
  extern "C" __global__ void __launch_bounds__(                                      \
      threads, culebra::kResidentThreads<culebra::ops::op<culebra::type>> / threads) \
      symbol(const ReduceParams params) {                                            \
    culebra::body<culebra::type, culebra::ops::op<culebra::type>>(params);           \
  }                                                                                  \
  CULEBRA_KERNEL(symbol, threads, params)

#define CULEBRA_REDUCE(op, type, threads, chunk_elements, reason) \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_##type, reduce_rows, op, type, threads)
#define CULEBRA_REDUCE_STATES(op, type, threads, reason)                                      \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_states_##type, reduce_rows_to_states, op, type, \
                        threads)
#define CULEBRA_REDUCE_MERGE(op, type, threads, reason) \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_merge_##type, merge_rows_of_states, op, type, threads)

#include "reduce.def"

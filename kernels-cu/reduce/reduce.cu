// Reductions of rows; reduction_ops.cuh says which there are, their states and their contracts.
//
// Symbols: culebra_reduce_<op>_<type> for f32, f16, bf16, f64, i32 and i64, all taking
// ReduceParams. One access an element.
//
// One block works on one row at a time, or on a piece of one, and walks them in steps of the grid.
// To reduce few long rows, and all elements of a tensor, which are one row, the host launches
// twice: over pieces of a fixed length (reduce.def), then over rows of partial results. Neither
// depends on the grid or the device, so the result repeats bit for bit anywhere.
//
// The partial results of a maximum are maxima. Those of a sum keep what rounding lost, or what
// cancels between chunks would be lost with it, and others have states of their own:
//
//   culebra_reduce_<op>_states_<type>  a piece to a state, in which an index counts from the row's
//                                      beginning; divisor is not used
//   culebra_reduce_<op>_merge_<type>   a row of states to a result; lengths and strides count
//                                      states. The type is the accumulator's (of a mean of
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

// What a block works on at a time: some elements, or states, of a row.
struct Piece {
  int64_t start;  // in the array
  int64_t first;  // in the row
  int64_t length;
};

__device__ __forceinline__ Piece piece_of(const ReduceParams& params, int64_t p) {
  // The division is spared where there is one piece a row, and where there is one row.
  const int64_t row = params.pieces == 1 ? p : p < params.pieces ? 0 : p / params.pieces;
  const int64_t first = (p - row * params.pieces) * params.piece_length;
  const int64_t left = params.row_length - first;
  return {row * params.in_row_stride + first, first,
          left < params.piece_length ? left : params.piece_length};
}

// The state of a piece, in which an index counts from the row's first element; all threads of the
// block call together and get the same.
template <class T, class Op>
__device__ __forceinline__ typename Op::State state_of(const ReduceParams& params,
                                                       const Piece& piece) {
  typename Op::Running running = Op::empty();
  for_each_part<T, kPacks>(static_cast<const T*>(params.in) + piece.start, piece.length,
                           from_accumulator<T>(Op::kPadding),
                           [&](const auto& part, int64_t first, int) {
                             Op::absorb(running, RowBatch<T, kPacks>{part, first});
                           });
  typename Op::State state = block_reduce(Op::state(running), Op());
  if (piece.length > 0) Op::settle(state, 0);
  Op::shift(state, piece.first);
  return state;
}

template <class T, class Op>
__device__ __forceinline__ void reduce_rows(const ReduceParams& params) {
  for (int64_t p = blockIdx.x; p < params.rows * params.pieces; p += gridDim.x) {
    const typename Op::State state = state_of<T, Op>(params, piece_of(params, p));
    if (threadIdx.x == 0) {
      static_cast<typename Op::Result*>(params.out)[p] = Op::finish(state, params.divisor);
    }
  }
}

template <class T, class Op>
__device__ __forceinline__ void reduce_rows_to_states(const ReduceParams& params) {
  for (int64_t p = blockIdx.x; p < params.rows * params.pieces; p += gridDim.x) {
    const typename Op::State state = state_of<T, Op>(params, piece_of(params, p));
    if (threadIdx.x == 0) static_cast<typename Op::State*>(params.out)[p] = state;
  }
}

template <class T, class Op>
__device__ __forceinline__ void merge_rows_of_states(const ReduceParams& params) {
  using State = typename Op::State;
  for (int64_t p = blockIdx.x; p < params.rows * params.pieces; p += gridDim.x) {
    const Piece piece = piece_of(params, p);
    const State* first = static_cast<const State*>(params.in) + piece.start;
    State state = merge_states<Op>(first, piece.length, threadIdx.x, blockDim.x);
    state = block_reduce(state, Op());
    if (threadIdx.x == 0) {
      static_cast<typename Op::Result*>(params.out)[p] = Op::finish(state, params.divisor);
    }
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_REDUCE_KERNEL(symbol, body, op, type, threads, blocks)     \
  extern "C" __global__ void __launch_bounds__(threads, blocks)            \
      symbol(const ReduceParams params) {                                  \
    culebra::body<culebra::type, culebra::ops::op<culebra::type>>(params); \
  }                                                                        \
  CULEBRA_KERNEL(symbol, threads, params)
#define CULEBRA_REDUCE_BLOCKS(op, type, threads) \
  culebra::kResidentThreads<culebra::ops::op<culebra::type>> / threads

#define CULEBRA_REDUCE(op, type, threads, chunk_elements, reason)                     \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_##type, reduce_rows, op, type, threads, \
                        CULEBRA_REDUCE_BLOCKS(op, type, threads))
#define CULEBRA_REDUCE_STATES(op, type, threads, reason)                                      \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_states_##type, reduce_rows_to_states, op, type, \
                        threads, CULEBRA_REDUCE_BLOCKS(op, type, threads))
// Where there is much to merge, one block does it.
#define CULEBRA_REDUCE_MERGE(op, type, threads, reason)                                     \
  CULEBRA_REDUCE_KERNEL(culebra_reduce_##op##_merge_##type, merge_rows_of_states, op, type, \
                        threads, 1)
#define CULEBRA_REDUCE_FEW_ROWS(rows, reason)

#include "reduce.def"

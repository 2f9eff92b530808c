// Softmax and log-softmax of rows in pieces: for rows that do not fit on chip, for few long rows
// (many blocks work on one), and for rows that lie in several places.
//
//   states  reads a piece and writes its (m, d)                     1 access an element
//   finish  merges a row's states, reads a piece again and writes   2 accesses an element
//
// Where a piece of all rows together fits into the L2 cache, the second read comes from there.
//
// Symbols: culebra_softmax_split_<step>_<type> for f32, f16, bf16 (arithmetic in fp32) and f64,
// taking MaskedSoftmaxParams and SoftmaxPieces. One block works on one piece at a time and walks
// the pieces of all rows in steps of the grid, so any grid gives the same bits; other pieces may
// give others. Contracts for infinities and NaN as in softmax.cu.
#include "culebra/platform.cuh"

#include "culebra/masked_rows.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/resident_row.cuh"
#include "culebra/row_piece.cuh"
#include "culebra/softmax_weight.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

constexpr int kPacks = 4;  // of a thread at a time

// Calls visit(row, first, count) for each part of the piece, loaded and prepared.
template <class T, class Visit>
__device__ __forceinline__ void for_each_part_of(const MaskedSoftmaxParams& params,
                                                 const RowPiece& piece,
                                                 const SoftmaxWeight<T>& weight, Visit visit) {
  RegisterRow<T, kPacks> row(threadIdx.x, blockDim.x);
  const int most = static_cast<int>(blockDim.x) * kPacks * kPackSize<T>;
  piece.for_each_part(most, [&](int64_t first, int count) {
    load_masked(row, params, piece.row, first, count, weight.masked());
    weight.prepare(row);
    visit(row, first, count);
  });
}

// How states lie in memory: with the whole maximum, not its half.
template <class A>
__device__ __forceinline__ OnlineState<A> halved(const OnlineState<A>& state) {
  return {state.m * A(0.5), state.d};
}
template <class A>
__device__ __forceinline__ OnlineState<A> whole(const OnlineState<A>& state) {
  return {state.m * A(2), state.d};
}

// The state of `count` stored ones; every thread of the block gets it.
template <class A>
__device__ __forceinline__ OnlineState<A> merge_states(BlockTeam<OnlineState<A>>& team,
                                                       const OnlineState<A>* states, int64_t count,
                                                       const OnlineMerge<A>& merge) {
  OnlineState<A> state = OnlineState<A>::empty();
  for (int64_t i = threadIdx.x; i < count; i += blockDim.x) state = merge(state, halved(states[i]));
  return team.reduce(state, OnlineState<A>::empty(), merge);
}

template <class T>
__device__ __forceinline__ void states(const MaskedSoftmaxParams& params,
                                       const SoftmaxPieces& pieces) {
  using A = Accumulator<T>;
  using State = OnlineState<A>;
  const SoftmaxWeight<T> weight(static_cast<A>(params.scale));
  const OnlineMerge<A> merge{weight.scale()};
  BlockTeam<State> team;
  for (int64_t i = blockIdx.x; i < params.rows * pieces.pieces; i += gridDim.x) {
    State state = State::empty();
    const RowPiece piece(params.row_length, pieces.pieces, pieces.piece_length, i);
    for_each_part_of(params, piece, weight, [&](const auto& row, int64_t, int) {
      state = merge(state, state_of(row, weight));
    });
    state = team.reduce(state, State::empty(), merge);
    if (threadIdx.x == 0) static_cast<State*>(pieces.states)[i] = whole(state);
  }
}

template <class T>
__device__ __forceinline__ void finish(const MaskedSoftmaxParams& params,
                                       const SoftmaxPieces& pieces) {
  using A = Accumulator<T>;
  using State = OnlineState<A>;
  const SoftmaxWeight<T> weight(static_cast<A>(params.scale));
  const OnlineMerge<A> merge{weight.scale()};
  BlockTeam<State> team;
  for (int64_t i = blockIdx.x; i < params.rows * pieces.pieces; i += gridDim.x) {
    const RowPiece piece(params.row_length, pieces.pieces, pieces.piece_length, i);
    const State* const stored =
        static_cast<const State*>(pieces.states) + piece.row * pieces.pieces;
    const State state = merge_states(team, stored, pieces.pieces, merge);
    T* const out = static_cast<T*>(params.out) + piece.row * params.out_row_stride;
    for_each_part_of(params, piece, weight, [&](const auto& row, int64_t first, int count) {
      store_softmax(row, out + first, count, params, weight, state);
    });
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_SOFTMAX_SPLIT_KERNEL(step, type, threads, blocks)             \
  extern "C" __global__ void __launch_bounds__(threads, blocks)               \
      culebra_softmax_split_##step##_##type(const MaskedSoftmaxParams params, \
                                            const SoftmaxPieces pieces) {     \
    culebra::step<culebra::type>(params, pieces);                             \
  }                                                                           \
  CULEBRA_KERNEL(culebra_softmax_split_##step##_##type, threads, params, pieces)

#define CULEBRA_SOFTMAX_SPLIT(type, threads, blocks, reason)  \
  CULEBRA_SOFTMAX_SPLIT_KERNEL(states, type, threads, blocks) \
  CULEBRA_SOFTMAX_SPLIT_KERNEL(finish, type, threads, blocks)

// Read by the host program alone.
#define CULEBRA_SOFTMAX_PIECES(type, most_bytes, piece_bytes, reason)

#include "softmax_split.def"

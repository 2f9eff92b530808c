// The softmax of rows in pieces, whatever is weighed: Logits is MaskedLogits or SummedLogits. Two
// steps, write_states and finish_pieces, with a merge of states between them where each row is to
// have one only.
//
// One block works on one piece at a time and walks the pieces of all rows in steps of the grid, so
// any grid gives the same bits; other pieces may give others.
#pragma once

#include "culebra/masked_rows.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/platform.cuh"
#include "culebra/row_piece.cuh"
#include "culebra/softmax_weight.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"
#include "culebra/vec.cuh"

namespace culebra {

inline constexpr int kPiecePacks = 4;  // of a thread at a time

// Calls visit(row, first, count) for each part of the piece, loaded and prepared.
template <class Logits, class Visit>
__device__ __forceinline__ void for_each_part_of(const RowPiece& piece, const Logits& logits,
                                                 Visit visit) {
  typename Logits::template InRegisters<kPiecePacks> row(threadIdx.x, blockDim.x);
  const int most = static_cast<int>(blockDim.x) * kPiecePacks * kPackSize<typename Logits::Stored>;
  piece.for_each_part(most, [&](int64_t first, int count) {
    logits.load(row, piece.row, first, count);
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

// The state of `count` stored ones that lie `stride` apart; every thread of the team gets it.
template <class A, class Team>
__device__ __forceinline__ OnlineState<A> merge_states(Team& team, const OnlineState<A>* states,
                                                       int64_t count, int64_t stride,
                                                       const OnlineMerge<A>& merge) {
  OnlineState<A> state = OnlineState<A>::empty();
  for (int64_t i = team.rank(); i < count; i += team.size()) {
    state = merge(state, halved(states[i * stride]));
  }
  return team.reduce(state, OnlineState<A>::empty(), merge);
}

template <class T, class Logits>
__device__ __forceinline__ void write_states(const MaskedSoftmaxParams& params,
                                             const SoftmaxPieces& pieces, const Logits& logits) {
  using State = OnlineState<Accumulator<T>>;
  const OnlineMerge<Accumulator<T>> merge{logits.weight().scale()};
  BlockTeam<State> team;
  for (int64_t i = blockIdx.x; i < params.rows * pieces.pieces; i += gridDim.x) {
    State state = State::empty();
    const RowPiece piece(params.row_length, pieces.pieces, pieces.piece_length, i);
    for_each_part_of(piece, logits, [&](const auto& row, int64_t, int) {
      state = merge(state, state_of(row, logits.weight()));
    });
    state = team.reduce(state, State::empty(), merge);
    if (threadIdx.x == 0) static_cast<State*>(pieces.states)[i] = whole(state);
  }
}

template <class T, class Logits>
__device__ __forceinline__ void finish_pieces(const MaskedSoftmaxParams& params,
                                              const SoftmaxPieces& pieces, const Logits& logits) {
  using State = OnlineState<Accumulator<T>>;
  const OnlineMerge<Accumulator<T>> merge{logits.weight().scale()};
  BlockTeam<State> team;
  for (int64_t i = blockIdx.x; i < params.rows * pieces.pieces; i += gridDim.x) {
    const RowPiece piece(params.row_length, pieces.pieces, pieces.piece_length, i);
    const State* const stored =
        static_cast<const State*>(pieces.states) + piece.row * pieces.row_states;
    const State state = merge_states(team, stored, pieces.row_states, 1, merge);
    T* const out = static_cast<T*>(params.out) + piece.row * params.out_row_stride;
    for_each_part_of(piece, logits, [&](const auto& row, int64_t first, int count) {
      store_softmax(row, out + first, count, params, logits.weight(), state);
    });
  }
}

// One state for each row out of those that it has.
template <class A, template <class> class TeamOf>
__device__ __forceinline__ void merge_rows(const SoftmaxMergeParams& params) {
  using State = OnlineState<A>;
  const OnlineMerge<A> merge{SoftmaxWeight<A>(static_cast<A>(params.scale)).scale()};
  TeamOf<State> team;
  for (int64_t r = team.first_row(); team.goes_on(r, params.rows); r += team.row_stride()) {
    const bool exists = r < params.rows;
    const State* const stored = static_cast<const State*>(params.states) + r * params.row_stride;
    const State state =
        merge_states(team, stored, exists ? params.row_states : 0, params.state_stride, merge);
    if (exists && team.rank() == 0) static_cast<State*>(params.out)[r] = whole(state);
  }
}

}  // namespace culebra

// The softmax of rows that a team keeps on chip (resident_row.cuh, team.cuh), whatever is weighed:
// Logits is MaskedLogits or SummedLogits.
//
// Each thread finds the maximum of its share, then one exponential an element relative to that; the
// states of threads, warps and blocks are merged; then a second exponential gives the result. That
// costs less than it would to keep the first: see docs/kernels/softmax.md.
#pragma once

#include "culebra/masked_rows.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/platform.cuh"
#include "culebra/types.cuh"

namespace culebra {

template <class T, class Logits, class Team, class Row>
__device__ __forceinline__ void softmax_rows(const MaskedSoftmaxParams& params,
                                             const Logits& logits, Team& team, Row& row) {
  using A = Accumulator<T>;
  using State = OnlineState<A>;  // its m is half of the maximum
  const OnlineMerge<A> merge{logits.weight().scale()};

  for (int64_t r = team.first_row(); team.goes_on(r, params.rows); r += team.row_stride()) {
    const bool exists = r < params.rows;
    const int row_length = exists ? static_cast<int>(params.row_length) : 0;
    logits.load(row, r, 0, row_length);

    const State state = team.reduce(state_of(row, logits.weight()), State::empty(), merge);
    T* const out = static_cast<T*>(params.out) + r * params.out_row_stride;
    store_softmax(row, out, row_length, params, logits.weight(), state);
  }
}

template <class T, int kPacks, template <class> class TeamOf, class Logits>
__device__ __forceinline__ void softmax_in_registers(const MaskedSoftmaxParams& params,
                                                     const Logits& logits) {
  TeamOf<OnlineState<Accumulator<T>>> team;
  typename Logits::template InRegisters<kPacks> row(team.rank(), team.size());
  softmax_rows<T>(params, logits, team, row);
}

template <class T, template <class> class TeamOf, class Logits>
__device__ __forceinline__ void softmax_in_shared_memory(const MaskedSoftmaxParams& params,
                                                         const Logits& logits) {
  CULEBRA_SHARED_DYNAMIC(uint4, memory);
  TeamOf<OnlineState<Accumulator<T>>> team;
  typename Logits::InSharedMemory row(memory, static_cast<int>(params.row_length), team.rank(),
                                      team.size());
  softmax_rows<T>(params, logits, team, row);
}

}  // namespace culebra

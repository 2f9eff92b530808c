// Rows of elements and of states, reduced by the threads of a team.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/resident_row.cuh"
#include "culebra/types.cuh"

namespace culebra {

// Of the few states that one block merges: it alone has to keep its multiprocessor busy.
inline constexpr int kStatesOnTheirWay = 8;

// What a thread has of a row at a time.
template <class T, int kPacks>
struct RowBatch {
  const RegisterRow<T, kPacks>& part;
  int64_t first;  // index of the part's first element

  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
    part.for_each_numbered(visit);
  }
  __device__ __forceinline__ int64_t index(int k) const { return first + part.place(k); }
};

// The calling thread's share of the states row[0], ..., row[count - 1].
template <class Op>
__device__ __forceinline__ typename Op::State merge_states(const typename Op::State* row,
                                                           int64_t count, unsigned rank,
                                                           unsigned size) {
  using State = typename Op::State;
  const State empty = Op::state(Op::empty());
  State state = empty;
  for (int64_t i = rank; i < count; i += int64_t{kStatesOnTheirWay} * size) {
    State loaded[kStatesOnTheirWay];
#pragma unroll
    for (int k = 0; k < kStatesOnTheirWay; ++k) {
      const int64_t at = i + int64_t{k} * size;
      loaded[k] = at < count ? row[at] : empty;
    }
#pragma unroll
    for (int k = 0; k < kStatesOnTheirWay; ++k) state = Op()(state, loaded[k]);
  }
  return state;
}

}  // namespace culebra

// Teams: the threads that share one row. Lanes of a warp for short rows, a block, or a cluster of
// blocks for long ones. A kernel written for a team does not know which it has.
//
// A team has size() threads, of which the calling one is rank(). Rows are walked with
//
//   for (int64_t r = team.first_row(); team.goes_on(r, rows); r += team.row_stride())
//
// in which all threads of the team, and of its warps, take part equally often: lanes of one warp
// may stand at rows beyond the last one, which they must neither read nor write (r < rows).
//
// A team of whole blocks has blocks() of them, of which the calling thread's is block().
// at(pointer, block) is where another block of the team has the same shared variable, and sync()
// waits for all threads of the team: what they wrote before is visible behind. The last access to
// another block's memory needs a sync() behind it, for that block may end.
//
// reduce(value, neutral, op) gives every thread of the team the same bits: it combines in an order
// that the team's size alone decides. op.across(value, lanes) combines the values of `lanes` lanes,
// op(a, b) those of two; both are exactly commutative, and `neutral` changes nothing it is combined
// with. One barrier a call; a call may follow another at once.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/warp.cuh"

namespace culebra {

// blockDim.x lanes share a row: a power of two up to 32. blockDim.y rows a block, whole warps in
// all.
template <class State>
class LaneTeam {
 public:
  __device__ __forceinline__ unsigned rank() const { return threadIdx.x; }
  __device__ __forceinline__ unsigned size() const { return blockDim.x; }

  __device__ __forceinline__ int64_t first_row() const {
    return int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  }
  __device__ __forceinline__ int64_t row_stride() const { return int64_t{gridDim.x} * blockDim.y; }
  // The same for all lanes of a block.
  __device__ __forceinline__ bool goes_on(int64_t row, int64_t rows) const {
    return row - threadIdx.y < rows;
  }

  template <class Op>
  __device__ __forceinline__ State reduce(State value, const State&, Op op) {
    return op.across(value, blockDim.x);
  }
};

// The states of a team's warps on their way to each other. Two sets, used in turn: a warp that is
// ahead by one call writes to the other set, and by two it cannot be, for the barrier between.
template <class State, int kSlots>
class WarpSlots {
 public:
  __device__ __forceinline__ explicit WarpSlots(State* slots) : slots_(slots) {}

  __device__ __forceinline__ State* next() {
    State* const set = slots_ + turn_ * kSlots;
    turn_ ^= 1;
    return set;
  }

 private:
  State* slots_;
  unsigned turn_ = 0;
};

// What `count` slots combine to, computed by each warp for itself.
template <class State, class Op>
__device__ __forceinline__ State reduce_slots(const State* slots, unsigned count,
                                              const State& neutral, Op op) {
  const unsigned lane = threadIdx.x % kWarpSize;
  State value = lane < count ? slots[lane] : neutral;
  for (unsigned i = lane + kWarpSize; i < count; i += kWarpSize) value = op(value, slots[i]);
  return op.across(value, kWarpSize);
}

// A one-dimensional block of whole warps shares a row.
template <class State>
class BlockTeam {
 public:
  __device__ __forceinline__ BlockTeam() : slots_(memory()) {}

  __device__ __forceinline__ unsigned rank() const { return threadIdx.x; }
  __device__ __forceinline__ unsigned size() const { return blockDim.x; }
  __device__ __forceinline__ int64_t first_row() const { return blockIdx.x; }
  __device__ __forceinline__ int64_t row_stride() const { return gridDim.x; }
  __device__ __forceinline__ bool goes_on(int64_t row, int64_t rows) const { return row < rows; }

  __device__ __forceinline__ unsigned block() const { return 0; }
  __device__ __forceinline__ unsigned blocks() const { return 1; }
  template <class Variable>
  __device__ __forceinline__ Variable* at(Variable* own, unsigned) const {
    return own;
  }
  __device__ __forceinline__ void sync() const { __syncthreads(); }

  template <class Op>
  __device__ __forceinline__ State reduce(State value, const State& neutral, Op op) {
    value = op.across(value, kWarpSize);
    const unsigned warps = blockDim.x / kWarpSize;
    if (warps == 1) return value;
    State* const set = slots_.next();
    if (threadIdx.x % kWarpSize == 0) set[threadIdx.x / kWarpSize] = value;
    // All warps wait for the state of every warp.
    __syncthreads();
    return reduce_slots(set, warps, neutral, op);
  }

 private:
  static constexpr int kSlots = 32;  // warps of the largest block

  static __device__ __forceinline__ State* memory() {
    CULEBRA_SHARED(State, team_slots, 2 * kSlots);
    return team_slots;
  }

  WarpSlots<State, kSlots> slots_;
};

// A cluster of blocks, all one-dimensional and of whole warps, shares a row (sm_90). Without
// clusters it is a block.
template <class State>
class ClusterTeam {
 public:
  static constexpr int kMaxWarps = 256;  // of all blocks: 16 of 512 threads, 8 of 1024

  __device__ __forceinline__ ClusterTeam()
      : slots_(memory()),
        block_(ptx::mov_u32_cluster_ctarank()),
        blocks_(ptx::mov_u32_cluster_nctarank()) {}

  __device__ __forceinline__ unsigned rank() const { return block_ * blockDim.x + threadIdx.x; }
  __device__ __forceinline__ unsigned size() const { return blocks_ * blockDim.x; }
  __device__ __forceinline__ int64_t first_row() const { return blockIdx.x / blocks_; }
  __device__ __forceinline__ int64_t row_stride() const { return gridDim.x / blocks_; }
  __device__ __forceinline__ bool goes_on(int64_t row, int64_t rows) const { return row < rows; }

  __device__ __forceinline__ unsigned block() const { return block_; }
  __device__ __forceinline__ unsigned blocks() const { return blocks_; }
  template <class Variable>
  __device__ __forceinline__ Variable* at(Variable* own, unsigned block) const {
    return ptx::mapa_u64(own, block);
  }
  __device__ __forceinline__ void sync() const {
    ptx::barrier_cluster_arrive_release();
    ptx::barrier_cluster_wait_acquire();
  }

  template <class Op>
  __device__ __forceinline__ State reduce(State value, const State& neutral, Op op) {
    value = op.across(value, kWarpSize);
    const unsigned warps = blockDim.x / kWarpSize;
    const unsigned lane = threadIdx.x % kWarpSize;
    State* const set = slots_.next();
    // One lane a block of the cluster: each warp tells all blocks.
    if (lane < blocks_) {
      State* const place = set + block_ * warps + threadIdx.x / kWarpSize;
      *ptx::mapa_u64(place, lane) = value;
    }
    // All warps of the cluster wait for the state of every warp. Behind it no block touches
    // another's memory any more, so that each may end when it likes.
    sync();
    return reduce_slots(set, blocks_ * warps, neutral, op);
  }

 private:
  static constexpr int kSlots = kMaxWarps;

  static __device__ __forceinline__ State* memory() {
    CULEBRA_SHARED(State, team_slots, 2 * kSlots);
    return team_slots;
  }

  WarpSlots<State, kSlots> slots_;
  unsigned block_;
  unsigned blocks_;
};

}  // namespace culebra

// Softmax and log-softmax of rows that are read once: the last step of the ladder.
//
//   2 accesses an element (1 read, 1 write); statistics (m, d) in one pass over what is on chip
//
// A team of threads keeps its row on chip (resident_row.cuh) and meets once, to combine its states
// (team.cuh). What changes with the length of the row is where it is kept and who the team is:
//
//   variant     team                               keeps the row in         longest row, packs
//   lanes1      1, 2, 4 .. 32 lanes of a warp      registers                32
//   lanes4      1, 2, 4 .. 32 lanes of a warp      registers                128
//   registers4  32 .. 1024 threads of a block      registers                4096
//   shared      32 .. 512 threads of a block       shared memory            what fits: 14,000 on
//   sm_90 cluster     2 .. 16 blocks of up to 512        shared memory (sm_90)    16 times that
//
// A pack is 16 bytes. Of the lanes variants blockDim.x is the team and blockDim.y the rows of a
// block. The last two take dynamic shared memory: 16 bytes times the block's threads times the
// packs a thread has, ceil(row packs / team threads).
//
// Symbols: culebra_softmax_fused_<variant>_<type> for f32, f16, bf16 (arithmetic in fp32) and f64,
// all taking MaskedSoftmaxParams. Contracts for infinities and NaN as in softmax.cu.
//
// Each thread finds the maximum of its share, then one exponential an element relative to that; the
// states of threads, warps and blocks are merged; then a second exponential gives the result. That
// costs less than it would to keep the first: see docs/kernels/softmax.md.
#include "culebra/platform.cuh"

#include "culebra/masked_rows.cuh"
#include "culebra/math.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/resident_row.cuh"
#include "culebra/softmax_weight.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

template <class T, class Team, class Row>
__device__ __forceinline__ void softmax_rows(const MaskedSoftmaxParams& params, Team& team,
                                             Row& row) {
  using A = Accumulator<T>;
  using State = OnlineState<A>;  // its m is half of the maximum
  const SoftmaxWeight<T> weight(static_cast<A>(params.scale));
  const OnlineMerge<A> merge{weight.scale()};

  for (int64_t r = team.first_row(); team.goes_on(r, params.rows); r += team.row_stride()) {
    const bool exists = r < params.rows;
    const int row_length = exists ? static_cast<int>(params.row_length) : 0;
    load_masked(row, params, r, 0, row_length, weight.masked());
    weight.prepare(row);

    const State state = team.reduce(state_of(row, weight), State::empty(), merge);
    T* const out = static_cast<T*>(params.out) + r * params.out_row_stride;
    store_softmax(row, out, row_length, params, weight, state);
  }
}

template <class T, int kPacks, template <class> class TeamOf>
__device__ __forceinline__ void in_registers(const MaskedSoftmaxParams& params) {
  TeamOf<OnlineState<Accumulator<T>>> team;
  RegisterRow<T, kPacks> row(team.rank(), team.size());
  softmax_rows<T>(params, team, row);
}

template <class T, template <class> class TeamOf>
__device__ __forceinline__ void in_shared_memory(const MaskedSoftmaxParams& params) {
  CULEBRA_SHARED_DYNAMIC(uint4, memory);
  TeamOf<OnlineState<Accumulator<T>>> team;
  SharedRow<T> row(memory, static_cast<int>(params.row_length), team.rank(), team.size());
  softmax_rows<T>(params, team, row);
}

template <class T>
__device__ __forceinline__ void lanes1(const MaskedSoftmaxParams& params) {
  in_registers<T, 1, LaneTeam>(params);
}
template <class T>
__device__ __forceinline__ void lanes4(const MaskedSoftmaxParams& params) {
  in_registers<T, 4, LaneTeam>(params);
}
template <class T>
__device__ __forceinline__ void registers4(const MaskedSoftmaxParams& params) {
  in_registers<T, 4, BlockTeam>(params);
}
template <class T>
__device__ __forceinline__ void shared(const MaskedSoftmaxParams& params) {
  in_shared_memory<T, BlockTeam>(params);
}
template <class T>
__device__ __forceinline__ void cluster(const MaskedSoftmaxParams& params) {
  in_shared_memory<T, ClusterTeam>(params);
}

}  // namespace
}  // namespace culebra

#define CULEBRA_SOFTMAX_FUSED(variant, type, threads, blocks, reason)              \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                    \
      culebra_softmax_fused_##variant##_##type(const MaskedSoftmaxParams params) { \
    culebra::variant<culebra::type>(params);                                       \
  }                                                                                \
  CULEBRA_KERNEL(culebra_softmax_fused_##variant##_##type, threads, params)
// Read by the host program alone.
#define CULEBRA_SOFTMAX_PLAN(target, type, most_rows, longest_row, variant, threads, cluster, \
                             reason)

#include "softmax_fused.def"

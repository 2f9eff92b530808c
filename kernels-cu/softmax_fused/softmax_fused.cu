// Softmax and log-softmax of rows that are read once: the last step of the ladder.
//
//   2 accesses an element (1 read, 1 write); statistics (m, d) in one pass over what is on chip
//
// A team of threads keeps its row on chip (resident_row.cuh) and meets once, to combine its states
// (team.cuh). What changes with the length of the row is where it is kept and who the team is:
//
//   variant     team                            keeps the row in   longest row, packs
//   lanes1      1, 2, 4 .. 32 lanes of a warp   registers          32
//   lanes4      1, 2, 4 .. 32 lanes of a warp   registers          128
//   registers4  32 .. 1024 threads of a block   registers          4096
//   shared      32 .. 512 threads of a block    shared memory      what fits: 14,000 on sm_90
//   cluster     2 .. 16 blocks of up to 512     shared memory      16 times that (sm_90)
//
// A pack is 16 bytes. Of the lanes variants blockDim.x is the team and blockDim.y the rows of a
// block. The last two take dynamic shared memory: 16 bytes times the block's threads times the
// packs a thread has, ceil(row packs / team threads).
//
// Symbols: culebra_softmax_fused_<variant>_<type> for f32, f16, bf16 (arithmetic in fp32) and f64,
// all taking MaskedSoftmaxParams. Contracts for infinities and NaN as in softmax.cu.
#include "culebra/platform.cuh"

#include "culebra/masked_rows.cuh"
#include "culebra/params.h"
#include "culebra/softmax_rows.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

template <class T>
__device__ __forceinline__ void lanes1(const MaskedSoftmaxParams& params) {
  softmax_in_registers<T, 1, LaneTeam>(params, MaskedLogits<T>(params));
}
template <class T>
__device__ __forceinline__ void lanes4(const MaskedSoftmaxParams& params) {
  softmax_in_registers<T, 4, LaneTeam>(params, MaskedLogits<T>(params));
}
template <class T>
__device__ __forceinline__ void registers4(const MaskedSoftmaxParams& params) {
  softmax_in_registers<T, 4, BlockTeam>(params, MaskedLogits<T>(params));
}
template <class T>
__device__ __forceinline__ void shared(const MaskedSoftmaxParams& params) {
  softmax_in_shared_memory<T, BlockTeam>(params, MaskedLogits<T>(params));
}
template <class T>
__device__ __forceinline__ void cluster(const MaskedSoftmaxParams& params) {
  softmax_in_shared_memory<T, ClusterTeam>(params, MaskedLogits<T>(params));
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

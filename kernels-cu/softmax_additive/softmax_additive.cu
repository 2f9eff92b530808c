// Softmax and log-softmax with an additive mask: of scale * in + addend, rows read once or in
// pieces.
//
//   3 accesses an element (2 reads, 1 write) where every row has addends of its own; nearly 2 where
//   they repeat; in pieces two reads more
//
// As softmax_fused and softmax_split, with the sums on chip instead of the elements, in the
// accumulator's type (summed_row.cuh). So 16-bit rows take twice as much room:
//
//   variant     team                            keeps the sums in   longest row
//   lanes4      1, 2, 4 .. 32 lanes of a warp   registers           512 (f64: 256)
//   registers4  32 .. 1024 threads of a block   registers           16,384 (f64: 4096)
//   shared      32 .. 512 threads of a block    shared memory       what fits: 56,000 on sm_90
//   cluster     2 .. 16 blocks of up to 512     shared memory       16 times that (sm_90)
//
// Symbols: culebra_softmax_additive_<variant>_<type> for f32, f16, bf16 (arithmetic in fp32) and
// f64, all taking MaskedSoftmaxParams and SoftmaxAddends; states and finish, in pieces, take
// SoftmaxPieces as well. states gives states of sums: they merge with a scale of 1.
#include "culebra/platform.cuh"

#include "culebra/masked_rows.cuh"
#include "culebra/params.h"
#include "culebra/softmax_pieces.cuh"
#include "culebra/softmax_rows.cuh"
#include "culebra/summed_row.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

template <class T>
__device__ __forceinline__ void lanes4(const MaskedSoftmaxParams& params,
                                       const SoftmaxAddends& addends) {
  softmax_in_registers<T, 4, LaneTeam>(params, SummedLogits<T>(params, addends));
}
template <class T>
__device__ __forceinline__ void registers4(const MaskedSoftmaxParams& params,
                                           const SoftmaxAddends& addends) {
  softmax_in_registers<T, 4, BlockTeam>(params, SummedLogits<T>(params, addends));
}
template <class T>
__device__ __forceinline__ void shared(const MaskedSoftmaxParams& params,
                                       const SoftmaxAddends& addends) {
  softmax_in_shared_memory<T, BlockTeam>(params, SummedLogits<T>(params, addends));
}
template <class T>
__device__ __forceinline__ void cluster(const MaskedSoftmaxParams& params,
                                        const SoftmaxAddends& addends) {
  softmax_in_shared_memory<T, ClusterTeam>(params, SummedLogits<T>(params, addends));
}

template <class T>
__device__ __forceinline__ void states(const MaskedSoftmaxParams& params,
                                       const SoftmaxAddends& addends, const SoftmaxPieces& pieces) {
  write_states<T>(params, pieces, SummedLogits<T>(params, addends));
}
template <class T>
__device__ __forceinline__ void finish(const MaskedSoftmaxParams& params,
                                       const SoftmaxAddends& addends, const SoftmaxPieces& pieces) {
  finish_pieces<T>(params, pieces, SummedLogits<T>(params, addends));
}

}  // namespace
}  // namespace culebra

#define CULEBRA_SOFTMAX_ADDITIVE(variant, type, threads, blocks, reason)            \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                     \
      culebra_softmax_additive_##variant##_##type(const MaskedSoftmaxParams params, \
                                                  const SoftmaxAddends addends) {   \
    culebra::variant<culebra::type>(params, addends);                               \
  }                                                                                 \
  CULEBRA_KERNEL(culebra_softmax_additive_##variant##_##type, threads, params, addends)

#define CULEBRA_SOFTMAX_ADDITIVE_PIECE_KERNEL(step, type, threads, blocks)       \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                  \
      culebra_softmax_additive_##step##_##type(const MaskedSoftmaxParams params, \
                                               const SoftmaxAddends addends,     \
                                               const SoftmaxPieces pieces) {     \
    culebra::step<culebra::type>(params, addends, pieces);                       \
  }                                                                              \
  CULEBRA_KERNEL(culebra_softmax_additive_##step##_##type, threads, params, addends, pieces)

#define CULEBRA_SOFTMAX_ADDITIVE_SPLIT(type, threads, blocks, reason)  \
  CULEBRA_SOFTMAX_ADDITIVE_PIECE_KERNEL(states, type, threads, blocks) \
  CULEBRA_SOFTMAX_ADDITIVE_PIECE_KERNEL(finish, type, threads, blocks)

// Read by the host program alone.
#define CULEBRA_SOFTMAX_PLAN(target, type, most_rows, longest_row, variant, threads, cluster, \
                             reason)
#define CULEBRA_SOFTMAX_PIECES(type, most_bytes, piece_bytes, reason)

#include "softmax_additive.def"

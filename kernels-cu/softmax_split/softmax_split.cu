// Softmax and log-softmax of rows in pieces: for rows that do not fit on chip, for few long rows
// (many blocks work on one), and for rows that lie in several places.
//
//   states  reads a piece and writes its (m, d)                     1 access an element
//   merge   makes one state of those of a row, wherever they come from
//   finish  merges a row's states, reads a piece again and writes   2 accesses an element
//
// Where a piece of all rows together fits into the L2 cache, the second read comes from there.
//
// Symbols: culebra_softmax_split_<step>_<type> for f32, f16, bf16 (arithmetic in fp32) and f64,
// taking MaskedSoftmaxParams and SoftmaxPieces. One block works on one piece at a time and walks
// the pieces of all rows in steps of the grid, so any grid gives the same bits; other pieces may
// give others. Contracts for infinities and NaN as in softmax.cu.
//
// culebra_softmax_split_merge_<team>_<type> for states of f32 and of f64, taking
// SoftmaxMergeParams. lanes: 1, 2, 4 .. 32 lanes of a warp a row (blockDim.x), blockDim.y rows a
// block; block: a block a row. As many lanes as there are states, or more, give the bits of a
// block.
#include "culebra/platform.cuh"

#include "culebra/masked_rows.cuh"
#include "culebra/params.h"
#include "culebra/softmax_pieces.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

template <class T>
__device__ __forceinline__ void states(const MaskedSoftmaxParams& params,
                                       const SoftmaxPieces& pieces) {
  write_states<T>(params, pieces, MaskedLogits<T>(params));
}
template <class T>
__device__ __forceinline__ void finish(const MaskedSoftmaxParams& params,
                                       const SoftmaxPieces& pieces) {
  finish_pieces<T>(params, pieces, MaskedLogits<T>(params));
}

template <class A>
__device__ __forceinline__ void merge_lanes(const SoftmaxMergeParams& params) {
  merge_rows<A, LaneTeam>(params);
}
template <class A>
__device__ __forceinline__ void merge_block(const SoftmaxMergeParams& params) {
  merge_rows<A, BlockTeam>(params);
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

#define CULEBRA_SOFTMAX_MERGE(team, type, threads, reason)                           \
  extern "C" __global__ void __launch_bounds__(threads)                              \
      culebra_softmax_split_merge_##team##_##type(const SoftmaxMergeParams params) { \
    culebra::merge_##team<culebra::type>(params);                                    \
  }                                                                                  \
  CULEBRA_KERNEL(culebra_softmax_split_merge_##team##_##type, threads, params)

// Read by the host program alone.
#define CULEBRA_SOFTMAX_PIECES(type, most_bytes, piece_bytes, reason)

#include "softmax_split.def"

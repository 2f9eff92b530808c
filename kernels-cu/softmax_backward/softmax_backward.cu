// The gradient of softmax and log-softmax from their results: two rows are read, one is written.
//
//   3 accesses an element (2 reads, 1 write); one sum in one pass over what is on chip
//
// A team of threads keeps both rows on chip (resident_row.cuh) and meets once, to add up its sums
// (team.cuh). As in softmax_fused, with half as much room for each row:
//
//   variant     team                            keeps the rows in   longest row, packs
//   lanes1      1, 2, 4 .. 32 lanes of a warp   registers           32
//   lanes2      1, 2, 4 .. 32 lanes of a warp   registers           64
//   registers2  32 .. 1024 threads of a block   registers           2048 (f64: 1024)
//   shared      32 .. 512 threads of a block    shared memory       what fits: 7,000 on sm_90
//   cluster     2 .. 16 blocks of up to 512     shared memory       16 times that (sm_90)
//
// A pack is 16 bytes. Of the lanes variants blockDim.x is the team and blockDim.y the rows of a
// block. shared and cluster take dynamic shared memory: 32 bytes times the block's threads times
// the packs of a row that a thread has, ceil(row packs / team threads).
//
// Rows that fit nowhere, and few long ones, are done in pieces, with four reads in all:
//
//   sums        adds up a piece                                              2 accesses an element
//   finish      adds up a row's sums, reads a piece again and writes         3 accesses an element
//
// One block works on one piece at a time and walks the pieces of all rows in steps of the grid, so
// any grid gives the same bits; other pieces may give others.
//
// Symbols: culebra_softmax_backward_<variant>_<type> for f32, f16, bf16 (arithmetic in fp32) and
// f64, all taking SoftmaxBackwardParams, sums and finish SoftmaxBackwardPieces as well.
//
// Contracts: what softmax_gradient.cuh says of elements that take no part; otherwise a NaN in y or
// dy, and a sum that is not finite, make the row NaN or infinite as the arithmetic has it.
#include "culebra/platform.cuh"

#include "culebra/operators.cuh"
#include "culebra/params.h"
#include "culebra/resident_row.cuh"
#include "culebra/row_piece.cuh"
#include "culebra/softmax_gradient.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

constexpr int kPiecePacks = 2;  // of each row that a thread has at a time, of a piece

// Reads `count` elements of row r of both from element `first` on. Reads nothing if count is 0: row
// r need not exist then.
template <class T, class Row>
__device__ __forceinline__ void load_both(const SoftmaxBackwardParams& params, int64_t r,
                                          int64_t first, int count, Row& y, Row& dy) {
  const T* const y_row = static_cast<const T*>(params.y) + r * params.y_row_stride + first;
  const T* const dy_row = static_cast<const T*>(params.dy) + r * params.dy_row_stride + first;
  const T y_padding = softmax_padding<T>(params.log != 0);
  const T dy_padding = from_accumulator<T>(Accumulator<T>(0));
  y.start_load(y_row, count, y_padding);
  dy.start_load(dy_row, count, dy_padding);
  y.finish_load(y_row, count, y_padding);
  dy.finish_load(dy_row, count, dy_padding);
}

template <class T, class Team, class Row>
__device__ __forceinline__ void gradient_rows(const SoftmaxBackwardParams& params, Team& team,
                                              Row& y, Row& dy) {
  using A = Accumulator<T>;
  const A scale = static_cast<A>(params.scale);
  const bool log = params.log != 0;
  for (int64_t r = team.first_row(); team.goes_on(r, params.rows); r += team.row_stride()) {
    const bool exists = r < params.rows;
    const int row_length = exists ? static_cast<int>(params.row_length) : 0;
    load_both<T>(params, r, 0, row_length, y, dy);
    const A sum = team.reduce(gradient_sum<T>(y, dy, log), A(0), Sum<A>());
    T* const dx = static_cast<T*>(params.dx) + r * params.dx_row_stride;
    store_gradient(y, dy, dx, row_length, log, scale, sum);
  }
}

template <class T, int kPacks, template <class> class TeamOf>
__device__ __forceinline__ void in_registers(const SoftmaxBackwardParams& params) {
  TeamOf<Accumulator<T>> team;
  RegisterRow<T, kPacks> y(team.rank(), team.size());
  RegisterRow<T, kPacks> dy(team.rank(), team.size());
  gradient_rows<T>(params, team, y, dy);
}

template <class T, template <class> class TeamOf>
__device__ __forceinline__ void in_shared_memory(const SoftmaxBackwardParams& params) {
  CULEBRA_SHARED_DYNAMIC(uint4, memory);
  TeamOf<Accumulator<T>> team;
  const int row_length = static_cast<int>(params.row_length);
  SharedRow<T> y(memory, row_length, team.rank(), team.size());
  SharedRow<T> dy(memory + SharedRow<T>::packs_of_block(row_length, team.size()), row_length,
                  team.rank(), team.size());
  gradient_rows<T>(params, team, y, dy);
}

template <class T>
__device__ __forceinline__ void lanes1(const SoftmaxBackwardParams& params) {
  in_registers<T, 1, LaneTeam>(params);
}
template <class T>
__device__ __forceinline__ void lanes2(const SoftmaxBackwardParams& params) {
  in_registers<T, 2, LaneTeam>(params);
}
template <class T>
__device__ __forceinline__ void registers2(const SoftmaxBackwardParams& params) {
  in_registers<T, 2, BlockTeam>(params);
}
template <class T>
__device__ __forceinline__ void shared(const SoftmaxBackwardParams& params) {
  in_shared_memory<T, BlockTeam>(params);
}
template <class T>
__device__ __forceinline__ void cluster(const SoftmaxBackwardParams& params) {
  in_shared_memory<T, ClusterTeam>(params);
}

// Calls visit(y, dy, first, count) for each part of the piece that the block has in registers.
template <class T, class Visit>
__device__ __forceinline__ void for_each_part_of(const SoftmaxBackwardParams& params,
                                                 const RowPiece& piece, Visit visit) {
  RegisterRow<T, kPiecePacks> y(threadIdx.x, blockDim.x);
  RegisterRow<T, kPiecePacks> dy(threadIdx.x, blockDim.x);
  const int most = static_cast<int>(blockDim.x) * kPiecePacks * kPackSize<T>;
  piece.for_each_part(most, [&](int64_t first, int count) {
    load_both<T>(params, piece.row, first, count, y, dy);
    visit(y, dy, first, count);
  });
}

template <class T>
__device__ __forceinline__ void sums(const SoftmaxBackwardParams& params,
                                     const SoftmaxBackwardPieces& pieces) {
  using A = Accumulator<T>;
  const bool log = params.log != 0;
  BlockTeam<A> team;
  for (int64_t i = blockIdx.x; i < params.rows * pieces.pieces; i += gridDim.x) {
    const RowPiece piece(params.row_length, pieces.pieces, pieces.piece_length, i);
    A sum = 0;
    for_each_part_of<T>(params, piece, [&](const auto& y, const auto& dy, int64_t, int) {
      sum = add_rn(sum, gradient_sum<T>(y, dy, log));
    });
    sum = team.reduce(sum, A(0), Sum<A>());
    if (threadIdx.x == 0) static_cast<A*>(pieces.sums)[i] = sum;
  }
}

template <class T>
__device__ __forceinline__ void finish(const SoftmaxBackwardParams& params,
                                       const SoftmaxBackwardPieces& pieces) {
  using A = Accumulator<T>;
  const A scale = static_cast<A>(params.scale);
  const bool log = params.log != 0;
  BlockTeam<A> team;
  for (int64_t i = blockIdx.x; i < params.rows * pieces.pieces; i += gridDim.x) {
    const RowPiece piece(params.row_length, pieces.pieces, pieces.piece_length, i);
    const A* const stored = static_cast<const A*>(pieces.sums) + piece.row * pieces.pieces;
    A own = 0;
    for (int64_t p = threadIdx.x; p < pieces.pieces; p += blockDim.x) own = add_rn(own, stored[p]);
    const A sum = team.reduce(own, A(0), Sum<A>());
    T* const dx = static_cast<T*>(params.dx) + piece.row * params.dx_row_stride;
    for_each_part_of<T>(params, piece,
                        [&](const auto& y, const auto& dy, int64_t first, int count) {
                          store_gradient(y, dy, dx + first, count, log, scale, sum);
                        });
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_SOFTMAX_BACKWARD(variant, type, threads, blocks, reason)                \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                         \
      culebra_softmax_backward_##variant##_##type(const SoftmaxBackwardParams params) { \
    culebra::variant<culebra::type>(params);                                            \
  }                                                                                     \
  CULEBRA_KERNEL(culebra_softmax_backward_##variant##_##type, threads, params)

#define CULEBRA_SOFTMAX_BACKWARD_PIECE_KERNEL(step, type, threads, blocks)           \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                      \
      culebra_softmax_backward_##step##_##type(const SoftmaxBackwardParams params,   \
                                               const SoftmaxBackwardPieces pieces) { \
    culebra::step<culebra::type>(params, pieces);                                    \
  }                                                                                  \
  CULEBRA_KERNEL(culebra_softmax_backward_##step##_##type, threads, params, pieces)

#define CULEBRA_SOFTMAX_BACKWARD_SPLIT(type, threads, blocks, reason) \
  CULEBRA_SOFTMAX_BACKWARD_PIECE_KERNEL(sums, type, threads, blocks)  \
  CULEBRA_SOFTMAX_BACKWARD_PIECE_KERNEL(finish, type, threads, blocks)

// Read by the host program alone.
#define CULEBRA_SOFTMAX_PLAN(target, type, most_rows, longest_row, variant, threads, cluster, \
                             reason)
#define CULEBRA_SOFTMAX_PIECES(type, most_bytes, piece_bytes, reason)

#include "softmax_backward.def"

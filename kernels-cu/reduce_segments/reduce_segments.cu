// Reductions of segments: parts of an array between offsets that lie on the device;
// reduction_ops.cuh says what each computes.
//
// Symbols, all taking ReduceSegmentsParams, for what one launch after the other does:
//
//   culebra_reduce_segments_<op>_<type>         gives each segment to a few lanes of a warp, except
//                                               those that are too long: of these it lists the
//                                               pieces
//   culebra_reduce_segments_pieces_<op>_<type>  a block a piece: elements to a state
//   culebra_reduce_segments_merge_<op>_<type>   a block for each cut segment: its states to a
//   result
//
// The second and third are needed only where there are more elements than a segment may have for
// the first. Where in the list a segment's pieces come is up to the order in which warps ask for
// it; what is combined with what is not, so results repeat bit for bit. An index is that within its
// segment.
//
// Packs of 16 bytes are read where the array has them, wherever a segment begins: what belongs to
// its neighbours is read with it, and left out.
#include "culebra/platform.cuh"

#include "culebra/block.cuh"
#include "culebra/params.h"
#include "culebra/ptx.cuh"
#include "culebra/reduction_ops.cuh"
#include "culebra/reduction_rows.cuh"
#include "culebra/resident_row.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

namespace culebra {
namespace {

// Packs a thread has on their way: of a short segment few have something to load.
constexpr int kPacksOfLane = 2;
constexpr int kPacksOfPiece = 4;

// The elements [begin, end) of the array.
struct Range {
  int64_t begin;
  int64_t end;
  __device__ __forceinline__ int64_t length() const { return end - begin; }
};

__device__ __forceinline__ int64_t clamped(int64_t x, int64_t low, int64_t high) {
  return x < low ? low : x > high ? high : x;
}

__device__ __forceinline__ int64_t offset(const ReduceSegmentsParams& params, int64_t i) {
  return params.offset_bytes == 4 ? static_cast<const int32_t*>(params.offsets)[i]
                                  : static_cast<const int64_t*>(params.offsets)[i];
}

// Whatever the offsets are, the range lies within the array.
__device__ __forceinline__ Range segment(const ReduceSegmentsParams& params, int64_t s) {
  const int64_t begin = clamped(offset(params, s), 0, params.elements);
  return {begin, clamped(offset(params, s + 1), begin, params.elements)};
}

__device__ __forceinline__ int64_t pieces_of(const ReduceSegmentsParams& params, int64_t length) {
  return (length - 1) / params.piece_length + 1;
}

// How many pieces the first launch has listed, or would have if there had been place.
__device__ __forceinline__ int64_t listed_pieces(const ReduceSegmentsParams& params) {
  const uint64_t count = *static_cast<const uint64_t*>(params.piece_count);
  const uint64_t limit = static_cast<uint64_t>(params.piece_limit);
  return static_cast<int64_t>(count < limit ? count : limit);
}

// What thread `rank` of `size` gathers of a range. Indices count from `origin`.
template <class T, class Op, int kPacks>
__device__ __forceinline__ typename Op::State gather(const T* in, Range range, int64_t origin,
                                                     unsigned rank, unsigned size) {
  const int before = static_cast<int>(range.begin % kPackSize<T>);
  const int64_t start = range.begin - before;
  const T padding = from_accumulator<T>(Op::kPadding);
  const int most = static_cast<int>(size) * kPacks * kPackSize<T>;

  typename Op::Running running = Op::empty();
  RegisterRow<T, kPacks> part(rank, size);
  for (int64_t first = start; first < range.end; first += most) {
    const int64_t left = range.end - first;
    part.load(in + first, left < most ? static_cast<int>(left) : most, padding);
    if (first == start && before > 0) {
      part.transform([&](int i, T x) { return i < before ? padding : x; });
    }
    Op::absorb(running, RowBatch<T, kPacks>{part, first - origin});
  }
  return Op::state(running);
}

// The calling thread's lane of its warp, in a block of several teams.
__device__ __forceinline__ unsigned lane_of_teams() {
  return (threadIdx.y * blockDim.x + threadIdx.x) % kWarpSize;
}

// An operator as teams want it.
template <class Op>
struct AcrossLanes : Op {
  template <class State>
  __device__ __forceinline__ State across(State value, unsigned lanes) const {
    const unsigned lane = lane_of_teams();
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      value = (*this)(value, shuffle(0xffffffffu, value, lane ^ distance));
    }
    return value;
  }
};

// Lists the pieces of the segments that the first lanes of the warp's teams have found too long.
// Returns whether the calling lane's is listed; all lanes of the warp call together.
__device__ __forceinline__ bool list_pieces(const ReduceSegmentsParams& params, int64_t s,
                                            int64_t pieces, bool leads) {
  const unsigned lane = lane_of_teams();
  int64_t first = -1;
  if (leads && pieces > 0) {
    const uint64_t taken = ptx::atom_add_relaxed_gpu_u64(static_cast<uint64_t*>(params.piece_count),
                                                         static_cast<uint64_t>(pieces));
    if (taken + pieces <= static_cast<uint64_t>(params.piece_limit)) {
      first = static_cast<int64_t>(taken);
    }
  }
  // The whole warp writes for one team after the other: a segment can have very many pieces.
  auto* const list = static_cast<ReduceSegmentPiece*>(params.pieces);
  for (unsigned listed = __ballot_sync(0xffffffffu, first >= 0); listed != 0;
       listed &= listed - 1) {
    const unsigned source = static_cast<unsigned>(__ffs(static_cast<int>(listed))) - 1;
    const int64_t its_first = shuffle(0xffffffffu, first, source);
    const int64_t its_pieces = shuffle(0xffffffffu, pieces, source);
    const int64_t its_segment = shuffle(0xffffffffu, s, source);
    for (int64_t i = lane; i < its_pieces; i += kWarpSize) {
      list[its_first + i] = {its_segment + 1, its_first};
    }
  }
  return shuffle(0xffffffffu, first, lane - threadIdx.x) >= 0;
}

template <class T, class Op>
__device__ __forceinline__ void reduce_segments(const ReduceSegmentsParams& params) {
  using State = typename Op::State;
  LaneTeam<State> team;
  for (int64_t s = team.first_row(); team.goes_on(s, params.segments); s += team.row_stride()) {
    Range range = s < params.segments ? segment(params, s) : Range{0, 0};
    const int64_t length = range.length();
    bool listed = false;
    if (params.piece_limit > 0) {
      const int64_t pieces = length > params.longest ? pieces_of(params, length) : 0;
      listed = list_pieces(params, s, pieces, team.rank() == 0);
      if (listed) range.end = range.begin;
    }
    State state = gather<T, Op, kPacksOfLane>(static_cast<const T*>(params.in), range, range.begin,
                                              team.rank(), team.size());
    state = team.reduce(state, Op::state(Op::empty()), AcrossLanes<Op>());
    if (s < params.segments && !listed && team.rank() == 0) {
      if (length > 0) Op::settle(state, 0);
      static_cast<typename Op::Result*>(params.out)[s] =
          Op::finish(state, params.mean != 0 ? static_cast<double>(length) : 1.0);
    }
  }
}

template <class T, class Op>
__device__ __forceinline__ void reduce_pieces(const ReduceSegmentsParams& params) {
  const int64_t count = listed_pieces(params);
  for (int64_t p = blockIdx.x; p < count; p += gridDim.x) {
    const ReduceSegmentPiece piece = static_cast<const ReduceSegmentPiece*>(params.pieces)[p];
    if (piece.segment == 0) continue;
    Range range = segment(params, piece.segment - 1);
    const int64_t origin = range.begin;
    range.begin += (p - piece.first) * params.piece_length;
    if (range.length() > params.piece_length) range.end = range.begin + params.piece_length;
    typename Op::State state = gather<T, Op, kPacksOfPiece>(static_cast<const T*>(params.in), range,
                                                            origin, threadIdx.x, blockDim.x);
    state = block_reduce(state, Op());
    if (threadIdx.x == 0) {
      Op::settle(state, range.begin - origin);
      static_cast<typename Op::State*>(params.states)[p] = state;
    }
  }
}

template <class T, class Op>
__device__ __forceinline__ void merge_pieces(const ReduceSegmentsParams& params) {
  using State = typename Op::State;
  const int64_t count = listed_pieces(params);
  for (int64_t p = blockIdx.x; p < count; p += gridDim.x) {
    const ReduceSegmentPiece piece = static_cast<const ReduceSegmentPiece*>(params.pieces)[p];
    if (piece.segment == 0 || piece.first != p) continue;
    const int64_t length = segment(params, piece.segment - 1).length();
    State state = merge_states<Op>(static_cast<const State*>(params.states) + p,
                                   pieces_of(params, length), threadIdx.x, blockDim.x);
    state = block_reduce(state, Op());
    if (threadIdx.x == 0) {
      static_cast<typename Op::Result*>(params.out)[piece.segment - 1] =
          Op::finish(state, params.mean != 0 ? static_cast<double>(length) : 1.0);
    }
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_REDUCE_SEGMENTS_KERNEL(symbol, body, op, type, threads, resident_threads) \
  extern "C" __global__ void __launch_bounds__(threads, resident_threads / threads)       \
      symbol(const ReduceSegmentsParams params) {                                         \
    culebra::body<culebra::type, culebra::ops::op<culebra::type>>(params);                \
  }                                                                                       \
  CULEBRA_KERNEL(symbol, threads, params)

#define CULEBRA_REDUCE_SEGMENTS(op, type, threads, resident_threads, longest, piece, reason)       \
  CULEBRA_REDUCE_SEGMENTS_KERNEL(culebra_reduce_segments_##op##_##type, reduce_segments, op, type, \
                                 threads, resident_threads)                                        \
  CULEBRA_REDUCE_SEGMENTS_KERNEL(culebra_reduce_segments_pieces_##op##_##type, reduce_pieces, op,  \
                                 type, threads, resident_threads)
#define CULEBRA_REDUCE_SEGMENTS_MERGE(op, type, threads, reason)                                \
  CULEBRA_REDUCE_SEGMENTS_KERNEL(culebra_reduce_segments_merge_##op##_##type, merge_pieces, op, \
                                 type, threads, threads)

#include "reduce_segments.def"

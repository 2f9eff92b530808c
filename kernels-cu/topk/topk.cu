// The K largest of each row, with the row's softmax: one read of the row, one write of K results.
//
//   content            result                                    work an element
//   probabilities      exp(scale * x - max) / sum                one maximum, one exponential
//   log probabilities  their logarithm                           the same
//   elements           x itself: a top-k without softmax         one maximum
//
// Results are sorted, the largest first, equal ones by their index; with a negative scale the
// smallest elements come first, as their probabilities are the largest. -0 and +0 are equal. NaN
// counts as the largest. A row with NaN or +inf, or of nothing but -inf, has NaN for all its
// probabilities, as in softmax.cu; the indices are still those of the K largest.
//
// Symbols, for f32, f16 and bf16; the variants differ in how large K may be (topk.def):
//
//   culebra_topk_<variant>_<type>         a block works on a row at a time (TopKParams)
//   culebra_topk_pieces_<variant>_<type>  for few rows: a block works on a piece of a row and
//   leaves
//                                         its K best keys and its (m, d) (TopKPiecesParams)
//   culebra_topk_merge_<variant>_<type>   makes the row's of them, a block a row (TopKMergeParams)
//
// There is no f64: a key, see key.cuh, has 32 bits for the element.
//
// A thread reads a chunk of its row, finds the chunk's maximum, rescales its sum once and adds an
// exponential for each element. Only where a chunk's maximum reaches the threshold of the K best so
// far are its elements looked at (candidates.cuh). (m, d) is found by place alone, and the K best
// by an order without ties, so the result does not depend on alignment, strides, grid or run, to
// the last bit.
//
// Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867.
#include "culebra/platform.cuh"

#include "culebra/chunk.cuh"
#include "culebra/key.cuh"
#include "culebra/math.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/ptx.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

#include "candidates.cuh"

namespace culebra {
namespace {

using State = OnlineState<float>;

// exp(t * scale) for t <= 0, to the precision of the storage type: what an approximation is wrong
// by does not show in 16 bits.
template <class T>
class Weight {
  static constexpr bool kApproximate = sizeof(T) == sizeof(uint16_t);
  static constexpr float kLog2E = 1.44269504f;

 public:
  __device__ __forceinline__ explicit Weight(float scale)
      : factor_(kApproximate ? scale * kLog2E : scale) {}

  // Whether t * factor is a number also for t = -inf and for t = 0.
  __device__ __forceinline__ bool is_usual() const {
    return factor_ != 0.0f && factor_ != kInfinity<float>;
  }

  __device__ __forceinline__ float operator()(float t) const {
    if constexpr (kApproximate) return ptx::ex2_approx_ftz_f32(t * factor_);
    return exp_of(t * factor_);
  }

 private:
  float factor_;
};

// The softmax of a row on the way: (m, d) of what the calling thread has seen. Elements are halved,
// so that a difference of finite ones is finite, and the scale is doubled (as in softmax.cu).
template <class T>
struct Statistics {
  static constexpr float kHalf = 0.5f;

  float scale;  // twice the magnitude
  State state = State::empty();

  __device__ __forceinline__ explicit Statistics(double signed_scale)
      : scale(2.0f * fabsf(static_cast<float>(signed_scale))) {}

  // `largest` is the largest of the chunk. A NaN makes d NaN, and it stays so.
  template <class Chunk>
  __device__ __forceinline__ void add(const Chunk& chunk, float largest) {
    const Weight<T> weight(scale);
    const float m = ptx::max_NaN_f32(state.m, kHalf * largest);
    // As long as nothing but -inf was seen, its weight exp(-inf - m) is to be 0 all the same.
    const float shift = m == -kInfinity<float> ? 0.0f : m;
    float sum = 0.0f;
    if (weight.is_usual()) {
#pragma unroll
      for (int i = 0; i < Chunk::kElements; ++i) {
        // The halving is exact, so this is their difference, rounded once.
        sum += weight(fma_rn(chunk.value(i), kHalf, -shift));
      }
    } else {
#pragma unroll
      for (int i = 0; i < Chunk::kElements; ++i) {
        sum += softmax_weight(kHalf * chunk.value(i), shift, scale);
      }
    }
    state = {m, fma_rn(state.d, softmax_weight(state.m, shift, scale), sum)};
  }
};

// Writes the results of a row, given its K best and its statistics. Params is TopKParams or
// TopKMergeParams.
template <class T, class Params, class Candidates>
__device__ __forceinline__ void write_row(const Params& params, int64_t row,
                                          const Candidates& candidates, const State& state,
                                          float scale) {
  const T* const in = static_cast<const T*>(params.in) + row * params.in_row_stride;
  T* const out = static_cast<T*>(params.out) + row * params.out_row_stride;
  const int64_t indices = row * params.indices_row_stride;
  const float log_d = params.content == kTopKLogProbabilities ? log_of(state.d) : 0.0f;
  for (int32_t i = static_cast<int32_t>(threadIdx.x); i < params.k; i += blockDim.x) {
    const Key key = candidates.at(i);
    const uint32_t index = index_of(key);
    if (params.content == kTopKElements) {
      out[i] = in[index];
    } else {
      const float x = Statistics<T>::kHalf * from_ordered(ordered_of(key));
      const float result = params.content == kTopKLogProbabilities
                               ? (x == -kInfinity<float> ? x : (x - state.m) * scale) - log_d
                               : softmax_weight(x, state.m, scale) / state.d;
      out[i] = from_accumulator<T>(result);
    }
    if (params.index_bytes == sizeof(int64_t)) {
      static_cast<int64_t*>(params.indices)[indices + i] = index;
    } else {
      static_cast<int32_t*>(params.indices)[indices + i] = static_cast<int32_t>(index);
    }
  }
}

// The best of one piece of a row into `candidates`, and the calling thread's statistics of it. All
// threads of the block call together; in between each warp goes at its own pace.
template <class T, int kPacks, class Candidates>
__device__ __forceinline__ void scan(const Piece<T>& piece, bool with_softmax,
                                     Candidates& candidates, Statistics<T>& statistics) {
  using Chunk = Chunk<T, kPacks>;
  const bool aligned = is_pack_aligned(piece.elements);
  const uint32_t round = blockDim.x * Chunk::kElements;
  uint32_t start = 0;    // of the next round
  uint32_t first = 0;    // place of the last chunk's first element
  uint32_t largest = 0;  // of the last chunk, ordered
  uint32_t wanted = 0;   // elements of the last chunk that are still to be appended
  candidates.begin();
  for (;;) {
    // All lanes of a warp leave the loop together.
    while (start < piece.length &&
           !__any_sync(0xffffffffu, wanted != 0 || candidates.meeting_called())) {
      const Chunk chunk(piece, start, aligned);
      const float most = chunk.largest();
      if (with_softmax) statistics.add(chunk, most);
      first = chunk.offset(0);
      largest = to_ordered(most);
      // The first threshold. (No meeting can have been called before it.)
      if (start == 0) candidates.raise_threshold(candidates.bound_of(largest));
      start += round;

      // Marks what may be above the threshold, also NaN.
      const float least = least_above(candidates.threshold(), piece.index + first);
      if (most < least) continue;
#pragma unroll
      for (int i = 0; i < Chunk::kElements; ++i) {
        if (!(chunk.value(i) < least)) wanted |= 1u << i;
      }
      candidates.append(wanted, [&](int i) -> Key {
        const uint32_t at = chunk.offset(i);
        return at < piece.length ? make_key(chunk.value_at(i), piece.index + at) : 0;
      });
    }

    if (!candidates.meet(start < piece.length || wanted != 0)) break;
    // Where many are wanted, as in a row that ascends, the last chunks say how high the bar is.
    if (__syncthreads_or(wanted != 0)) {
      candidates.raise_threshold(candidates.bound_of(largest));
      // Read again: nobody keeps the chunk for this rare case.
      candidates.append(wanted, [&](int i) -> Key {
        const uint32_t at = Chunk::place(first, i);
        return at < piece.length ? make_key(piece.value(at), piece.index + at) : 0;
      });
    }
  }
  candidates.finish();
}

template <class T, int kPacks, int kCapacity>
__device__ __forceinline__ void top_of_rows(const TopKParams& params) {
  using Storage = CandidateStorage<kCapacity>;
  CULEBRA_SHARED(Storage, storage, 1);
  Candidates<kCapacity> candidates(storage[0], static_cast<uint32_t>(params.k));
  // One exponential a warp, not one a step: short rows feel it.
  BlockTeam<State> team;
  const bool with_softmax = params.content != kTopKElements;

  for (int64_t row = blockIdx.x; row < params.rows; row += gridDim.x) {
    const Piece<T> whole{static_cast<const T*>(params.in) + row * params.in_row_stride,
                         static_cast<uint32_t>(params.row_length), 0, params.scale < 0};
    Statistics<T> statistics(params.scale);
    scan<T, kPacks>(whole, with_softmax, candidates, statistics);
    State state = statistics.state;
    if (with_softmax) {
      state = team.reduce(state, State::empty(), OnlineMerge<float>{statistics.scale});
    }
    write_row<T>(params, row, candidates, state, statistics.scale);
  }
}

template <class T, int kPacks, int kCapacity>
__device__ __forceinline__ void top_of_pieces(const TopKPiecesParams& params) {
  using Storage = CandidateStorage<kCapacity>;
  CULEBRA_SHARED(Storage, storage, 1);
  Candidates<kCapacity> candidates(storage[0], static_cast<uint32_t>(params.k));
  // One exponential a warp, not one a step: short rows feel it.
  BlockTeam<State> team;
  const bool with_softmax = params.content != kTopKElements;

  const int64_t pieces = params.rows * params.pieces;
  for (int64_t p = blockIdx.x; p < pieces; p += gridDim.x) {
    const int64_t row = p / params.pieces;
    const int64_t begin = (p - row * params.pieces) * params.piece_elements;
    const int64_t left = params.row_length - begin;
    const Piece<T> piece{
        static_cast<const T*>(params.in) + row * params.in_row_stride + begin,
        static_cast<uint32_t>(left < params.piece_elements ? left : params.piece_elements),
        static_cast<uint32_t>(begin), params.scale < 0};
    Statistics<T> statistics(params.scale);
    scan<T, kPacks>(piece, with_softmax, candidates, statistics);
    State state = statistics.state;
    if (with_softmax) {
      state = team.reduce(state, State::empty(), OnlineMerge<float>{statistics.scale});
    }
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < params.k; i += blockDim.x) {
      static_cast<Key*>(params.keys)[p * params.k + i] = candidates.at(i);
    }
    if (threadIdx.x == 0) static_cast<State*>(params.states)[p] = state;
  }
}

// The best of a row of keys into `candidates`: scan, with keys for elements. Together.
template <class Candidates>
__device__ __forceinline__ void merge_keys(const Key* keys, int64_t count, Candidates& candidates) {
  constexpr int kKeys = 4;  // that a thread reads at once
  const int64_t round = static_cast<int64_t>(blockDim.x) * kKeys;
  int64_t start = 0;
  uint32_t wanted = 0;
  Key chunk[kKeys] = {};
  const auto key_at = [&](int i) {
    return i == 0 ? chunk[0] : i == 1 ? chunk[1] : i == 2 ? chunk[2] : chunk[3];
  };
  candidates.begin();
  for (;;) {
    while (start < count && !__any_sync(0xffffffffu, wanted != 0 || candidates.meeting_called())) {
#pragma unroll
      for (int i = 0; i < kKeys; ++i) {
        const int64_t at = start + static_cast<int64_t>(i) * blockDim.x + threadIdx.x;
        chunk[i] = at < count ? keys[at] : 0;
      }
      if (start == 0) {
        Key largest = 0;
#pragma unroll
        for (const Key key : chunk) largest = key > largest ? key : largest;
        candidates.raise_threshold(candidates.bound_of(ordered_of(largest)));
      }
      start += round;
#pragma unroll
      for (int i = 0; i < kKeys; ++i) {
        if (chunk[i] > candidates.threshold()) wanted |= 1u << i;
      }
      candidates.append(wanted, key_at);
    }
    if (!candidates.meet(start < count || wanted != 0)) break;
    candidates.append(wanted, key_at);
  }
  candidates.finish();
}

template <class T, int kCapacity>
__device__ __forceinline__ void merge_pieces(const TopKMergeParams& params) {
  using Storage = CandidateStorage<kCapacity>;
  CULEBRA_SHARED(Storage, storage, 1);
  Candidates<kCapacity> candidates(storage[0], static_cast<uint32_t>(params.k));
  // One exponential a warp, not one a step: short rows feel it.
  BlockTeam<State> team;
  const OnlineMerge<float> merge{Statistics<T>(params.scale).scale};

  const int64_t count = static_cast<int64_t>(params.pieces) * params.k;
  for (int64_t row = blockIdx.x; row < params.rows; row += gridDim.x) {
    merge_keys(static_cast<const Key*>(params.keys) + row * count, count, candidates);

    State state = State::empty();
    if (params.content != kTopKElements) {
      const State* const states = static_cast<const State*>(params.states) + row * params.pieces;
      for (int32_t i = static_cast<int32_t>(threadIdx.x); i < params.pieces; i += blockDim.x) {
        state = merge(state, states[i]);
      }
      state = team.reduce(state, State::empty(), merge);
    }
    write_row<T>(params, row, candidates, state, merge.scale);
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_TOPK_KERNEL(symbol, threads, blocks, Params, body, ...)                       \
  extern "C" __global__ void __launch_bounds__(threads, blocks) symbol(const Params params) { \
    culebra::body<__VA_ARGS__>(params);                                                       \
  }                                                                                           \
  CULEBRA_KERNEL(symbol, threads, params)

#define CULEBRA_TOPK(variant, type, most_k, threads, blocks, packs, capacity, reason)            \
  static_assert(4 * most_k <= capacity, "candidates.cuh");                                       \
  CULEBRA_TOPK_KERNEL(culebra_topk_##variant##_##type, threads, blocks, TopKParams, top_of_rows, \
                      culebra::type, packs, capacity)                                            \
  CULEBRA_TOPK_KERNEL(culebra_topk_pieces_##variant##_##type, threads, blocks, TopKPiecesParams, \
                      top_of_pieces, culebra::type, packs, capacity)                             \
  CULEBRA_TOPK_KERNEL(culebra_topk_merge_##variant##_##type, threads, blocks, TopKMergeParams,   \
                      merge_pieces, culebra::type, capacity)

// Only the host program looks at it.
#define CULEBRA_TOPK_PIECES(blocks, least_elements, reason)

#include "topk.def"

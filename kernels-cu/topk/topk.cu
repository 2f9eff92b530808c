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
// Symbols: culebra_topk_<variant>_<type> and culebra_topk_merge_<variant>_<type> for f32, f16 and
// bf16, all taking TopKParams; the variants differ in how large K may be (topk.def). A block works
// on one piece of a row at a time. With one piece a row it writes the results; else it leaves the
// piece's K best keys and its (m, d) state in the workspace, and merge, with a block a row, does
// the rest.
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

#include "culebra/block.cuh"
#include "culebra/math.cuh"
#include "culebra/online.cuh"
#include "culebra/params.h"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"

#include "candidates.cuh"
#include "chunk.cuh"
#include "key.cuh"

namespace culebra {
namespace {

using State = OnlineState<float>;

// exp(t), to the precision of the storage type: an approximation is far below what 16 bits show.
template <class T>
__device__ __forceinline__ float weight_of(float t) {
  constexpr float kLog2E = 1.44269504f;
  if constexpr (sizeof(T) == sizeof(uint16_t)) {
    return ptx::ex2_approx_ftz_f32(t * kLog2E);
  } else {
    return exp_of(t);
  }
}

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
    const float m = ptx::max_NaN_f32(state.m, kHalf * largest);
    // As long as nothing but -inf was seen, its weight exp(-inf - m) is to be 0 all the same.
    const float shift = m == -kInfinity<float> ? 0.0f : m;
    float sum = 0.0f;
    if (scale != 0.0f) {
#pragma unroll
      for (int i = 0; i < Chunk::kElements; ++i) {
        // The halving is exact, so this is their difference, rounded once.
        sum += weight_of<T>(fma_rn(chunk.value(i), kHalf, -shift) * scale);
      }
    } else {
#pragma unroll
      for (int i = 0; i < Chunk::kElements; ++i) sum += State::of(chunk.value(i)).d;
    }
    state = {m, fma_rn(state.d, softmax_weight(state.m, shift, scale), sum)};
  }
};

// What the block of one piece, or of a merge, writes for its row.
template <class T>
__device__ __forceinline__ void write_result(const TopKParams& params, int64_t row, uint32_t rank,
                                             Key key, const State& state, float scale) {
  const uint32_t index = index_of(key);
  T* const out = static_cast<T*>(params.out) + row * params.out_row_stride + rank;
  if (params.content == kTopKElements) {
    *out = (static_cast<const T*>(params.in) + row * params.in_row_stride)[index];
  } else {
    const float x = 0.5f * from_ordered(ordered_of(key));
    const float result =
        params.content == kTopKLogProbabilities
            ? (x == -kInfinity<float> ? x : (x - state.m) * scale) - log_of(state.d)
            : softmax_weight(x, state.m, scale) / state.d;
    *out = from_accumulator<T>(result);
  }
  const int64_t place = row * params.indices_row_stride + rank;
  if (params.index_bytes == sizeof(int64_t)) {
    static_cast<int64_t*>(params.indices)[place] = index;
  } else {
    static_cast<int32_t*>(params.indices)[place] = static_cast<int32_t>(index);
  }
}

// The best of one piece of a row into `candidates`, and the calling thread's statistics of it. All
// threads of the block call together.
template <class T, int kPacks, class Candidates>
__device__ __forceinline__ void scan(const Piece<T>& piece, bool with_softmax,
                                     Candidates& candidates, Statistics<T>& statistics) {
  using Chunk = Chunk<T, kPacks>;
  const bool aligned = is_pack_aligned(piece.elements);
  const uint32_t round = blockDim.x * Chunk::kElements;
  candidates.begin();
  for (uint32_t start = 0; start < piece.length; start += round) {
    const Chunk chunk(piece, start, aligned);
    const float largest = chunk.largest();
    if (with_softmax) statistics.add(chunk, largest);

    const uint32_t first = chunk.offset(0);
    const auto bound = [&] {
      return candidates.bound_of(first < piece.length ? to_ordered(largest) : 0);
    };
    if (start == 0) candidates.raise_threshold(bound());

    // Marks what may be above the threshold, also NaN.
    uint32_t wanted = 0;
    const float least = least_above(candidates.threshold(), piece.index + first);
    if (!(largest < least)) {
#pragma unroll
      for (int i = 0; i < Chunk::kElements; ++i) {
        if (!(chunk.value(i) < least)) wanted |= 1u << i;
      }
    }
    // The few that are wanted are read again: their keys would take more registers than the chunk.
    const auto key_at = [&](int i) -> Key {
      const uint32_t at = chunk.offset(i);
      return at < piece.length ? make_key(piece.value(at), piece.index + at) : 0;
    };
    candidates.offer(wanted, key_at, bound);
  }
  candidates.keep_largest();
}

template <class T, int kPacks, int kCapacity>
__device__ __forceinline__ void top_of_rows(const TopKParams& params) {
  using Storage = CandidateStorage<kCapacity>;
  CULEBRA_SHARED(Storage, storage, 1);
  const uint32_t k = static_cast<uint32_t>(params.k);
  Candidates<kCapacity> candidates(storage[0], k);
  const bool with_softmax = params.content != kTopKElements;

  const int64_t pieces = params.rows * params.splits;
  for (int64_t p = blockIdx.x; p < pieces; p += gridDim.x) {
    const int64_t row = params.splits == 1 ? p : p / params.splits;
    const int64_t begin = (p - row * params.splits) * params.split_elements;
    const int64_t left = params.row_length - begin;
    const Piece<T> piece{
        static_cast<const T*>(params.in) + row * params.in_row_stride + begin,
        static_cast<uint32_t>(left < params.split_elements ? left : params.split_elements),
        static_cast<uint32_t>(begin), params.scale < 0};

    Statistics<T> statistics(params.scale);
    scan<T, kPacks>(piece, with_softmax, candidates, statistics);
    State state = statistics.state;
    if (with_softmax) state = block_reduce(state, OnlineMerge<float>{statistics.scale});

    if (params.splits == 1) {
      for (uint32_t i = threadIdx.x; i < k; i += blockDim.x) {
        write_result<T>(params, row, i, candidates.at(i), state, statistics.scale);
      }
    } else {
      for (uint32_t i = threadIdx.x; i < k; i += blockDim.x) {
        static_cast<Key*>(params.keys)[p * k + i] = candidates.at(i);
      }
      if (threadIdx.x == 0) static_cast<State*>(params.states)[p] = state;
    }
  }
}

template <class T, int kCapacity>
__device__ __forceinline__ void merge_rows(const TopKParams& params) {
  using Storage = CandidateStorage<kCapacity>;
  CULEBRA_SHARED(Storage, storage, 1);
  const uint32_t k = static_cast<uint32_t>(params.k);
  Candidates<kCapacity> candidates(storage[0], k);
  const uint32_t count = static_cast<uint32_t>(params.splits) * k;
  const OnlineMerge<float> merge{Statistics<T>(params.scale).scale};

  for (int64_t row = blockIdx.x; row < params.rows; row += gridDim.x) {
    const Key* const keys = static_cast<const Key*>(params.keys) + row * count;
    const State* const states = static_cast<const State*>(params.states) + row * params.splits;
    candidates.begin();
    for (uint32_t start = 0; start < count; start += blockDim.x) {
      const uint32_t i = start + threadIdx.x;
      const Key key = i < count ? keys[i] : 0;
      candidates.offer(
          key > candidates.threshold() ? 1 : 0, [&](int) { return key; },
          [&] { return candidates.threshold(); });
    }
    candidates.keep_largest();

    State state = State::empty();
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < params.splits; i += blockDim.x) {
      state = merge(state, states[i]);
    }
    if (params.content != kTopKElements) state = block_reduce(state, merge);
    for (uint32_t i = threadIdx.x; i < k; i += blockDim.x) {
      write_result<T>(params, row, i, candidates.at(i), state, merge.scale);
    }
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_TOPK_KERNEL(symbol, threads, blocks, body)                                        \
  extern "C" __global__ void __launch_bounds__(threads, blocks) symbol(const TopKParams params) { \
    culebra::body(params);                                                                        \
  }                                                                                               \
  CULEBRA_KERNEL(symbol, threads, params)

// (The emulator's macro counts commas, so the template's name has none.)
#define CULEBRA_TOPK(variant, type, most_k, threads, blocks, packs, capacity, reason)           \
  static_assert(4 * most_k <= capacity, "candidates.cuh");                                      \
  namespace culebra {                                                                           \
  namespace {                                                                                   \
  __device__ __forceinline__ void top_##variant##_##type(const TopKParams& params) {            \
    top_of_rows<type, packs, capacity>(params);                                                 \
  }                                                                                             \
  __device__ __forceinline__ void merge_##variant##_##type(const TopKParams& params) {          \
    merge_rows<type, capacity>(params);                                                         \
  }                                                                                             \
  }                                                                                             \
  }                                                                                             \
  CULEBRA_TOPK_KERNEL(culebra_topk_##variant##_##type, threads, blocks, top_##variant##_##type) \
  CULEBRA_TOPK_KERNEL(culebra_topk_merge_##variant##_##type, threads, blocks,                   \
                      merge_##variant##_##type)

#define CULEBRA_TOPK_SPLIT(blocks, least_elements, reason)

#include "topk.def"

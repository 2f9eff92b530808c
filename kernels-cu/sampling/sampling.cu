// One token a row, drawn from the softmax of the row's logits: what an inference engine does after
// its model.
//
//   temperature   probabilities are softmax(logits / temperature); at 0 the largest logit is taken,
//                 of equal ones the one with the lowest index
//   top-k         then keeps the k most probable
//   top-p         then the fewest of them that have at least p of their mass; one at least
//   min-p         then those at least min-p times as probable as the most probable
//
// in the order of probability, of equal ones the lower index first. The token is drawn from what is
// left by inversion: with bits, 64 random ones, and M, the mass of what is left, it is the element
// at which the running sum of what is left, by index, exceeds floor(bits * M / 2^64). Masses are
// integers (weights.cuh), so a token depends on logits, parameters, seed, offset and row alone, to
// the last bit: not on alignment, strides, grid, clusters or device architecture (but that its
// exponential may differ).
//
// Bits are the first 64 of philox_4x32_10 with the key (seed) and the counter (offset, row), or
// (offset, 0) where each row has a seed of its own.
//
// A row that has NaN, +inf, or nothing but -inf has no distribution, and one whose parameters are
// negative (the temperature) or NaN asks for none: its token is -1, its probability NaN.
//
// Symbols, for f32, f16 and bf16, all taking SamplingParams:
//
//   culebra_sampling_block_<type>     a block works on a row
//   culebra_sampling_cluster_<type>   a cluster of blocks does (sm_90)
//
// A row is read for its largest element, and then once or twice more (sampler.cuh). With ties
// without end it is read some more times.
#include "culebra/platform.cuh"

#include "culebra/chunk.cuh"
#include "culebra/key.cuh"
#include "culebra/math.cuh"
#include "culebra/params.h"
#include "culebra/philox.cuh"
#include "culebra/ptx.cuh"
#include "culebra/team.cuh"
#include "culebra/types.cuh"

#include "memory.cuh"
#include "sampler.cuh"
#include "weights.cuh"

namespace culebra {
namespace {

inline constexpr float kNoProbability = std::numeric_limits<float>::quiet_NaN();
inline constexpr int32_t kAll = std::numeric_limits<int32_t>::max();

// The largest element with its lowest index, as the halves of a key, and the least that is not
// -inf. NaN is the largest.
struct Extremes {
  uint32_t ordered;
  uint32_t index_complement;
  float least;

  static __device__ __forceinline__ Extremes none() { return {0, 0, kInfinity<float>}; }

  __device__ __forceinline__ float largest() const { return from_ordered(ordered); }
  __device__ __forceinline__ uint32_t index() const { return ~index_complement; }

  // Whether a softmax is: false of NaN, and of the infinities.
  __device__ __forceinline__ bool have_distribution() const {
    const float x = largest();
    return x - x == 0.0f;
  }
};

struct ExtremesMerge {
  __device__ __forceinline__ Extremes operator()(const Extremes& a, const Extremes& b) const {
    const bool b_larger = a.ordered < b.ordered ||
                          (a.ordered == b.ordered && a.index_complement < b.index_complement);
    return {b_larger ? b.ordered : a.ordered, b_larger ? b.index_complement : a.index_complement,
            fminf(a.least, b.least)};
  }

  __device__ __forceinline__ Extremes across(Extremes value, unsigned lanes) const {
    const unsigned lane = threadIdx.x % kWarpSize;
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
      value = (*this)(value, shuffle(0xffffffffu, value, lane ^ distance));
    }
    return value;
  }
};

// Of the calling thread's share of its warp's part.
template <class T, int kPacks>
__device__ __forceinline__ Extremes extremes_of(const Piece<T>& piece) {
  using PartChunk = Chunk<T, kPacks, WarpLanes>;
  const Piece<T> part = part_of(piece, threadIdx.x / kWarpSize);
  Extremes extremes = Extremes::none();
  for_each_chunk<T, kPacks>(part, [&](const PartChunk& chunk) {
    const float most = chunk.largest();
#pragma unroll
    for (int i = 0; i < PartChunk::kElements; ++i) {
      const float x = chunk.value(i);
      extremes.least = fminf(extremes.least, x == -kInfinity<float> ? kInfinity<float> : x);
    }
    const uint32_t ordered = to_ordered(most);
    // Seldom after the first chunks. Of equal ones the first chunk has the lowest index.
    if (ordered <= extremes.ordered) return;
    uint32_t place = chunk.offset(0);
#pragma unroll
    for (int i = PartChunk::kElements - 1; i >= 0; --i) {
      if (chunk.value(i) == most) place = chunk.offset(i);
    }
    extremes.ordered = ordered;
    extremes.index_complement = ~(part.index + place);
  });
  return extremes;
}

template <class Value, class One>
__device__ __forceinline__ Value of_row(const Value* rows, int64_t row, One one) {
  return rows != nullptr ? rows[row] : static_cast<Value>(one);
}

// Writes the token of a row; one thread calls. -1 for none.
__device__ __forceinline__ void write_token(const SamplingParams& params, int64_t row,
                                            int64_t token, float probability) {
  if (params.token_bytes == sizeof(int64_t)) {
    static_cast<int64_t*>(params.tokens)[row] = token;
  } else {
    static_cast<int32_t*>(params.tokens)[row] = static_cast<int32_t>(token);
  }
  if (params.probabilities != nullptr) params.probabilities[row] = probability;
}

// The block's part of a row.
template <class T, class Team>
__device__ __forceinline__ Piece<T> piece_of(const SamplingParams& params, const Team& team,
                                             int64_t row) {
  const uint32_t length = static_cast<uint32_t>(params.row_length);
  const uint32_t most = part_size<T>(length, team.blocks());
  const uint32_t begin = min(team.block() * most, length);
  return {static_cast<const T*>(params.in) + row * params.in_row_stride + begin,
          min(most, length - begin), begin, false};
}

template <class T, int kPacks, template <class> class TeamOf>
__device__ __forceinline__ void sample_rows(const SamplingParams& params) {
  using Team = TeamOf<Extremes>;
  CULEBRA_SHARED_DYNAMIC(SamplingMemory, memory);
  Team team;
  const uint32_t length = static_cast<uint32_t>(params.row_length);

  for (int64_t row = team.first_row(); team.goes_on(row, params.rows); row += team.row_stride()) {
    const Piece<T> piece = piece_of<T>(params, team, row);
    const Extremes own = extremes_of<T, kPacks>(piece);
    const Extremes extremes = team.reduce(own, Extremes::none(), ExtremesMerge{});

    const float temperature = of_row(params.temperatures, row, params.temperature);
    const float top_p = of_row(params.top_ps, row, params.top_p);
    const float min_p = of_row(params.min_ps, row, params.min_p);
    const int32_t top_k = of_row(params.top_ks, row, params.top_k);
    const bool valid = temperature >= 0.0f && top_p == top_p && min_p == min_p;
    const bool writes = team.rank() == 0;
    if (!valid || !extremes.have_distribution()) {
      if (writes) write_token(params, row, -1, kNoProbability);
      continue;
    }
    const SamplingWeights weights(extremes.largest(), extremes.least, temperature, length,
                                  SamplingMemory::kBins);
    if (top_k == 1 || !weights.are_usable()) {
      if (writes) write_token(params, row, extremes.index(), 1.0f);
      continue;
    }
    // All have read the rules of the row before: a team of one warp meets at no barrier.
    __syncthreads();
    if (threadIdx.x == 0) {
      SamplingRules& rules = memory[0].rules;
      rules.top_k = top_k > 0 ? top_k : kAll;
      rules.top_p = top_p;
      rules.most_distance =
          min_p > 0.0f ? max_of(-log_of(min_p) * kLog2e<float>, 0.0f) : kInfinity<float>;
      rules.random_bits =
          philox_bits(static_cast<uint64_t>(of_row(params.seeds, row, params.seed)),
                      static_cast<uint64_t>(of_row(params.offsets, row, params.offset)),
                      params.seeds != nullptr ? 0 : static_cast<uint64_t>(params.first_row + row));
    }
    // Waits for the rules.
    __syncthreads();
    const DrawnToken drawn =
        Sampler<T, kPacks, Team>(memory[0], team, piece, length, own.ordered, weights).draw();
    if (drawn.found) write_token(params, row, drawn.index, drawn.probability);
  }
  // No block ends before the others have read its memory.
  team.sync();
}

}  // namespace
}  // namespace culebra

#define CULEBRA_SAMPLING_KERNEL(team, Team, type, threads, packs)      \
  extern "C" __global__ void __launch_bounds__(threads, 1)             \
      culebra_sampling_##team##_##type(const SamplingParams params) {  \
    culebra::sample_rows<culebra::type, packs, culebra::Team>(params); \
  }                                                                    \
  CULEBRA_KERNEL(culebra_sampling_##team##_##type, threads, params)

#define CULEBRA_SAMPLING(type, threads, packs, shared_bytes, reason)                             \
  static_assert(sizeof(culebra::SamplingMemory) <= shared_bytes, "the host launches with that"); \
  CULEBRA_SAMPLING_KERNEL(block, BlockTeam, type, threads, packs)                                \
  CULEBRA_SAMPLING_KERNEL(cluster, ClusterTeam, type, threads, packs)

// Read by the host program alone.
#define CULEBRA_SAMPLING_PLAN(most_rows, least_elements, cluster, reason)

#include "sampling.def"

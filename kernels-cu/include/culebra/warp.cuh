// Reductions over the lanes of one warp, by shuffles (R1).
//
// Blocks are one-dimensional and of any size: the last warp of a block may have fewer than 32
// lanes. An operator `op(a, b)` must be associative in intent (rounding aside) and exactly
// commutative: then all lanes hold the same bits afterwards. All existing lanes of the warp call
// together; no shared memory is used and no other warp is waited for.
#pragma once

#include "culebra/platform.cuh"

namespace culebra {

inline constexpr unsigned kWarpSize = 32;

// The calling thread's place in its warp.
struct WarpLane {
  unsigned lane;   // 0..31
  unsigned count;  // lanes that exist in this warp, 1..32
  unsigned mask;   // one bit for each of them
};

__device__ __forceinline__ WarpLane warp_lane() {
  const unsigned lane = threadIdx.x % kWarpSize;
  const unsigned left = blockDim.x - (threadIdx.x - lane);
  const unsigned count = left < kWarpSize ? left : kWarpSize;
  return {lane, count, 0xffffffffu >> (kWarpSize - count)};
}

// The value that lane `source` holds. T is any trivially copyable type made of 32-bit words, so
// that a state such as (m, d) travels like a number.
template <class T>
__device__ __forceinline__ T shuffle(unsigned mask, const T& value, unsigned source) {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0, "shuffles move 32-bit words");
  uint32_t words[sizeof(T) / sizeof(uint32_t)];
  memcpy(words, &value, sizeof(T));
#pragma unroll
  for (uint32_t& word : words) word = __shfl_sync(mask, word, static_cast<int>(source));
  T result;
  memcpy(&result, words, sizeof(T));
  return result;
}

// The value of the lane whose number differs in the bits of `distance`; all 32 lanes call together.
__device__ __forceinline__ float shuffle_xor(float value, unsigned distance) {
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(distance));
}
__device__ __forceinline__ double shuffle_xor(double value, unsigned distance) {
  return __shfl_xor_sync(0xffffffffu, value, static_cast<int>(distance));
}

// Reduces the values of lanes 0..count-1 (the others of `self` take part, but their values do not);
// every lane gets the result.
template <class T, class Op>
__device__ __forceinline__ T reduce_lanes(const WarpLane& self, unsigned count, T value, Op op) {
  if (count == kWarpSize) {
    // A butterfly: at every step both partners combine the same two values, so all lanes end with
    // the same bits.
#pragma unroll
    for (unsigned distance = kWarpSize / 2; distance > 0; distance /= 2) {
      value = op(value, shuffle(self.mask, value, self.lane ^ distance));
    }
    return value;
  }
  // A tree into lane 0: lanes at or above `count` have nothing to give (one that does not exist
  // must not even be asked).
#pragma unroll
  for (unsigned distance = kWarpSize / 2; distance > 0; distance /= 2) {
    const unsigned partner = self.lane + distance;
    const bool given = partner < count;
    const T other = shuffle(self.mask, value, given ? partner : self.lane);
    if (given) value = op(value, other);
  }
  return shuffle(self.mask, value, 0);
}

// Reduces over the calling thread's warp; every lane gets the result.
template <class T, class Op>
__device__ __forceinline__ T warp_reduce(T value, Op op) {
  const WarpLane self = warp_lane();
  return reduce_lanes(self, self.count, value, op);
}

}  // namespace culebra

// Philox 4x32-10: random bits as a function of a key and a counter, without a state.
//
// Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC'11.
#pragma once

#include "culebra/platform.cuh"

namespace culebra {

// Four random words of a counter of four words (x is the lowest) and a key of two.
__device__ __forceinline__ uint4 philox_4x32_10(uint4 counter, uint2 key) {
  constexpr int kRounds = 10;
  constexpr uint32_t kMultiplier0 = 0xD2511F53u;
  constexpr uint32_t kMultiplier1 = 0xCD9E8D57u;
  constexpr uint32_t kWeyl0 = 0x9E3779B9u;  // the golden ratio
  constexpr uint32_t kWeyl1 = 0xBB67AE85u;  // sqrt(3) - 1
#pragma unroll
  for (int round = 0; round < kRounds; ++round) {
    const uint32_t high0 = __umulhi(kMultiplier0, counter.x);
    const uint32_t low0 = kMultiplier0 * counter.x;
    const uint32_t high1 = __umulhi(kMultiplier1, counter.z);
    const uint32_t low1 = kMultiplier1 * counter.z;
    counter.x = high1 ^ counter.y ^ key.x;
    counter.y = low1;
    counter.z = high0 ^ counter.w ^ key.y;
    counter.w = low0;
    key.x += kWeyl0;
    key.y += kWeyl1;
  }
  return counter;
}

// The first 64 bits of the block that a seed has at (offset, row).
__device__ __forceinline__ uint64_t philox_bits(uint64_t seed, uint64_t offset, uint64_t row) {
  const uint4 words =
      philox_4x32_10(uint4{static_cast<uint32_t>(offset), static_cast<uint32_t>(offset >> 32),
                           static_cast<uint32_t>(row), static_cast<uint32_t>(row >> 32)},
                     uint2{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return static_cast<uint64_t>(words.y) << 32 | words.x;
}

}  // namespace culebra

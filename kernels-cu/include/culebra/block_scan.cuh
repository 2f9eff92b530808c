// Running sums over what a block has in shared memory, and searches in them.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/warp.cuh"

namespace culebra {

// Replaces values[i] by values[0] + ... + values[i], for integers. All threads of the block, whole
// warps, call together; what they wrote before may be read.
template <class T>
__device__ __forceinline__ void block_inclusive_scan(T* values, uint32_t count) {
  CULEBRA_SHARED(T, warp_sums, kWarpSize);
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t warp = threadIdx.x / kWarpSize;
  const uint32_t share = (count + blockDim.x - 1) / blockDim.x;
  const uint32_t first = threadIdx.x * share;
  const uint32_t end = first + share < count ? first + share : count;

  // Waits for the values, and until the last call's sums have been read.
  __syncthreads();
  T own = 0;
  for (uint32_t i = first; i < end; ++i) own += values[i];
  T upto = own;
#pragma unroll
  for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
    const T before = shuffle(0xffffffffu, upto, lane >= distance ? lane - distance : lane);
    if (lane >= distance) upto += before;
  }
  if (lane == kWarpSize - 1) warp_sums[warp] = upto;
  // Waits for the sum of every warp.
  __syncthreads();
  T running = upto - own;
  for (uint32_t w = 0; w < warp; ++w) running += warp_sums[w];
  for (uint32_t i = first; i < end; ++i) {
    running += values[i];
    values[i] = running;
  }
  // Waits for all sums.
  __syncthreads();
}

// The first i < count for which holds(i), or count if there is none; it holds from there on.
template <class Holds>
__device__ __forceinline__ uint32_t first_where(uint32_t count, Holds holds) {
  uint32_t low = 0;
  uint32_t high = count;
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (holds(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

}  // namespace culebra

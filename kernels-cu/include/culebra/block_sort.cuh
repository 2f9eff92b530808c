// Sorting of what a block has in shared memory.
#pragma once

#include "culebra/platform.cuh"

namespace culebra {

// Sorts values[0 .. count), the largest first: a bitonic sort of the power of two that `count`
// needs, for which there must be room; the places beyond become 0, below which no value is. All
// threads of the block call together, behind a barrier or their own writes.
template <class T>
__device__ __forceinline__ void block_sort_descending(T* values, uint32_t count) {
  uint32_t size = 1;
  while (size < count) size *= 2;
  for (uint32_t i = count + threadIdx.x; i < size; i += blockDim.x) values[i] = 0;
  for (uint32_t run = 2; run <= size; run *= 2) {
    for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
      // Waits for the step before.
      __syncthreads();
      for (uint32_t pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
        const uint32_t low = 2 * pair - (pair & (distance - 1));
        const uint32_t high = low + distance;
        const T a = values[low];
        const T b = values[high];
        const bool descending = (low & run) == 0;
        if (descending ? a < b : a > b) {
          values[low] = b;
          values[high] = a;
        }
      }
    }
  }
  // Waits for the last step.
  __syncthreads();
}

}  // namespace culebra

// A barrier of all blocks of a cooperative launch.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/control.cuh"
#include "culebra/ptx/sync.cuh"

namespace culebra {

// Waits for all threads of the grid, which must be a cooperative launch: else blocks wait for such
// as have no place to run. All threads of all blocks call it, equally often; what was written
// before is visible behind. `arrived` is in global memory and 0 before the first launch that uses
// it; it may be used again by launches of as many blocks, one after the other.
__device__ __forceinline__ void grid_sync(uint64_t* arrived) {
  // The block's writes come before its arrival.
  __syncthreads();
  if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
    const uint64_t blocks = static_cast<uint64_t>(gridDim.x) * gridDim.y * gridDim.z;
    // The count only grows, so an early block of the next round does no harm: 64 bits never wrap.
    const uint64_t before = ptx::atom_add_acq_rel_gpu_u64(arrived, 1);
    const uint64_t complete = (before / blocks + 1) * blocks;
    while (ptx::ld_acquire_gpu_u64(arrived) < complete) ptx::nanosleep_u32(20);
  }
  // The others wait for the first thread, which has seen all blocks arrive.
  __syncthreads();
}

}  // namespace culebra

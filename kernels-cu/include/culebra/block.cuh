// Reductions over a block of 1 to 1024 threads: warps by shuffles, their partial results through
// shared memory to the first warp, its result back to all (R1).
#pragma once

#include "culebra/platform.cuh"
#include "culebra/warp.cuh"

namespace culebra {

// Reduces over the calling block; every thread gets the same bits. All threads of the block must
// call it (it has barriers), as often as they like: the scratch is safe to reuse at once. See
// warp.cuh for what `op` must be. The order of combination depends on the block's size alone, so a
// run repeats bit for bit.
template <class T, class Op>
__device__ T block_reduce(T value, Op op) {
  CULEBRA_SHARED(T, partials, kWarpSize);
  CULEBRA_SHARED(T, result, 1);
  const WarpLane self = warp_lane();
  const unsigned warp = threadIdx.x / kWarpSize;
  const unsigned warps = (blockDim.x + kWarpSize - 1) / kWarpSize;

  value = reduce_lanes(self, self.count, value, op);
  if (warps == 1) return value;

  if (self.lane == 0) partials[warp] = value;
  // The first warp waits for the partial result of every warp.
  __syncthreads();
  if (warp == 0) {  // always a full warp, since there are others
    if (self.lane < warps) value = partials[self.lane];
    value = reduce_lanes(self, warps, value, op);
    if (self.lane == 0) result[0] = value;
  }
  // All warps wait for the first one's result. The same barrier keeps the next call from
  // overwriting `partials` while the first warp reads them; the next call's first barrier keeps it
  // from overwriting `result` while a slow warp still reads it below.
  __syncthreads();
  return result[0];
}

}  // namespace culebra

// Kernels whose groups are more than a block, or less than a warp.
#include <cooperative_groups.h>

#include "culebra/platform.cuh"

namespace cg = cooperative_groups;

// Each round a block takes the place of its neighbour of the round before: out [2 * blocks].
extern "C" __global__ void pass_around(unsigned* out, unsigned rounds) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned block = blockIdx.x;
  if (threadIdx.x == 0) out[block] = block;
  for (unsigned i = 0; i < rounds; ++i) {
    grid.sync();
    const unsigned* const from = out + i % 2 * gridDim.x;
    unsigned* const to = out + (i + 1) % 2 * gridDim.x;
    if (threadIdx.x == i % blockDim.x) to[block] = from[(block + 1) % gridDim.x];
  }
}
CULEBRA_KERNEL(pass_around, 1024, out, rounds)

// A block leaves, and the others wait for it.
extern "C" __global__ void leave_the_grid(unsigned* out) {
  if (blockIdx.x == 1) return;
  cg::this_grid().sync();
  if (threadIdx.x == 0) out[blockIdx.x] = 1;
}
CULEBRA_KERNEL(leave_the_grid, 1024, out)

// out[t] = the lanes with which t is together: odd ones return, every fourth one polls until the
// others have been, and those come in two places.
extern "C" __global__ void find_company(unsigned* out, unsigned* flag) {
  const unsigned t = threadIdx.x;
  if (t % 2 == 1) return;
  if (t % 4 == 0) {
    while (atomicAdd(flag, 0) != blockDim.x / 4) __nanosleep(10);
    return;
  }
  out[t] = t % 8 == 2 ? __activemask() : cg::coalesced_threads().size();
  atomicAdd(flag, 1);
}
CULEBRA_KERNEL(find_company, 1024, out, flag)

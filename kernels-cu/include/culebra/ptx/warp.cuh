// What the lanes of a warp do together and CUDA C++ has no function for.
#pragma once

#include "culebra/platform.cuh"

namespace culebra::ptx {

// elect.sync (sm_90): whether this lane is the one of `mask` that leads; always the same one. Below
// sm_90, the lowest lane of the mask.
__device__ __forceinline__ bool elect_sync(uint32_t mask CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::elect_sync(mask, where);
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  __syncwarp(mask);
  uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  return lane == static_cast<uint32_t>(__ffs(static_cast<int>(mask)) - 1);
#else
  uint32_t leads;
  asm volatile("{\n\t.reg .pred p;\n\telect.sync _|p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}"
               : "=r"(leads)
               : "r"(mask));
  return leads != 0;
#endif
}

}  // namespace culebra::ptx

// Special registers that CUDA C++ has no name for.
#pragma once

#include "culebra/platform.cuh"

namespace culebra::ptx {

#ifdef CULEBRA_HOST
#define CULEBRA_SPECIAL_REGISTER(name) \
  __device__ __forceinline__ uint32_t mov_u32_##name() { return culebra_emu::mov_u32_##name(); }
#else
#define CULEBRA_SPECIAL_REGISTER(name)                      \
  __device__ __forceinline__ uint32_t mov_u32_##name() {    \
    uint32_t value;                                         \
    asm volatile("mov.u32 %0, %%" #name ";" : "=r"(value)); \
    return value;                                           \
  }
#endif

// %laneid: the lane of the thread in its warp.
CULEBRA_SPECIAL_REGISTER(laneid)
// %warpid: the warp in its block; may change between two reads.
CULEBRA_SPECIAL_REGISTER(warpid)
// %nwarpid: how many warps a multiprocessor has place for.
CULEBRA_SPECIAL_REGISTER(nwarpid)
// %smid: the multiprocessor that the thread runs on; may change between two reads.
CULEBRA_SPECIAL_REGISTER(smid)
// %nsmid: how many multiprocessor numbers there are.
CULEBRA_SPECIAL_REGISTER(nsmid)
// %dynamic_smem_size: the bytes of dynamic shared memory that the launch asked for.
CULEBRA_SPECIAL_REGISTER(dynamic_smem_size)
// %lanemask_eq: the bit of the own lane.
CULEBRA_SPECIAL_REGISTER(lanemask_eq)
// %lanemask_lt: the bits of the lanes below the own.
CULEBRA_SPECIAL_REGISTER(lanemask_lt)
// %lanemask_le: the bits of the lanes up to the own.
CULEBRA_SPECIAL_REGISTER(lanemask_le)
// %lanemask_ge: the bits of the lanes from the own up.
CULEBRA_SPECIAL_REGISTER(lanemask_ge)
// %lanemask_gt: the bits of the lanes above the own.
CULEBRA_SPECIAL_REGISTER(lanemask_gt)
// %clock: the lower half of a counter of the multiprocessor's clock cycles.
CULEBRA_SPECIAL_REGISTER(clock)

#undef CULEBRA_SPECIAL_REGISTER

}  // namespace culebra::ptx

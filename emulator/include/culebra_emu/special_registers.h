// PTX's special registers: who a thread is, where it runs, and what time it is. Those of clusters
// are in cluster.h, %globaltimer in ptx_control.h.
#pragma once

#include <cstdint>

#include "culebra_emu/thread.h"

namespace culebra_emu {

inline constexpr std::uint32_t kMultiprocessorsOfDevice = 132;

inline std::uint32_t mov_u32_laneid() { return this_thread().lane; }
// Warps do not wander between schedulers here, so the number stays.
inline std::uint32_t mov_u32_warpid() { return this_thread().warp; }
inline std::uint32_t mov_u32_nwarpid() { return 64; }
inline std::uint32_t mov_u32_smid() { return this_thread().block->multiprocessor; }
inline std::uint32_t mov_u32_nsmid() { return kMultiprocessorsOfDevice; }
inline std::uint32_t mov_u32_dynamic_smem_size() {
  return this_thread().block->dynamic_shared_bytes;
}

inline std::uint32_t mov_u32_lanemask_eq() { return 1u << this_thread().lane; }
inline std::uint32_t mov_u32_lanemask_lt() { return mov_u32_lanemask_eq() - 1; }
inline std::uint32_t mov_u32_lanemask_le() { return mov_u32_lanemask_lt() | mov_u32_lanemask_eq(); }
inline std::uint32_t mov_u32_lanemask_ge() { return ~mov_u32_lanemask_lt(); }
inline std::uint32_t mov_u32_lanemask_gt() { return ~mov_u32_lanemask_le(); }

// The lower half of clock64, which wraps every four seconds. (CUDA's clock() is this; here that
// name is the C library's.)
inline std::uint32_t mov_u32_clock() { return static_cast<std::uint32_t>(clock64()); }

}  // namespace culebra_emu

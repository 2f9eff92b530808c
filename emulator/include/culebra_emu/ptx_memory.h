// Loads, stores and sums of global memory.
#pragma once

#include <cstdint>
#include <cstring>

#include "culebra_emu/atomic.h"
#include "culebra_emu/ptx_access.h"
#include "culebra_emu/ptx_math.h"
#include "culebra_emu/vector_types.h"

namespace culebra_emu {

inline uint4 ld_global_v4_u32(const void* address) {
  require_aligned(address, sizeof(uint4));
  uint4 value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

inline void st_global_v4_u32(void* address, uint4 value) {
  require_aligned(address, sizeof(uint4));
  std::memcpy(address, &value, sizeof value);
}

// The hardware's policies are opaque; so is this number.
inline std::uint64_t createpolicy_fractional(float fraction) {
  constexpr std::uint32_t kLaunchFailed = 719;
  if (!(fraction > 0.0f && fraction <= 1.0f)) {
    runtime->fail(&this_thread(), kLaunchFailed,
                  "createpolicy: the fraction is not above 0 and at most 1");
  }
  return 0x14F0000000000000u;
}

inline void red_relaxed_gpu_global_add_f32(void* address, float value) {
  require_aligned(address, sizeof(float));
  atomic_update(static_cast<float*>(address),
                [value](float old) { return with_canonical_nan(old + value); });
}

inline void red_relaxed_gpu_global_add_noftz_f16x2(void* address, std::uint32_t value) {
  require_aligned(address, sizeof value);
  atomic_update(static_cast<std::uint32_t*>(address),
                [value](std::uint32_t old) { return add_rn_f16x2(old, value); });
}

inline void red_relaxed_gpu_global_add_noftz_bf16x2(void* address, std::uint32_t value) {
  require_aligned(address, sizeof value);
  atomic_update(static_cast<std::uint32_t*>(address),
                [value](std::uint32_t old) { return add_rn_bf16x2(old, value); });
}

inline void red_relaxed_gpu_global_add_v2_f32(void* address, float2 value) {
  require_aligned(address, sizeof value);
  auto* const elements = static_cast<float*>(address);
  red_relaxed_gpu_global_add_f32(elements, value.x);
  red_relaxed_gpu_global_add_f32(elements + 1, value.y);
}

inline void red_relaxed_gpu_global_add_v4_f32(void* address, float4 value) {
  require_aligned(address, sizeof value);
  auto* const elements = static_cast<float*>(address);
  red_relaxed_gpu_global_add_v2_f32(elements, {value.x, value.y});
  red_relaxed_gpu_global_add_v2_f32(elements + 2, {value.z, value.w});
}

}  // namespace culebra_emu

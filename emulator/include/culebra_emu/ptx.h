// What the wrappers of culebra/ptx.cuh mean on the CPU: same names, same operands.
#pragma once

#include <cmath>
#include <cstdint>

#include "culebra_emu/thread.h"

namespace culebra_emu {

inline std::uint64_t globaltimer() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

inline std::uint32_t laneid() { return this_thread().lane; }

inline float ex2_approx_f32(float x) { return std::exp2(x); }
inline float ex2_approx_ftz_f32(float x) { return std::exp2(x); }
inline float lg2_approx_f32(float x) { return std::log2(x); }
inline float rcp_approx_ftz_f32(float x) { return 1.0f / x; }

}  // namespace culebra_emu

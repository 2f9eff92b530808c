// What the wrappers of culebra/ptx.cuh mean on the CPU: same names, same operands.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "culebra_emu/math.h"
#include "culebra_emu/thread.h"
#include "culebra_emu/vector_types.h"

namespace culebra_emu {

// A vector access must be aligned to its size: the hardware faults, and so does this.
inline void require_aligned(const void* address, std::uintptr_t bytes) {
  constexpr std::uint32_t kMisalignedAddress = 716;
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    runtime->fail(&this_thread(), kMisalignedAddress, "misaligned address of a vector access");
  }
}

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

// The larger or smaller of two with -0 below +0; a NaN in gives the canonical NaN.
inline float max_NaN_f32(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return __uint_as_float(0x7FFFFFFFu);
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

inline float min_NaN_f32(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return __uint_as_float(0x7FFFFFFFu);
  if (a == b) return std::signbit(a) ? a : b;
  return b < a ? b : a;
}

inline std::uint64_t mov_u64_globaltimer() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

inline void nanosleep_u32(std::uint32_t nanoseconds) { __nanosleep(nanoseconds); }

}  // namespace culebra_emu

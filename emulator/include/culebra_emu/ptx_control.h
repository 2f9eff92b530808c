// Time.
#pragma once

#include <chrono>
#include <cstdint>

#include "culebra_emu/thread.h"

namespace culebra_emu {

inline std::uint64_t mov_u64_globaltimer() {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}

inline void nanosleep_u32(std::uint32_t nanoseconds) { __nanosleep(nanoseconds); }

}  // namespace culebra_emu

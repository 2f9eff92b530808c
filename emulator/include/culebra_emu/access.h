// What a checked image tells the emulator about an access of a kernel to memory.
#pragma once

#include <cstdint>

namespace culebra_emu {

// Bits of Runtime::access's `kind`.
inline constexpr std::uint32_t kAccessRead = 1;
inline constexpr std::uint32_t kAccessWrite = 2;
// Two atomic (or volatile) accesses are no race.
inline constexpr std::uint32_t kAccessAtomic = 4;
// What came before the releasing access is seen by who acquires at the same address later.
inline constexpr std::uint32_t kAccessAcquire = 8;
inline constexpr std::uint32_t kAccessRelease = 16;

}  // namespace culebra_emu

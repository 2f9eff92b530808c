// What a checked image tells the emulator about an access of a kernel to memory.
#pragma once

#include <cstdint>

namespace culebra_emu {

// Bits of Runtime::access's `kind`.
inline constexpr std::uint32_t kAccessRead = 1;
inline constexpr std::uint32_t kAccessWrite = 2;
// Two atomic (or volatile) accesses are no race.
inline constexpr std::uint32_t kAccessAtomic = 4;
// What came before the releasing access is seen by who acquires at the same address later: within a
// block any atomic load and store, of whatever order, ...
inline constexpr std::uint32_t kAccessAcquire = 8;
inline constexpr std::uint32_t kAccessRelease = 16;
// ... and between blocks only one of that order. Others need a fence.
inline constexpr std::uint32_t kAccessDeviceAcquire = 32;
inline constexpr std::uint32_t kAccessDeviceRelease = 64;
// Atomic for the threads of the block, or of the cluster, and for no others. (128 is the
// emulator's own.)
inline constexpr std::uint32_t kAccessWithinBlock = 256;

}  // namespace culebra_emu

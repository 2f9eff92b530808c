// Whether an instruction may use an address: its alignment, and which memory it lies in.
#pragma once

#include <cstdint>
#include <cstring>

#include "culebra_emu/shared.h"
#include "culebra_emu/thread.h"

namespace culebra_emu {

// An access must be aligned to its size: the hardware faults, and so does this.
inline void require_aligned(const void* address, std::uintptr_t bytes,
                            const char* message = "misaligned address of a vector access") {
  constexpr std::uint32_t kMisalignedAddress = 716;
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    runtime->fail(&this_thread(), kMisalignedAddress, message);
  }
}

// .shared without ::cluster: memory of the thread's own block.
inline void* own_shared_pointer(std::uint32_t address) {
  constexpr std::uint32_t kIllegalAddress = 700;
  if (address >> kSharedWindowBits != this_thread().block->cluster_rank) {
    runtime->fail(&this_thread(), kIllegalAddress,
                  "a shared address of another block, or of none, where one of this block must be");
  }
  return shared_pointer(address);
}

// .global: not shared memory.
inline void require_global(const void* address) {
  constexpr std::uint32_t kInvalidAddressSpace = 717;
  if (__isShared(address)) {
    runtime->fail(&this_thread(), kInvalidAddressSpace,
                  "a shared address where one of global memory must be");
  }
}

template <class Value>
Value ld_shared(const void* address) {
  require_aligned(address, sizeof(Value));
  Value value;
  std::memcpy(&value, address, sizeof value);
  return value;
}

template <class Value>
void st_shared(void* address, const Value& value) {
  require_aligned(address, sizeof(Value));
  std::memcpy(address, &value, sizeof value);
}

}  // namespace culebra_emu

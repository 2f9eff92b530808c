// Shared memory. Plain __shared__ cannot exist on a CPU, where a variable is one for all blocks.
#pragma once

#include "culebra_emu/thread.h"

namespace culebra_emu {

template <class T>
T* static_shared(const void* key, std::uint64_t count) {
  return static_cast<T*>(
      runtime->static_shared(&this_thread(), key, sizeof(T) * count, alignof(T)));
}

template <class T>
T* dynamic_shared() {
  return static_cast<T*>(this_thread().block->dynamic_shared);
}

inline constexpr std::uint32_t kSharedOffsetMask = (1u << kSharedWindowBits) - 1;

// A place in the shared memory of a block of the thread's cluster.
struct SharedPlace {
  std::uint32_t rank;
  std::uint32_t offset;
};

// Whether a generic address is one of the cluster's shared memory; the thread's own block is tried
// first.
inline bool find_shared_place(const void* address, SharedPlace& place) {
  const Block& block = *this_thread().block;
  const auto in_window = [&](std::uint32_t rank) {
    const auto offset = reinterpret_cast<std::uintptr_t>(address) -
                        reinterpret_cast<std::uintptr_t>(block.shared_windows[rank]);
    if (offset >= block.shared_window_bytes) return false;
    place = {rank, static_cast<std::uint32_t>(offset)};
    return true;
  };
  if (in_window(block.cluster_rank)) return true;
  for (std::uint32_t rank = 0; rank < block.cluster_blocks; ++rank) {
    if (in_window(rank)) return true;
  }
  return false;
}

inline SharedPlace shared_place(const void* address) {
  constexpr std::uint32_t kInvalidAddressSpace = 717;
  SharedPlace place{};
  if (!find_shared_place(address, place)) {
    runtime->fail(&this_thread(), kInvalidAddressSpace,
                  "an address that is not in shared memory where one must be");
  }
  return place;
}

// The memory at a 32-bit shared address of this block, or of another block of the cluster.
inline void* shared_pointer(std::uint32_t address) {
  constexpr std::uint32_t kIllegalAddress = 700;
  const Block& block = *this_thread().block;
  const std::uint32_t rank = address >> kSharedWindowBits;
  const std::uint32_t offset = address & kSharedOffsetMask;
  if (rank >= block.cluster_blocks || offset >= block.shared_window_bytes) {
    runtime->fail(&this_thread(), kIllegalAddress,
                  "a 32-bit shared address outside of the cluster's shared memory");
  }
  return block.shared_windows[rank] + offset;
}

}  // namespace culebra_emu

// The 32-bit address that PTX instructions take: unlike a device's, it is nothing but a number in
// 64 bits, as CUDA's own function returns it.
inline std::size_t __cvta_generic_to_shared(const void* address) {
  const culebra_emu::SharedPlace place = culebra_emu::shared_place(address);
  return place.rank << culebra_emu::kSharedWindowBits | place.offset;
}

inline void* __cvta_shared_to_generic(std::size_t address) {
  return culebra_emu::shared_pointer(static_cast<std::uint32_t>(address));
}

inline unsigned int __isShared(const void* address) {
  culebra_emu::SharedPlace place{};
  return culebra_emu::find_shared_place(address, place) &&
         place.rank == culebra_emu::this_thread().block->cluster_rank;
}

// An array of the block. The key is one object for each place in the source, and in a template for
// each instance, just as a __shared__ array is.
#define CULEBRA_SHARED(type, name, count)                 \
  static char culebra_emu_shared_key_##name;              \
  type(&name)[count] = *reinterpret_cast<type(*)[count]>( \
      ::culebra_emu::static_shared<type>(&culebra_emu_shared_key_##name, count))

// The bytes that the launch asked for; every use in a kernel is the same memory.
#define CULEBRA_SHARED_DYNAMIC(type, name) type* const name = ::culebra_emu::dynamic_shared<type>()

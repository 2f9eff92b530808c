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

}  // namespace culebra_emu

// An array of the block. The key is one object for each place in the source, and in a template for
// each instance, just as a __shared__ array is.
#define CULEBRA_SHARED(type, name, count)                 \
  static char culebra_emu_shared_key_##name;              \
  type(&name)[count] = *reinterpret_cast<type(*)[count]>( \
      ::culebra_emu::static_shared<type>(&culebra_emu_shared_key_##name, count))

// The bytes that the launch asked for; every use in a kernel is the same memory.
#define CULEBRA_SHARED_DYNAMIC(type, name) type* const name = ::culebra_emu::dynamic_shared<type>()

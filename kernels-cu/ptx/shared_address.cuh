// How instructions name a place in shared memory.
#pragma once

#include "culebra/platform.cuh"

namespace {

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace

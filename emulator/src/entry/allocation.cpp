#include "entry/allocation.h"

#include <utility>

#include "faults/faults.h"

namespace culebra_emu {

bool allocation_is_denied() { return faults().denies_allocation(); }

Allocation describe(MemoryKind kind, Context& context, std::shared_ptr<Mapping> mapping) {
  Allocation allocation;
  allocation.address = mapping->address();
  allocation.bytes = mapping->bytes();
  allocation.kind = kind;
  allocation.context = &context;
  allocation.device = &context.device();
  allocation.mapping = std::move(mapping);
  return allocation;
}

CUresult add_allocation(MemoryKind kind, Context& context, std::shared_ptr<Mapping> mapping,
                        CUdeviceptr* address, std::shared_ptr<MemoryPool> pool) {
  if (mapping == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  Allocation allocation = describe(kind, context, std::move(mapping));
  if (pool != nullptr) allocation.device = &pool->device();
  allocation.pool = std::move(pool);
  *address = allocation.address;
  address_space().add(std::move(allocation));
  return CUDA_SUCCESS;
}

}  // namespace culebra_emu

// What all entries that allocate memory do.
#pragma once

#include <memory>

#include "abi.h"
#include "model/address_space.h"
#include "model/device.h"

namespace culebra_emu {

// Whether a fault on demand says that this allocation, counted over all devices, fails. Asked once
// for each; GraphMemory asks for a graph's.
bool allocation_is_denied();

Allocation describe(MemoryKind kind, Context& context, std::shared_ptr<Mapping> mapping);

// Adds the memory to what the driver knows and hands out its address; without a mapping there was
// none left.
CUresult add_allocation(MemoryKind kind, Context& context, std::shared_ptr<Mapping> mapping,
                        CUdeviceptr* address, std::shared_ptr<MemoryPool> pool = nullptr);

}  // namespace culebra_emu

// Virtual memory management: addresses and memory apart.
#include "model/virtual_memory.h"

#include <unistd.h>

#include "entry/allocation.h"
#include "entry/call.h"

using namespace culebra_emu;

namespace {

constexpr std::uint64_t kGranularity = VirtualMemory::kGranularity;

bool is_aligned(std::uint64_t value, std::uint64_t unit) { return value % unit == 0; }

// The device that the memory shall be on. Null, with the code, if there can be no such memory.
Device* find_place(const CUmemAllocationProp* properties, CUresult& result) {
  result = CUDA_ERROR_INVALID_VALUE;
  if (properties == nullptr) return nullptr;
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    if (properties->type == CU_MEM_ALLOCATION_TYPE_MANAGED) result = CUDA_ERROR_NOT_SUPPORTED;
    return nullptr;
  }
  switch (properties->location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      break;
    // The device says that it does not map the host's.
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      result = CUDA_ERROR_NOT_SUPPORTED;
      return nullptr;
    default:
      return nullptr;
  }
  const auto& flags = properties->allocFlags;
  // Nothing can be shared with other processes or compressed, and there are no sparse arrays.
  if (properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE || flags.usage != 0 ||
      flags.gpuDirectRDMACapable != 0) {
    result = CUDA_ERROR_NOT_SUPPORTED;
    return nullptr;
  }
  result = CUDA_ERROR_INVALID_DEVICE;
  return find_device(properties->location.id);
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemGetAllocationGranularity(std::size_t* bytes,
                                                          const CUmemAllocationProp* properties,
                                                          CUmemAllocationGranularity_flags option) {
  return call("cuMemGetAllocationGranularity", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    if (find_place(properties, result) == nullptr) return result;
    if (bytes == nullptr || (option != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                             option != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *bytes = kGranularity;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, std::size_t bytes,
                                        const CUmemAllocationProp* properties,
                                        unsigned long long flags) {
  return call("cuMemCreate", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    Device* device = find_place(properties, result);
    if (device == nullptr) return result;
    if (handle == nullptr || bytes == 0 || !is_aligned(bytes, kGranularity) || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (allocation_is_denied() || !device->take_bytes(bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
    std::shared_ptr<PhysicalMemory> memory;
    try {
      memory = std::make_shared<PhysicalMemory>(*device, bytes, *properties);
    } catch (const std::bad_alloc&) {
      device->give_back_bytes(bytes);
      throw;
    }
    *handle = virtual_memory().add(std::move(memory));
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return call("cuMemRelease", kNeedsInit, [&] {
    return virtual_memory().release(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle,
                                                        void* address) {
  return call("cuMemRetainAllocationHandle", kNeedsInit, [&] {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto found = virtual_memory().retain(reinterpret_cast<std::uint64_t>(address));
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    *handle = *found;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemGetAllocationPropertiesFromHandle(
    CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  return call("cuMemGetAllocationPropertiesFromHandle", kNeedsInit, [&] {
    const std::shared_ptr<PhysicalMemory> memory = virtual_memory().find(handle);
    if (properties == nullptr || memory == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = memory->properties();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemAddressReserve(CUdeviceptr* address, std::size_t bytes,
                                                std::size_t alignment, CUdeviceptr,
                                                unsigned long long flags) {
  return call("cuMemAddressReserve", kNeedsInit, [&] {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    const bool is_power = (alignment & (alignment - 1)) == 0;
    // The wished-for address is a hint and not taken: addresses are not used twice here.
    if (address == nullptr || bytes == 0 || !is_aligned(bytes, page) || !is_power || flags != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *address = virtual_memory().reserve(bytes, alignment);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemAddressFree(CUdeviceptr address, std::size_t bytes) {
  return call("cuMemAddressFree", kNeedsInit, [&] {
    return virtual_memory().free(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemMap(CUdeviceptr address, std::size_t bytes, std::size_t offset,
                                     CUmemGenericAllocationHandle handle,
                                     unsigned long long flags) {
  return call("cuMemMap", kNeedsInit, [&] {
    const std::shared_ptr<PhysicalMemory> memory = virtual_memory().find(handle);
    // The driver takes no other offset than 0, as yet.
    if (memory == nullptr || offset != 0 || flags != 0 || bytes == 0 || bytes > memory->bytes() ||
        !is_aligned(address, kGranularity) || !is_aligned(bytes, kGranularity)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return virtual_memory().map(address, bytes, memory) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemUnmap(CUdeviceptr address, std::size_t bytes) {
  return call("cuMemUnmap", kNeedsInit, [&] {
    return virtual_memory().unmap(address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemSetAccess(CUdeviceptr address, std::size_t bytes,
                                           const CUmemAccessDesc* accesses, std::size_t count) {
  return call("cuMemSetAccess", kNeedsInit, [&] {
    if (accesses == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = address_space().find(address);
    if (!allocation || allocation->physical == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [location, access] = accesses[i];
      if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) {
        return location.type == CU_MEM_LOCATION_TYPE_INVALID ? CUDA_ERROR_INVALID_VALUE
                                                             : CUDA_ERROR_NOT_SUPPORTED;
      }
      const Device* device = find_device(location.id);
      if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
      if (access != CU_MEM_ACCESS_FLAGS_PROT_NONE && access != CU_MEM_ACCESS_FLAGS_PROT_READ &&
          access != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      if (!can_access_peer(*device, *allocation->device)) return CUDA_ERROR_INVALID_DEVICE;
    }
    return virtual_memory().set_access(address, bytes, {accesses, count})
               ? CUDA_SUCCESS
               : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemGetAccess(unsigned long long* access,
                                           const CUmemLocation* location, CUdeviceptr address) {
  return call("cuMemGetAccess", kNeedsInit, [&] {
    if (access == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
    if (find_device(location->id) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    const auto found = virtual_memory().access(address, location->id);
    if (!found) return CUDA_ERROR_INVALID_VALUE;
    *access = static_cast<unsigned long long>(*found);
    return CUDA_SUCCESS;
  });
}

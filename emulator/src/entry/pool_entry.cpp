// Memory pools: those that devices have and those that users create.
#include "entry/call.h"
#include "model/device.h"

using namespace culebra_emu;

namespace {

// A location that a pool can be for: a device. Null, with the code, if it is none.
Device* find_place(const CUmemLocation* location, CUmemAllocationType type, CUresult& result) {
  result = CUDA_ERROR_INVALID_VALUE;
  if (location == nullptr) return nullptr;
  if (type != CU_MEM_ALLOCATION_TYPE_PINNED) {
    if (type == CU_MEM_ALLOCATION_TYPE_MANAGED) result = CUDA_ERROR_NOT_SUPPORTED;
    return nullptr;
  }
  switch (location->type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      result = CUDA_ERROR_INVALID_DEVICE;
      return find_device(location->id);
    // The device says that it has no such pools.
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      result = CUDA_ERROR_NOT_SUPPORTED;
      return nullptr;
    default:
      return nullptr;
  }
}

// Calls body(device) on the device of a location.
template <class Body>
CUresult with_place(const char* symbol, const CUmemLocation* location, CUmemAllocationType type,
                    Body body) {
  return call(symbol, kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    Device* device = find_place(location, type, result);
    return device == nullptr ? result : body(*device);
  });
}

template <class Body>
CUresult with_pool_device(const char* symbol, CUdevice ordinal, Body body) {
  return call(symbol, kNeedsInit, [&] {
    Device* device = find_device(ordinal);
    return device == nullptr ? CUDA_ERROR_INVALID_DEVICE : body(*device);
  });
}

CUresult give_default_pool(Device& device, CUmemoryPool* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = &device.default_pool();
  return CUDA_SUCCESS;
}

CUresult give_current_pool(Device& device, CUmemoryPool* out) {
  if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *out = device.current_pool().get();
  return CUDA_SUCCESS;
}

CUresult set_current_pool(Device& device, CUmemoryPool handle) {
  // Only one of the device's own.
  std::shared_ptr<MemoryPool> pool = device.find_pool(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  device.set_current_pool(std::move(pool));
  return CUDA_SUCCESS;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return with_pool_device("cuDeviceGetDefaultMemPool", ordinal,
                          [&](Device& device) { return give_default_pool(device, pool); });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceGetMemPool(CUmemoryPool* pool, CUdevice ordinal) {
  return with_pool_device("cuDeviceGetMemPool", ordinal,
                          [&](Device& device) { return give_current_pool(device, pool); });
}

CULEBRA_EMU_EXPORT CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool pool) {
  return with_pool_device("cuDeviceSetMemPool", ordinal,
                          [&](Device& device) { return set_current_pool(device, pool); });
}

CULEBRA_EMU_EXPORT CUresult cuMemGetDefaultMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                                   CUmemAllocationType type) {
  return with_place("cuMemGetDefaultMemPool", location, type,
                    [&](Device& device) { return give_default_pool(device, pool); });
}

CULEBRA_EMU_EXPORT CUresult cuMemGetMemPool(CUmemoryPool* pool, CUmemLocation* location,
                                            CUmemAllocationType type) {
  return with_place("cuMemGetMemPool", location, type,
                    [&](Device& device) { return give_current_pool(device, pool); });
}

CULEBRA_EMU_EXPORT CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type,
                                            CUmemoryPool pool) {
  return with_place("cuMemSetMemPool", location, type,
                    [&](Device& device) { return set_current_pool(device, pool); });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return call("cuMemPoolCreate", kNeedsInit, [&] {
    if (pool == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    Device* device = find_place(&properties->location, properties->allocType, result);
    if (device == nullptr) return result;
    for (const unsigned char byte : properties->reserved) {
      if (byte != 0) return CUDA_ERROR_INVALID_VALUE;
    }
    if (properties->win32SecurityAttributes != nullptr) return CUDA_ERROR_INVALID_VALUE;
    // Nothing can be shared with other processes, and no memory decompresses.
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE || properties->usage != 0) {
      return CUDA_ERROR_NOT_SUPPORTED;
    }
    *pool = device->create_pool(properties->maxSize).get();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolDestroy(CUmemoryPool handle) {
  return call("cuMemPoolDestroy", kNeedsInit, [&] {
    const std::shared_ptr<MemoryPool> pool = find_pool(handle);
    if (pool == nullptr || !pool->device().destroy_pool(handle)) return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc* accesses,
                                               std::size_t count) {
  return call("cuMemPoolSetAccess", kNeedsInit, [&] {
    const std::shared_ptr<MemoryPool> pool = find_pool(handle);
    if (pool == nullptr || (accesses == nullptr && count != 0)) return CUDA_ERROR_INVALID_VALUE;
    // All of them or none.
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [location, access] = accesses[i];
      if (location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_INVALID_VALUE;
      const Device* device = find_device(location.id);
      if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
      const bool is_known =
          access == CU_MEM_ACCESS_FLAGS_PROT_NONE || access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      // Its own device cannot be locked out.
      if (!is_known || (device == &pool->device() && access == CU_MEM_ACCESS_FLAGS_PROT_NONE)) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      if (!can_access_peer(*device, pool->device())) return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    for (std::size_t i = 0; i < count; ++i) {
      pool->set_access_of(*find_device(accesses[i].location.id), accesses[i].flags);
    }
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolGetAccess(CUmemAccess_flags* access, CUmemoryPool handle,
                                               CUmemLocation* location) {
  return call("cuMemPoolGetAccess", kNeedsInit, [&] {
    const std::shared_ptr<MemoryPool> pool = find_pool(handle);
    if (pool == nullptr || access == nullptr || location == nullptr ||
        location->type != CU_MEM_LOCATION_TYPE_DEVICE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Device* device = find_device(location->id);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *access = pool->access_of(*device);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool handle,
                                                  CUmemPool_attribute attribute, void* value) {
  return call("cuMemPoolGetAttribute", kNeedsInit, [&] {
    const std::shared_ptr<MemoryPool> pool = find_pool(handle);
    if (pool == nullptr || value == nullptr ||
        attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // The reuse policies are ints, the rest are 64-bit.
    if (attribute < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD) {
      *static_cast<int*>(value) = static_cast<int>(pool->get(attribute));
    } else {
      *static_cast<std::uint64_t*>(value) = pool->get(attribute);
    }
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolSetAttribute(CUmemoryPool handle,
                                                  CUmemPool_attribute attribute, void* value) {
  return call("cuMemPoolSetAttribute", kNeedsInit, [&] {
    const std::shared_ptr<MemoryPool> pool = find_pool(handle);
    if (pool == nullptr || value == nullptr ||
        attribute < CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES ||
        attribute > CU_MEMPOOL_ATTR_USED_MEM_HIGH) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const std::uint64_t number = attribute < CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
                                     ? static_cast<std::uint64_t>(*static_cast<const int*>(value))
                                     : *static_cast<const std::uint64_t*>(value);
    return pool->set(attribute, number) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolTrimTo(CUmemoryPool handle, std::size_t keep) {
  return call("cuMemPoolTrimTo", kNeedsInit, [&] {
    const std::shared_ptr<MemoryPool> pool = find_pool(handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    pool->trim(keep);
    return CUDA_SUCCESS;
  });
}

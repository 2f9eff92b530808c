// What the driver says about an address.
#include "entry/call.h"
#include "model/address_space.h"
#include "model/device.h"
#include "model/virtual_memory.h"

using namespace culebra_emu;

namespace {

template <class T>
CUresult give(void* value, T answer) {
  *static_cast<T*>(value) = answer;
  return CUDA_SUCCESS;
}

// What the current context's device may do with the memory.
CUmemAccess_flags access_here(const Allocation& allocation) {
  const Context* context = current_context();
  const Device& device = context == nullptr ? *allocation.device : context->device();
  if (allocation.pool != nullptr) return allocation.pool->access_of(device);
  if (allocation.physical != nullptr) {
    return virtual_memory()
        .access(allocation.address, device.ordinal())
        .value_or(CU_MEM_ACCESS_FLAGS_PROT_NONE);
  }
  return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

CUresult get_attribute(void* value, CUpointer_attribute attribute, CUdeviceptr address,
                       const Allocation& allocation) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return give(value, allocation.context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return give(value, allocation.on_device() || allocation.kind == MemoryKind::kManaged
                             ? CU_MEMORYTYPE_DEVICE
                             : CU_MEMORYTYPE_HOST);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return give(value, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (allocation.on_device()) return CUDA_ERROR_INVALID_VALUE;
      return give(value, reinterpret_cast<void*>(address));
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return CUDA_ERROR_NOT_SUPPORTED;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return give(value, unsigned{allocation.synchronizes});
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return give(value, allocation.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return give(value, unsigned{allocation.kind == MemoryKind::kManaged});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(value, allocation.device->ordinal());
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      return give(value, allocation.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      return give(value, std::size_t{allocation.bytes});
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return give(value, 1u);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return give(value, std::uint64_t{CU_MEM_HANDLE_TYPE_NONE});
    // None of this exists here, and the device's attributes say so.
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(value, 0u);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return give(value, access_here(allocation));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return give(value, CUmemoryPool{allocation.pool.get()});
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return give(value, std::size_t{allocation.bytes});
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return give(value, allocation.address);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(value,
                  allocation.physical == nullptr ? allocation.id : allocation.physical->id());
  }
  return CUDA_ERROR_INVALID_VALUE;
}

// What cuPointerGetAttributes says of memory that is not the driver's, or of an attribute that this
// memory has not.
CUresult give_nothing(void* value, CUpointer_attribute attribute) {
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return give(value, std::uint64_t{0});
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return give(value, kDeviceIsInvalid);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
      return give(value, 0u);
    case CU_POINTER_ATTRIBUTE_P2P_TOKENS:
      return CUDA_ERROR_NOT_SUPPORTED;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemGetAddressRange_v2(CUdeviceptr* start, std::size_t* bytes,
                                                    CUdeviceptr address) {
  return call("cuMemGetAddressRange_v2", kNeedsContext, [&] {
    const auto allocation = address_space().find(address);
    // The driver's own code for an address it does not know.
    if (!allocation) return CUDA_ERROR_NOT_FOUND;
    if (start != nullptr) *start = allocation->address;
    if (bytes != nullptr) *bytes = allocation->bytes;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuPointerGetAttribute(void* value, CUpointer_attribute attribute,
                                                  CUdeviceptr address) {
  return call("cuPointerGetAttribute", kNeedsInit, [&] {
    const auto allocation = address_space().find(address);
    if (value == nullptr || !allocation) return CUDA_ERROR_INVALID_VALUE;
    return get_attribute(value, attribute, address, *allocation);
  });
}

CULEBRA_EMU_EXPORT CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes,
                                                   void** values, CUdeviceptr address) {
  return call("cuPointerGetAttributes", kNeedsInit, [&] {
    if (count == 0 || attributes == nullptr || values == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto allocation = address_space().find(address);
    for (unsigned i = 0; i < count; ++i) {
      if (values[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      const CUresult nothing = give_nothing(values[i], attributes[i]);
      if (nothing != CUDA_SUCCESS) return nothing;
      // An attribute that this memory has not is left as nothing.
      if (allocation) get_attribute(values[i], attributes[i], address, *allocation);
    }
    return CUDA_SUCCESS;
  });
}

// Synchronous copies always are, here; the driver's promise needs nothing more than to be
// remembered.
CULEBRA_EMU_EXPORT CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                                                  CUdeviceptr address) {
  return call("cuPointerSetAttribute", kNeedsContext, [&] {
    const auto allocation = address_space().find(address);
    if (value == nullptr || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !allocation ||
        !(allocation->on_device() || allocation->kind == MemoryKind::kManaged)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    address_space().update(allocation->address, [&](Allocation& kept) {
      kept.synchronizes = *static_cast<const unsigned*>(value) != 0;
    });
    return CUDA_SUCCESS;
  });
}

// Device memory, stream-ordered memory, pinned and registered host memory.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "config.h"
#include "entry/call.h"
#include "entry/graph_memory.h"
#include "model/address_space.h"
#include "model/objects.h"

using namespace culebra_emu;

namespace {

// Whether CULEBRA_EMU_OOM_AT says that this allocation, counted over all devices, fails.
bool is_denied() {
  static std::atomic<std::uint64_t> allocations = 0;
  return allocations.fetch_add(1) + 1 == config().fail_allocation;
}

bool is_async_or_sync_device(const Allocation& allocation) {
  return allocation.on_device() && allocation.kind != MemoryKind::kGraph;
}

MemoryPool* find_pool(CUmemoryPool handle) {
  for (int i = 0; i < device_count(); ++i) {
    MemoryPool& pool = find_device(i)->default_pool();
    if (&pool == handle) return &pool;
  }
  return nullptr;
}

// Hands an allocation's memory back once nothing uses it any more.
void release(Allocation& allocation) {
  if (allocation.kind == MemoryKind::kPool) {
    allocation.context->device().default_pool().give_back(std::move(allocation.mapping));
  }
  allocation.mapping = nullptr;
}

void count_free(const Allocation& allocation) {
  if (allocation.kind == MemoryKind::kPool) {
    allocation.context->device().default_pool().count_free(allocation.bytes);
  }
}

CUresult free_host(const char* symbol, void* address) {
  return call(symbol, kNeedsContext | kUnsafeInCapture, [&] {
    auto allocation = address_space().remove(
        reinterpret_cast<std::uint64_t>(address),
        [](const Allocation& candidate) { return candidate.kind == MemoryKind::kPinned; });
    if (!allocation) return CUDA_ERROR_INVALID_VALUE;
    allocation->context->synchronize();
    return CUDA_SUCCESS;
  });
}

CUresult alloc_host(const char* symbol, void** address, std::size_t bytes, unsigned flags) {
  return call(symbol, kNeedsContext | kUnsafeInCapture, [&] {
    // Portable, device-mapped, write-combined: all are true, or without effect, here.
    constexpr unsigned kKnownFlags = 7;
    if (address == nullptr || bytes == 0 || (flags & ~kKnownFlags) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Allocation allocation;
    allocation.mapping = std::make_shared<Mapping>(bytes);
    allocation.address = allocation.mapping->address();
    allocation.bytes = bytes;
    allocation.kind = MemoryKind::kPinned;
    allocation.context = current_context();
    *address = reinterpret_cast<void*>(allocation.address);
    address_space().add(std::move(allocation));
    return CUDA_SUCCESS;
  });
}

// Whether all pages of a range are mapped.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t start = address / page * page;
  // msync fails with ENOMEM on a hole, and MS_ASYNC does nothing else.
  return msync(reinterpret_cast<void*>(start), address + bytes - start, MS_ASYNC) == 0;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return call("cuMemGetInfo_v2", kNeedsContext, [&] {
    const Device& device = current_context()->device();
    if (free != nullptr) *free = device.free_bytes();
    if (total != nullptr) *total = device.total_bytes();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemAlloc_v2(CUdeviceptr* address, std::size_t bytes) {
  return call("cuMemAlloc_v2", kNeedsContext | kUnsafeInCapture, [&] {
    if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (is_denied()) return CUDA_ERROR_OUT_OF_MEMORY;
    Allocation allocation;
    allocation.mapping = current_context()->device().map(bytes);
    if (allocation.mapping == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    allocation.address = allocation.mapping->address();
    allocation.bytes = bytes;
    allocation.kind = MemoryKind::kDevice;
    allocation.context = current_context();
    *address = allocation.address;
    address_space().add(std::move(allocation));
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return call("cuMemFree_v2", kNeedsInit | kUnsafeInCapture, [&] {
    if (address == 0) return CUDA_SUCCESS;
    auto allocation = address_space().remove(address, is_async_or_sync_device);
    if (!allocation) return free_graph_memory(address);
    // As the real one: whatever still runs may be using it.
    allocation->context->synchronize();
    count_free(*allocation);
    release(*allocation);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes,
                                            CUstream stream_handle) {
  return call("cuMemAllocAsync", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream("cuMemAllocAsync", stream_handle, result);
    if (stream == nullptr) return result;
    if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *address = 0;
    if (bytes == 0) return CUDA_SUCCESS;
    if (is_denied()) return CUDA_ERROR_OUT_OF_MEMORY;
    bool captured = false;
    result = alloc_in_capture(*stream, bytes, *address, captured);
    if (captured || result != CUDA_SUCCESS) return result;
    Allocation allocation;
    allocation.mapping = stream->context().device().default_pool().take(bytes);
    if (allocation.mapping == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    allocation.address = allocation.mapping->address();
    allocation.bytes = bytes;
    allocation.kind = MemoryKind::kPool;
    allocation.context = &stream->context();
    *address = allocation.address;
    address_space().add(std::move(allocation));
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream_handle) {
  return call("cuMemFreeAsync", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream("cuMemFreeAsync", stream_handle, result);
    if (stream == nullptr) return result;
    if (address == 0) return CUDA_SUCCESS;
    bool captured = false;
    result = free_in_capture(*stream, address, captured);
    if (captured || result != CUDA_SUCCESS) return result;
    auto allocation = address_space().remove(address, is_async_or_sync_device);
    if (!allocation) return free_graph_memory(address);
    count_free(*allocation);
    stream->enqueue(
        [freed = std::make_shared<Allocation>(std::move(*allocation))] { release(*freed); },
        Stream::OnFailure::kRun);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPoolGetAttribute(CUmemoryPool handle,
                                                  CUmemPool_attribute attribute, void* value) {
  return call("cuMemPoolGetAttribute", kNeedsInit, [&] {
    const MemoryPool* pool = find_pool(handle);
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
    MemoryPool* pool = find_pool(handle);
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
    MemoryPool* pool = find_pool(handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    pool->trim(keep);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  return alloc_host("cuMemHostAlloc", address, bytes, flags);
}

CULEBRA_EMU_EXPORT CUresult cuMemAllocHost_v2(void** address, std::size_t bytes) {
  return alloc_host("cuMemAllocHost_v2", address, bytes, 0);
}

CULEBRA_EMU_EXPORT CUresult cuMemFreeHost(void* address) {
  return free_host("cuMemFreeHost", address);
}

CULEBRA_EMU_EXPORT CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* device_address, void* address,
                                                         unsigned flags) {
  return call("cuMemHostGetDevicePointer_v2", kNeedsContext, [&] {
    const auto allocation = address_space().find(reinterpret_cast<std::uint64_t>(address));
    if (device_address == nullptr || flags != 0 || !allocation || allocation->on_device()) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *device_address = reinterpret_cast<std::uint64_t>(address);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemHostRegister_v2(void* address, std::size_t bytes, unsigned flags) {
  return call("cuMemHostRegister_v2", kNeedsContext | kUnsafeInCapture, [&] {
    // Portable, device-mapped, I/O memory, read-only.
    constexpr unsigned kPortableAndMapped = 3;
    constexpr unsigned kKnownFlags = 15;
    const auto start = reinterpret_cast<std::uint64_t>(address);
    if (start == 0 || bytes == 0 || (flags & ~kKnownFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & ~kPortableAndMapped) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (!is_mapped(start, bytes)) return CUDA_ERROR_INVALID_VALUE;
    Allocation allocation;
    allocation.address = start;
    allocation.bytes = bytes;
    allocation.kind = MemoryKind::kRegistered;
    allocation.context = current_context();
    return address_space().add(std::move(allocation)) ? CUDA_SUCCESS
                                                      : CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemHostUnregister(void* address) {
  return call("cuMemHostUnregister", kNeedsContext | kUnsafeInCapture, [&] {
    const auto allocation = address_space().remove(
        reinterpret_cast<std::uint64_t>(address),
        [](const Allocation& candidate) { return candidate.kind == MemoryKind::kRegistered; });
    return allocation ? CUDA_SUCCESS : CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
  });
}

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
    switch (attribute) {
      case CU_POINTER_ATTRIBUTE_CONTEXT:
        *static_cast<CUcontext*>(value) = allocation->context;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *static_cast<unsigned*>(value) =
            allocation->on_device() ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *static_cast<CUdeviceptr*>(value) = address;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (allocation->on_device()) return CUDA_ERROR_INVALID_VALUE;
        *static_cast<void**>(value) = reinterpret_cast<void*>(address);
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *static_cast<std::uint64_t*>(value) = allocation->id;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *static_cast<unsigned*>(value) = 0;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *static_cast<int*>(value) = allocation->context->device().ordinal();
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *static_cast<CUdeviceptr*>(value) = allocation->address;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *static_cast<std::size_t*>(value) = allocation->bytes;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_MAPPED:
        *static_cast<unsigned*>(value) = 1;
        return CUDA_SUCCESS;
      case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        *static_cast<CUmemoryPool*>(value) = allocation->kind == MemoryKind::kPool
                                                 ? &allocation->context->device().default_pool()
                                                 : nullptr;
        return CUDA_SUCCESS;
      default:
        return CUDA_ERROR_NOT_SUPPORTED;
    }
  });
}

// Device memory, stream-ordered memory, pinned and registered host memory. Managed memory, pools
// and virtual memory have files of their own.
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "entry/allocation.h"
#include "entry/call.h"
#include "entry/graph_memory.h"

using namespace culebra_emu;

namespace {

bool is_freed_by_address(const Allocation& allocation) { return allocation.is_freed_by_address(); }

// Hands an allocation's memory back once nothing uses it any more.
void release(Allocation& allocation) {
  if (allocation.pool != nullptr) allocation.pool->give_back(std::move(allocation.mapping));
  allocation.mapping = nullptr;
}

void count_free(const Allocation& allocation) {
  if (allocation.pool != nullptr) allocation.pool->count_free(allocation.bytes);
}

CUresult alloc_device(const char* symbol, CUdeviceptr* address, std::size_t bytes) {
  return call(symbol, kNeedsContext | kUnsafeInCapture, [&] {
    if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    if (allocation_is_denied()) return CUDA_ERROR_OUT_OF_MEMORY;
    Context& context = *current_context();
    return add_allocation(MemoryKind::kDevice, context, context.device().map(bytes), address);
  });
}

// Null means the current pool of the stream's device.
CUresult alloc_from_pool(const char* symbol, CUdeviceptr* address, std::size_t bytes,
                         const std::shared_ptr<MemoryPool>& given, CUstream stream_handle) {
  CUresult result = CUDA_SUCCESS;
  const StreamPtr stream = resolve_stream(symbol, stream_handle, result);
  if (stream == nullptr) return result;
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *address = 0;
  if (bytes == 0) return CUDA_SUCCESS;
  bool captured = false;
  result = alloc_in_capture(*stream, bytes, *address, captured);
  if (captured || result != CUDA_SUCCESS) return result;
  if (allocation_is_denied()) return CUDA_ERROR_OUT_OF_MEMORY;
  Context& context = stream->context();
  const auto pool = given == nullptr ? context.device().current_pool() : given;
  return add_allocation(MemoryKind::kPool, context, pool->take(bytes), address, pool);
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
    auto mapping = std::make_shared<Mapping>(bytes);
    *address = reinterpret_cast<void*>(mapping->address());
    Allocation allocation = describe(MemoryKind::kPinned, *current_context(), std::move(mapping));
    allocation.flags = flags;
    address_space().add(std::move(allocation));
    return CUDA_SUCCESS;
  });
}

// Whether all pages of a range are mapped; one that is no range, since its end wraps, is not.
bool is_mapped(std::uint64_t address, std::uint64_t bytes) {
  std::uint64_t end = 0;
  if (__builtin_add_overflow(address, bytes, &end)) return false;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t start = address / page * page;
  // msync fails with ENOMEM on a hole, and MS_ASYNC does nothing else.
  return msync(reinterpret_cast<void*>(start), end - start, MS_ASYNC) == 0;
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
  return alloc_device("cuMemAlloc_v2", address, bytes);
}

CULEBRA_EMU_EXPORT CUresult cuMemAllocPitch_v2(CUdeviceptr* address, std::size_t* pitch_bytes,
                                               std::size_t width_bytes, std::size_t rows,
                                               unsigned element_bytes) {
  constexpr std::size_t kPitch = 512;
  std::size_t bytes = 0;
  std::size_t pitch = 0;
  const bool is_valid = pitch_bytes != nullptr && width_bytes != 0 && rows != 0 &&
                        (element_bytes == 4 || element_bytes == 8 || element_bytes == 16);
  // What is too large for a number is too large for the memory.
  if (__builtin_add_overflow(width_bytes, kPitch - 1, &pitch)) bytes = SIZE_MAX;
  pitch = pitch / kPitch * kPitch;
  if (bytes == 0 && __builtin_mul_overflow(pitch, rows, &bytes)) bytes = SIZE_MAX;
  const CUresult result = alloc_device("cuMemAllocPitch_v2", address, is_valid ? bytes : 0);
  if (result == CUDA_SUCCESS) *pitch_bytes = pitch;
  return result;
}

CULEBRA_EMU_EXPORT CUresult cuMemFree_v2(CUdeviceptr address) {
  return call("cuMemFree_v2", kNeedsInit | kUnsafeInCapture, [&] {
    if (address == 0) return CUDA_SUCCESS;
    auto allocation = address_space().remove(address, is_freed_by_address);
    if (!allocation) return free_graph_memory(address);
    // As the real one: whatever still runs may be using it.
    allocation->context->synchronize();
    count_free(*allocation);
    release(*allocation);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemAllocAsync(CUdeviceptr* address, std::size_t bytes,
                                            CUstream stream) {
  return call("cuMemAllocAsync", kNeedsInit,
              [&] { return alloc_from_pool("cuMemAllocAsync", address, bytes, nullptr, stream); });
}

CULEBRA_EMU_EXPORT CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, std::size_t bytes,
                                                    CUmemoryPool handle, CUstream stream) {
  return call("cuMemAllocFromPoolAsync", kNeedsInit, [&] {
    const std::shared_ptr<MemoryPool> pool = find_pool(handle);
    if (pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return alloc_from_pool("cuMemAllocFromPoolAsync", address, bytes, pool, stream);
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
    auto allocation = address_space().remove(address, is_freed_by_address);
    if (!allocation) return free_graph_memory(address);
    count_free(*allocation);
    stream->enqueue(
        [freed = std::make_shared<Allocation>(std::move(*allocation))] { release(*freed); },
        Stream::OnFailure::kRun);
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

CULEBRA_EMU_EXPORT CUresult cuMemHostGetFlags(unsigned* flags, void* address) {
  return call("cuMemHostGetFlags", kNeedsContext, [&] {
    const auto allocation = address_space().find(reinterpret_cast<std::uint64_t>(address));
    if (flags == nullptr || !allocation || allocation->kind != MemoryKind::kPinned) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *flags = allocation->flags;
    return CUDA_SUCCESS;
  });
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
    // Portable, device-mapped, read-only: all are true, or without effect, here.
    constexpr unsigned kInputOutputMemory = 4;
    constexpr unsigned kKnownFlags = 15;
    const auto start = reinterpret_cast<std::uint64_t>(address);
    if (start == 0 || bytes == 0 || (flags & ~kKnownFlags) != 0) return CUDA_ERROR_INVALID_VALUE;
    if ((flags & kInputOutputMemory) != 0) return CUDA_ERROR_NOT_SUPPORTED;
    if (!is_mapped(start, bytes)) return CUDA_ERROR_INVALID_VALUE;
    Allocation allocation;
    allocation.address = start;
    allocation.bytes = bytes;
    allocation.kind = MemoryKind::kRegistered;
    allocation.context = current_context();
    allocation.device = &current_context()->device();
    allocation.flags = flags;
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

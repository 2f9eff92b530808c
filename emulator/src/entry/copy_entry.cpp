// Copies and fills. Device memory is host memory here, so all copies are one; what differs is which
// ends are checked, and who waits for whom.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "entry/call.h"
#include "execution/fault.h"
#include "model/address_space.h"

using namespace culebra_emu;

namespace {

// What one end of a copy may be.
enum class End {
  kDevice,  // memory that the driver knows, and the whole range within one allocation
  kHost,    // anything of the process; but if the driver knows it, within one allocation
};

bool is_valid(End end, std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (address_space().contains(address, bytes)) return true;
  if (end == End::kDevice) return false;
  return address != 0 && !address_space().find(address) &&
         !AddressSpace::is_device_address(address);
}

// Pageable memory: the driver cannot copy it behind the caller's back.
bool is_pageable(End end, std::uint64_t address) {
  return end == End::kHost && !address_space().find(address);
}

void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }
std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

struct Copy {
  End to_end;
  std::uint64_t to;
  End from_end;
  std::uint64_t from;
  std::size_t bytes;

  bool is_valid() const {
    return ::is_valid(to_end, to, bytes) && ::is_valid(from_end, from, bytes);
  }
  // Overlap is allowed, as silently as the driver allows it.
  void run() const { std::memmove(pointer(to), pointer(from), bytes); }
};

// What was valid when the call was made may be gone when its turn comes: freed on another stream. A
// device says so with an error, and so does this, instead of ending the process.
template <class Work>
CompletionPtr enqueue(const char* symbol, Stream& stream, Work work) {
  return stream.enqueue([symbol, work = std::move(work), &device = stream.context().device()] {
    if (const std::optional<Fault> fault = run_until_fault(work)) {
      char message[128];
      std::snprintf(message, sizeof message, "%s: access to illegal address %p", symbol,
                    fault->address);
      device.fail(CUDA_ERROR_ILLEGAL_ADDRESS, message);
    }
  });
}

// Waits as a call on the legacy default stream does.
template <class Work>
CUresult run_on_default_stream(const char* symbol, Work work) {
  Context& context = *current_context();
  enqueue(symbol, *context.legacy_stream(), std::move(work))->wait();
  return context.device().failure();
}

CUresult copy_now(const char* symbol, const Copy& copy) {
  return call(symbol, kNeedsContext, [&] {
    if (!copy.is_valid()) return CUDA_ERROR_INVALID_VALUE;
    if (copy.bytes == 0) return CUDA_SUCCESS;
    return run_on_default_stream(symbol, [copy] { copy.run(); });
  });
}

CUresult copy_async(const char* symbol, Copy copy, CUstream handle) {
  return call(symbol, kNeedsInit, [&] {
    // What the driver takes along at once, so that the caller need not wait.
    constexpr std::size_t kStagedBytes = 64 * 1024;
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    if (stream == nullptr) return result;
    if (!copy.is_valid()) return CUDA_ERROR_INVALID_VALUE;
    if (copy.bytes == 0) return CUDA_SUCCESS;
    if (is_pageable(copy.from_end, copy.from) && !is_pageable(copy.to_end, copy.to) &&
        copy.bytes <= kStagedBytes) {
      const auto* source = static_cast<const char*>(pointer(copy.from));
      auto staged = std::make_shared<std::vector<char>>(source, source + copy.bytes);
      enqueue(symbol, *stream,
              [copy, staged] { std::memcpy(pointer(copy.to), staged->data(), copy.bytes); });
      return CUDA_SUCCESS;
    }
    const CompletionPtr done = enqueue(symbol, *stream, [copy] { copy.run(); });
    if (is_pageable(copy.from_end, copy.from) || is_pageable(copy.to_end, copy.to)) {
      done->wait();
      return stream->context().device().failure();
    }
    return CUDA_SUCCESS;
  });
}

template <class Element>
struct Fill {
  std::uint64_t to;
  Element value;
  std::size_t count;

  bool is_valid() const {
    if (count > SIZE_MAX / sizeof(Element)) return false;
    return to % sizeof(Element) == 0 && ::is_valid(End::kDevice, to, count * sizeof(Element));
  }
  void run() const {
    auto* first = static_cast<Element*>(pointer(to));
    std::fill(first, first + count, value);
  }
};

template <class Element>
CUresult fill_now(const char* symbol, const Fill<Element>& fill) {
  return call(symbol, kNeedsContext, [&] {
    if (!fill.is_valid()) return CUDA_ERROR_INVALID_VALUE;
    if (fill.count == 0) return CUDA_SUCCESS;
    return run_on_default_stream(symbol, [fill] { fill.run(); });
  });
}

template <class Element>
CUresult fill_async(const char* symbol, const Fill<Element>& fill, CUstream handle) {
  return call(symbol, kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    if (stream == nullptr) return result;
    if (!fill.is_valid()) return CUDA_ERROR_INVALID_VALUE;
    if (fill.count != 0) enqueue(symbol, *stream, [fill] { fill.run(); });
    return CUDA_SUCCESS;
  });
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t bytes) {
  return copy_now("cuMemcpyHtoD_v2", {End::kDevice, to, End::kHost, address_of(from), bytes});
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t bytes) {
  return copy_now("cuMemcpyDtoH_v2", {End::kHost, address_of(to), End::kDevice, from, bytes});
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_now("cuMemcpyDtoD_v2", {End::kDevice, to, End::kDevice, from, bytes});
}

CULEBRA_EMU_EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return copy_now("cuMemcpy", {End::kHost, to, End::kHost, from, bytes});
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from,
                                                 std::size_t bytes, CUstream stream) {
  return copy_async("cuMemcpyHtoDAsync_v2", {End::kDevice, to, End::kHost, address_of(from), bytes},
                    stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t bytes,
                                                 CUstream stream) {
  return copy_async("cuMemcpyDtoHAsync_v2", {End::kHost, address_of(to), End::kDevice, from, bytes},
                    stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from,
                                                 std::size_t bytes, CUstream stream) {
  return copy_async("cuMemcpyDtoDAsync_v2", {End::kDevice, to, End::kDevice, from, bytes}, stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                                          CUstream stream) {
  return copy_async("cuMemcpyAsync", {End::kHost, to, End::kHost, from, bytes}, stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_now<unsigned char>("cuMemsetD8_v2", {to, value, count});
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value,
                                           std::size_t count) {
  return fill_now<unsigned short>("cuMemsetD16_v2", {to, value, count});
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, std::size_t count) {
  return fill_now<unsigned>("cuMemsetD32_v2", {to, value, count});
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count,
                                            CUstream stream) {
  return fill_async<unsigned char>("cuMemsetD8Async", {to, value, count}, stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value,
                                             std::size_t count, CUstream stream) {
  return fill_async<unsigned short>("cuMemsetD16Async", {to, value, count}, stream);
}

CULEBRA_EMU_EXPORT CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count,
                                             CUstream stream) {
  return fill_async<unsigned>("cuMemsetD32Async", {to, value, count}, stream);
}

#include "entry/copy.h"

#include <cstring>
#include <memory>
#include <utility>

#include "entry/call.h"
#include "entry/host_access.h"
#include "entry/submit.h"
#include "model/address_space.h"
#include "model/diagnosis.h"

namespace culebra_emu {
namespace {

// The bytes from the first to the last of a block of rows; false if that is no number.
bool extent(std::size_t pitch, std::size_t slice_rows, std::size_t width, std::size_t rows,
            std::size_t slices, std::uint64_t& bytes) {
  std::uint64_t skipped_rows = 0;
  std::uint64_t skipped_bytes = 0;
  return !__builtin_mul_overflow(slices - 1, slice_rows, &skipped_rows) &&
         !__builtin_add_overflow(skipped_rows, rows - 1, &skipped_rows) &&
         !__builtin_mul_overflow(skipped_rows, pitch, &skipped_bytes) &&
         !__builtin_add_overflow(skipped_bytes, width, &bytes);
}

bool is_valid_range(CUmemorytype type, std::uint64_t address, std::uint64_t bytes) {
  if (address_space().contains(address, bytes)) return true;
  const bool is_valid = type != CU_MEMORYTYPE_DEVICE && address != 0 &&
                        !address_space().find(address) && !AddressSpace::is_device_address(address);
  if (!is_valid) diagnose_address(address, bytes);
  return is_valid;
}

bool is_valid_end(const CopyEnd& end, const CopyWork& work) {
  if (work.rows > 1 && end.pitch_bytes < work.width_bytes) return false;
  if (work.slices > 1 && end.slice_rows < work.rows) return false;
  std::uint64_t bytes = 0;
  return extent(end.pitch_bytes, end.slice_rows, work.width_bytes, work.rows, work.slices, bytes) &&
         is_valid_range(end.type, end.address, bytes);
}

// Pageable memory: the driver cannot copy it behind the caller's back.
bool is_pageable(const CopyEnd& end) {
  return end.type != CU_MEMORYTYPE_DEVICE && !address_space().find(end.address);
}

// Waits as a call on the default stream does.
CUresult run_on_default_stream(const char* symbol, Work work) {
  Context& context = *current_context();
  CompletionPtr done;
  const CUresult result = submit(symbol, *default_stream(context), std::move(work), &done);
  if (result != CUDA_SUCCESS) return result;
  done->wait();
  return context.device().failure();
}

// What the driver takes along at once, so that the caller need not wait.
bool can_be_staged(const CopyWork& work) {
  constexpr std::size_t kStagedBytes = 64 * 1024;
  return work.rows == 1 && work.slices == 1 && work.width_bytes <= kStagedBytes &&
         is_pageable(work.from) && !is_pageable(work.to);
}

}  // namespace

bool is_valid(const CopyWork& work) {
  return work.empty() || (is_valid_end(work.to, work) && is_valid_end(work.from, work));
}

bool is_valid(const FillWork& work) {
  if (work.element_bytes != 1 && work.element_bytes != 2 && work.element_bytes != 4) return false;
  if (work.to % work.element_bytes != 0) return false;
  if (work.empty()) return true;
  std::uint64_t width_bytes = 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(work.width, work.element_bytes, &width_bytes)) return false;
  if (work.rows > 1 &&
      (work.pitch_bytes < width_bytes || work.pitch_bytes % work.element_bytes != 0)) {
    return false;
  }
  return extent(work.pitch_bytes, 0, width_bytes, work.rows, 1, bytes) &&
         is_valid_range(CU_MEMORYTYPE_DEVICE, work.to, bytes);
}

CUresult copy_now(const char* symbol, const CopyWork& work) {
  return call(symbol, kNeedsContext, [&] {
    if (!is_valid(work)) return CUDA_ERROR_INVALID_VALUE;
    return work.empty() ? CUDA_SUCCESS : run_on_default_stream(symbol, work);
  });
}

CUresult fill_now(const char* symbol, const FillWork& work) {
  return call(symbol, kNeedsContext, [&] {
    if (!is_valid(work)) return CUDA_ERROR_INVALID_VALUE;
    return work.empty() ? CUDA_SUCCESS : run_on_default_stream(symbol, work);
  });
}

void stage(CopyWork& work) {
  if (!can_be_staged(work)) return;
  std::shared_ptr<char[]> bytes(new char[work.width_bytes]);
  const AccessScope scope("the source of the copy");
  std::memcpy(bytes.get(), reinterpret_cast<const void*>(work.from.address), work.width_bytes);
  work.from.address = reinterpret_cast<std::uint64_t>(bytes.get());
  work.staged = std::move(bytes);
}

CUresult copy_async(const char* symbol, const CopyWork& work, CUstream handle) {
  return call(symbol, kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    if (stream == nullptr) return result;
    if (!is_valid(work)) return CUDA_ERROR_INVALID_VALUE;
    if (work.empty()) return CUDA_SUCCESS;
    const bool waits = (is_pageable(work.from) || is_pageable(work.to)) && !can_be_staged(work);
    CompletionPtr done;
    result = submit(symbol, *stream, work, &done);
    if (result != CUDA_SUCCESS || !waits || done == nullptr) return result;
    done->wait();
    return stream->context().device().failure();
  });
}

CUresult fill_async(const char* symbol, const FillWork& work, CUstream handle) {
  return call(symbol, kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream(symbol, handle, result);
    if (stream == nullptr) return result;
    if (!is_valid(work)) return CUDA_ERROR_INVALID_VALUE;
    return work.empty() ? CUDA_SUCCESS : submit(symbol, *stream, work);
  });
}

}  // namespace culebra_emu

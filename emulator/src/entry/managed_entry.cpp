// Managed memory: allocation, advice, prefetch. It is host memory, as all memory is here, so that
// both sides may use it at any time; what is said about its use is checked and kept.
#include <algorithm>
#include <optional>
#include <vector>

#include "entry/allocation.h"
#include "entry/call.h"
#include "entry/submit.h"
#include "model/capture.h"
#include "model/memory_advice.h"

using namespace culebra_emu;

namespace {

// A range of managed memory.
struct ManagedRange {
  Allocation allocation;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;

  std::uint64_t offset() const { return address - allocation.address; }
};

std::optional<ManagedRange> find_range(CUdeviceptr address, std::size_t bytes) {
  auto allocation = address_space().find(address);
  if (!allocation || allocation->kind != MemoryKind::kManaged || bytes == 0 ||
      bytes > allocation->bytes - (address - allocation->address)) {
    return std::nullopt;
  }
  return ManagedRange{std::move(*allocation), address, bytes};
}

// A place that data can be brought to. Which node of the host it is makes no difference, but stays
// part of the answer.
CUresult check_place(const CUmemLocation& place) {
  switch (place.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return find_device(place.id) == nullptr ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return place.id < 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// As it is kept: the ids that mean nothing are one.
CUmemLocation normalized(const CUmemLocation& place) {
  switch (place.type) {
    case CU_MEM_LOCATION_TYPE_HOST:
      return {CU_MEM_LOCATION_TYPE_HOST, 0};
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0};
    default:
      return place;
  }
}

// As older queries give a place.
int ordinal_of(const CUmemLocation& place) {
  switch (place.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return place.id;
    case CU_MEM_LOCATION_TYPE_INVALID:
      return kDeviceIsInvalid;
    default:
      return kDeviceIsHost;
  }
}

CUresult advise(const ManagedRange& range, CUmem_advise advice, const CUmemLocation& place) {
  const auto change = [&](auto apply) {
    range.allocation.advice->change(range.offset(), range.bytes, apply);
    return CUDA_SUCCESS;
  };
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      return change(
          [&](Advice& kept) { kept.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY; });
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      if (const CUresult result = check_place(place); result != CUDA_SUCCESS) return result;
      return change([&](Advice& kept) { kept.preferred = normalized(place); });
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      return change([](Advice& kept) { kept.preferred = {}; });
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY: {
      // No single node of the host.
      if (place.type != CU_MEM_LOCATION_TYPE_DEVICE && place.type != CU_MEM_LOCATION_TYPE_HOST) {
        return CUDA_ERROR_INVALID_VALUE;
      }
      if (const CUresult result = check_place(place); result != CUDA_SUCCESS) return result;
      return change([&](Advice& kept) {
        if (advice == CU_MEM_ADVISE_SET_ACCESSED_BY) {
          kept.accessed_by.insert(ordinal_of(place));
        } else {
          kept.accessed_by.erase(ordinal_of(place));
        }
      });
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult get_attribute(void* value, std::size_t value_bytes, CUmem_range_attribute attribute,
                       const ManagedRange& range) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Advice advice = range.allocation.advice->common(range.offset(), range.bytes);
  int* numbers = static_cast<int*>(value);
  if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
    if (value_bytes == 0 || value_bytes % sizeof(int) != 0) return CUDA_ERROR_INVALID_VALUE;
    auto next = advice.accessed_by.begin();
    for (std::size_t i = 0; i < value_bytes / sizeof(int); ++i) {
      numbers[i] = next == advice.accessed_by.end() ? kDeviceIsInvalid : *next++;
    }
    return CUDA_SUCCESS;
  }
  if (value_bytes != sizeof(int)) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      *numbers = advice.read_mostly;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      *numbers = ordinal_of(advice.preferred);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      *numbers = ordinal_of(advice.last_prefetched);
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      *numbers = advice.preferred.type;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      *numbers = advice.preferred.id;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      *numbers = advice.last_prefetched.type;
      return CUDA_SUCCESS;
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      *numbers = advice.last_prefetched.id;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

// The ranges of a batch; false if one of them is no managed memory.
bool find_ranges(const CUdeviceptr* addresses, const std::size_t* sizes, std::size_t count,
                 std::vector<ManagedRange>& ranges) {
  if (addresses == nullptr || sizes == nullptr || count == 0) return false;
  for (std::size_t i = 0; i < count; ++i) {
    auto range = find_range(addresses[i], sizes[i]);
    if (!range) return false;
    ranges.push_back(std::move(*range));
  }
  return true;
}

struct Places {
  const CUmemLocation* places;
  const std::size_t* first;  // the range from which on each is meant
  std::size_t count;
};

CUresult check_places(const Places& places, std::size_t ranges) {
  if (places.places == nullptr || places.first == nullptr || places.count == 0 ||
      places.count > ranges) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  for (std::size_t i = 0; i < places.count; ++i) {
    if (i == 0 ? places.first[0] != 0 : places.first[i] <= places.first[i - 1]) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (places.first[i] >= ranges) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_place(places.places[i]); result != CUDA_SUCCESS) {
      return result;
    }
  }
  return CUDA_SUCCESS;
}

void prefetch(const ManagedRange& range, const CUmemLocation& place) {
  range.allocation.advice->change(range.offset(), range.bytes,
                                  [&](Advice& kept) { kept.last_prefetched = normalized(place); });
}

void prefetch(const std::vector<ManagedRange>& ranges, const Places& places) {
  std::size_t place = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (place + 1 < places.count && places.first[place + 1] == i) ++place;
    prefetch(ranges[i], places.places[place]);
  }
}

// What is discarded may be read as anything: as something that shows.
CUresult discard(const char* symbol, Stream& stream, const std::vector<ManagedRange>& ranges) {
  constexpr unsigned kGarbage = 0xFF;
  for (const ManagedRange& range : ranges) {
    const CUresult result = submit(
        symbol, stream, FillWork{.to = range.address, .value = kGarbage, .width = range.bytes});
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

// Batches do not go to the legacy default stream.
StreamPtr resolve_batch_stream(const char* symbol, CUstream handle, CUresult& result) {
  constexpr std::uintptr_t kLegacy = 1;
  if (reinterpret_cast<std::uintptr_t>(handle) <= kLegacy) {
    result = CUDA_ERROR_INVALID_VALUE;
    return nullptr;
  }
  return resolve_stream(symbol, handle, result);
}

// The memory that a batch is about, as the caller names it.
struct Batch {
  CUdeviceptr* addresses;
  std::size_t* sizes;
  std::size_t count;
  unsigned long long flags;
};

// Calls body(stream, ranges) if the stream may take the batch and all of it is managed memory.
template <class Body>
CUresult with_batch(const char* symbol, const Batch& batch, CUstream handle, Body body) {
  return call(symbol, kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_batch_stream(symbol, handle, result);
    if (stream == nullptr) return result;
    result = refuse_in_capture(*stream);
    if (result != CUDA_SUCCESS) return result;
    std::vector<ManagedRange> ranges;
    if (batch.flags != 0 || !find_ranges(batch.addresses, batch.sizes, batch.count, ranges)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return body(*stream, ranges);
  });
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuMemAllocManaged(CUdeviceptr* address, std::size_t bytes,
                                              unsigned flags) {
  return call("cuMemAllocManaged", kNeedsContext | kUnsafeInCapture, [&] {
    if (address == nullptr || bytes == 0 ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (allocation_is_denied()) return CUDA_ERROR_OUT_OF_MEMORY;
    // It may be more than the device has: that is what it is for.
    Allocation allocation =
        describe(MemoryKind::kManaged, *current_context(), std::make_shared<Mapping>(bytes));
    allocation.flags = flags;
    allocation.advice = std::make_shared<MemoryAdvice>(bytes);
    *address = allocation.address;
    address_space().add(std::move(allocation));
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr address,
                                                   std::size_t bytes, unsigned flags) {
  return call("cuStreamAttachMemAsync", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream("cuStreamAttachMemAsync", handle, result);
    if (stream == nullptr) return result;
    result = refuse_in_capture(*stream);
    if (result != CUDA_SUCCESS) return result;
    const auto allocation = address_space().find(address);
    const bool is_whole = allocation && allocation->kind == MemoryKind::kManaged &&
                          allocation->address == address &&
                          (bytes == 0 || bytes == allocation->bytes);
    const bool is_default = stream->kind() == Stream::Kind::kLegacyDefault;
    if (!is_whole ||
        (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
         flags != CU_MEM_ATTACH_SINGLE) ||
        (flags == CU_MEM_ATTACH_SINGLE && is_default)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    // The device may use it from all streams at all times, and so may the host.
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemAdvise_v2(CUdeviceptr address, std::size_t bytes,
                                           CUmem_advise advice, CUmemLocation place) {
  return call("cuMemAdvise_v2", kNeedsInit, [&] {
    const auto range = find_range(address, bytes);
    return range ? advise(*range, advice, place) : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, std::size_t bytes,
                                                  CUmemLocation place, unsigned flags,
                                                  CUstream handle) {
  return call("cuMemPrefetchAsync_v2", kNeedsInit, [&] {
    CUresult result = CUDA_SUCCESS;
    const StreamPtr stream = resolve_stream("cuMemPrefetchAsync_v2", handle, result);
    if (stream == nullptr) return result;
    result = refuse_in_capture(*stream);
    if (result != CUDA_SUCCESS) return result;
    const auto range = find_range(address, bytes);
    if (!range || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    result = check_place(place);
    if (result != CUDA_SUCCESS) return result;
    prefetch(*range, place);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemPrefetchBatchAsync(CUdeviceptr* addresses, std::size_t* sizes,
                                                    std::size_t count, CUmemLocation* places,
                                                    std::size_t* first_ranges,
                                                    std::size_t place_count,
                                                    unsigned long long flags, CUstream handle) {
  return with_batch("cuMemPrefetchBatchAsync", {addresses, sizes, count, flags}, handle,
                    [&](Stream&, const std::vector<ManagedRange>& ranges) -> CUresult {
                      const Places all = {places, first_ranges, place_count};
                      const CUresult result = check_places(all, count);
                      if (result == CUDA_SUCCESS) prefetch(ranges, all);
                      return result;
                    });
}

CULEBRA_EMU_EXPORT CUresult cuMemDiscardBatchAsync(CUdeviceptr* addresses, std::size_t* sizes,
                                                   std::size_t count, unsigned long long flags,
                                                   CUstream handle) {
  return with_batch("cuMemDiscardBatchAsync", {addresses, sizes, count, flags}, handle,
                    [&](Stream& stream, const std::vector<ManagedRange>& ranges) -> CUresult {
                      return discard("cuMemDiscardBatchAsync", stream, ranges);
                    });
}

CULEBRA_EMU_EXPORT CUresult cuMemDiscardAndPrefetchBatchAsync(
    CUdeviceptr* addresses, std::size_t* sizes, std::size_t count, CUmemLocation* places,
    std::size_t* first_ranges, std::size_t place_count, unsigned long long flags, CUstream handle) {
  constexpr const char* kSymbol = "cuMemDiscardAndPrefetchBatchAsync";
  return with_batch(kSymbol, {addresses, sizes, count, flags}, handle,
                    [&](Stream& stream, const std::vector<ManagedRange>& ranges) -> CUresult {
                      const Places all = {places, first_ranges, place_count};
                      CUresult result = check_places(all, count);
                      if (result != CUDA_SUCCESS) return result;
                      prefetch(ranges, all);
                      return discard(kSymbol, stream, ranges);
                    });
}

CULEBRA_EMU_EXPORT CUresult cuMemRangeGetAttribute(void* value, std::size_t value_bytes,
                                                   CUmem_range_attribute attribute,
                                                   CUdeviceptr address, std::size_t bytes) {
  return call("cuMemRangeGetAttribute", kNeedsInit, [&] {
    const auto range = find_range(address, bytes);
    return range ? get_attribute(value, value_bytes, attribute, *range) : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuMemRangeGetAttributes(void** values, std::size_t* value_bytes,
                                                    CUmem_range_attribute* attributes,
                                                    std::size_t count, CUdeviceptr address,
                                                    std::size_t bytes) {
  return call("cuMemRangeGetAttributes", kNeedsInit, [&] {
    const auto range = find_range(address, bytes);
    if (!range || values == nullptr || value_bytes == nullptr || attributes == nullptr ||
        count == 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const CUresult result = get_attribute(values[i], value_bytes[i], attributes[i], *range);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

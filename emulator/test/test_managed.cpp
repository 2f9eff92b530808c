// Managed memory, and what is said about its use.
#include <vector>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuMemAllocManaged, CUdeviceptr*, std::size_t, unsigned);
DRIVER_CALL(cuStreamAttachMemAsync, CUstream, CUdeviceptr, std::size_t, unsigned);
DRIVER_CALL(cuMemAdvise_v2, CUdeviceptr, std::size_t, CUmem_advise, CUmemLocation);
DRIVER_CALL(cuMemPrefetchAsync_v2, CUdeviceptr, std::size_t, CUmemLocation, unsigned, CUstream);
DRIVER_CALL(cuMemPrefetchBatchAsync, CUdeviceptr*, std::size_t*, std::size_t, CUmemLocation*,
            std::size_t*, std::size_t, unsigned long long, CUstream);
DRIVER_CALL(cuMemDiscardBatchAsync, CUdeviceptr*, std::size_t*, std::size_t, unsigned long long,
            CUstream);
DRIVER_CALL(cuMemDiscardAndPrefetchBatchAsync, CUdeviceptr*, std::size_t*, std::size_t,
            CUmemLocation*, std::size_t*, std::size_t, unsigned long long, CUstream);
DRIVER_CALL(cuMemRangeGetAttribute, void*, std::size_t, CUmem_range_attribute, CUdeviceptr,
            std::size_t);
DRIVER_CALL(cuMemRangeGetAttributes, void**, std::size_t*, CUmem_range_attribute*, std::size_t,
            CUdeviceptr, std::size_t);

namespace {

constexpr CUmemLocation kHost = {CU_MEM_LOCATION_TYPE_HOST, 0};
constexpr CUmemLocation kDevice = {CU_MEM_LOCATION_TYPE_DEVICE, 0};

CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAllocManaged(&memory, bytes, CU_MEM_ATTACH_GLOBAL));
  return memory;
}

int attribute(CUmem_range_attribute which, CUdeviceptr memory, std::size_t bytes) {
  int value = 99;
  RETURNS(0, cuMemRangeGetAttribute(&value, sizeof value, which, memory, bytes));
  return value;
}

}  // namespace

TEST(both_sides_use_managed_memory) {
  use_device();
  const CUdeviceptr memory = allocate(64);
  auto* values = reinterpret_cast<int*>(memory);
  values[0] = 1;
  RETURNS(0, launch(function(load_test_module(), "store"), 1, 1, 0, nullptr, memory + 4, 7));
  RETURNS(0, cuCtxSynchronize());
  CHECK_EQ(values[0], 1);
  CHECK_EQ(values[1], 7);
  int value = 0;
  unsigned is_managed = 0, type = 0;
  void* host = nullptr;
  RETURNS(0, cuDeviceGetAttribute(&value, 83, 0));
  CHECK_EQ(value, 1);
  RETURNS(0, cuPointerGetAttribute(&is_managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, memory));
  CHECK_EQ(is_managed, 1u);
  RETURNS(0, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory));
  CHECK_EQ(type, unsigned{CU_MEMORYTYPE_DEVICE});
  RETURNS(0, cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory));
  CHECK_EQ(host, values);
  RETURNS(0, cuMemcpyDtoH_v2(&value, memory + 4, 4));
  CHECK_EQ(value, 7);
  RETURNS(0, cuMemFree_v2(memory));
  RETURNS(1, cuMemFree_v2(memory));
  CUdeviceptr other = 0;
  RETURNS(1, cuMemAllocManaged(&other, 0, 1));
  RETURNS(1, cuMemAllocManaged(&other, 64, 0));
  RETURNS(1, cuMemAllocManaged(&other, 64, CU_MEM_ATTACH_SINGLE));
  RETURNS(1, cuMemAllocManaged(nullptr, 64, 1));
  RETURNS(2, cuMemAllocManaged(&other, std::size_t{1} << 60, 1));
  RETURNS(0, cuMemAllocManaged(&other, 64, CU_MEM_ATTACH_HOST));
}

TEST(advice_holds_for_ranges) {
  use_device();
  const CUdeviceptr memory = allocate(16384);
  using enum CUmem_range_attribute;
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 16384), 0);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 16384), -2);
  RETURNS(0, cuMemAdvise_v2(memory + 4096, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, {}));
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 16384), 0);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + 4096, 4096), 1);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory + 4095, 2), 0);
  RETURNS(0, cuMemAdvise_v2(memory, 16384, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kDevice));
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 16384), 0);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, 16384),
           CU_MEM_LOCATION_TYPE_DEVICE);
  RETURNS(0, cuMemAdvise_v2(memory, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, kHost));
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 8192), -1);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 8193), -2);
  // A node of the host is a place of its own.
  RETURNS(0, cuMemAdvise_v2(memory, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                            {CU_MEM_LOCATION_TYPE_HOST_NUMA, 1}));
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, memory, 8192),
           CU_MEM_LOCATION_TYPE_HOST_NUMA);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID, memory, 8192), 1);
  RETURNS(0, cuMemAdvise_v2(memory, 16384, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, {}));
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, memory, 16384), -2);

  int places[3] = {};
  const auto accessed_by = [&](std::size_t bytes) {
    RETURNS(0, cuMemRangeGetAttribute(places, sizeof places, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY,
                                      memory, bytes));
  };
  RETURNS(0, cuMemAdvise_v2(memory, 16384, CU_MEM_ADVISE_SET_ACCESSED_BY, kDevice));
  RETURNS(0, cuMemAdvise_v2(memory, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, kHost));
  accessed_by(4096);
  CHECK(places[0] == -1 && places[1] == 0 && places[2] == -2);
  accessed_by(16384);
  CHECK(places[0] == 0 && places[1] == -2 && places[2] == -2);
  RETURNS(0, cuMemAdvise_v2(memory, 16384, CU_MEM_ADVISE_UNSET_ACCESSED_BY, kDevice));
  accessed_by(16384);
  CHECK_EQ(places[0], -2);
}

TEST(advice_that_is_none) {
  use_device();
  const CUdeviceptr memory = allocate(4096);
  CUdeviceptr unmanaged = 0;
  RETURNS(0, cuMemAlloc_v2(&unmanaged, 4096));
  int value = 0;
  RETURNS(1, cuMemAdvise_v2(unmanaged, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, kDevice));
  RETURNS(1, cuMemAdvise_v2(memory, 4097, CU_MEM_ADVISE_SET_READ_MOSTLY, kDevice));
  RETURNS(1, cuMemAdvise_v2(memory, 0, CU_MEM_ADVISE_SET_READ_MOSTLY, kDevice));
  RETURNS(1, cuMemAdvise_v2(memory, 64, static_cast<CUmem_advise>(7), kDevice));
  RETURNS(101, cuMemAdvise_v2(memory, 64, CU_MEM_ADVISE_SET_PREFERRED_LOCATION,
                              {CU_MEM_LOCATION_TYPE_DEVICE, 1}));
  RETURNS(1, cuMemAdvise_v2(memory, 64, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, {}));
  RETURNS(1, cuMemAdvise_v2(memory, 64, CU_MEM_ADVISE_SET_ACCESSED_BY,
                            {CU_MEM_LOCATION_TYPE_HOST_NUMA, 0}));
  RETURNS(1, cuMemRangeGetAttribute(&value, 8, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 64));
  RETURNS(1, cuMemRangeGetAttribute(&value, 3, CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, memory, 64));
  RETURNS(1, cuMemRangeGetAttribute(&value, 4, static_cast<CUmem_range_attribute>(9), memory, 64));
  RETURNS(1, cuMemRangeGetAttribute(nullptr, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, memory, 64));
  RETURNS(1, cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, unmanaged, 64));
}

TEST(prefetch_is_remembered) {
  use_device();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 1));
  const CUdeviceptr memory = allocate(16384);
  using enum CUmem_range_attribute;
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 16384), -2);
  RETURNS(0, cuMemPrefetchAsync_v2(memory, 16384, kDevice, 0, stream));
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 16384), 0);
  RETURNS(0, cuMemPrefetchAsync_v2(memory, 4096, kHost, 0, nullptr));
  int read_mostly = 9, place = 9;
  void* values[] = {&read_mostly, &place};
  std::size_t sizes[] = {4, 4};
  CUmem_range_attribute attributes[] = {CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                        CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE};
  RETURNS(0, cuMemRangeGetAttributes(values, sizes, attributes, 2, memory, 4096));
  CHECK(read_mostly == 0 && place == CU_MEM_LOCATION_TYPE_HOST);
  RETURNS(1, cuMemPrefetchAsync_v2(memory, 16385, kDevice, 0, stream));
  RETURNS(1, cuMemPrefetchAsync_v2(memory, 64, kDevice, 1, stream));
  RETURNS(101, cuMemPrefetchAsync_v2(memory, 64, {CU_MEM_LOCATION_TYPE_DEVICE, 5}, 0, stream));

  CUdeviceptr ranges[] = {memory, memory + 4096, memory + 8192};
  std::size_t bytes[] = {4096, 4096, 4096};
  CUmemLocation places[] = {kDevice, kHost};
  std::size_t first[] = {0, 2};
  RETURNS(0, cuMemPrefetchBatchAsync(ranges, bytes, 3, places, first, 2, 0, stream));
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 8192), 0);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory + 8192, 4096), -1);
  std::size_t unordered[] = {0, 0};
  RETURNS(1, cuMemPrefetchBatchAsync(ranges, bytes, 3, places, unordered, 2, 0, stream));
  std::size_t late[] = {1, 2};
  RETURNS(1, cuMemPrefetchBatchAsync(ranges, bytes, 3, places, late, 2, 0, stream));
  RETURNS(1, cuMemPrefetchBatchAsync(ranges, bytes, 3, places, first, 2, 0, nullptr));
  RETURNS(1, cuMemPrefetchBatchAsync(ranges, bytes, 3, places, first, 2, 1, stream));
  RETURNS(1, cuMemPrefetchBatchAsync(ranges, bytes, 0, places, first, 2, 0, stream));
}

TEST(discarded_memory_holds_garbage_that_shows) {
  use_device();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 1));
  const CUdeviceptr memory = allocate(8192);
  auto* bytes = reinterpret_cast<unsigned char*>(memory);
  bytes[0] = bytes[4096] = 3;
  CUdeviceptr ranges[] = {memory};
  std::size_t sizes[] = {4096};
  RETURNS(0, cuMemDiscardBatchAsync(ranges, sizes, 1, 0, stream));
  RETURNS(0, cuStreamSynchronize(stream));
  CHECK(bytes[0] == 0xFF && bytes[4095] == 0xFF && bytes[4096] == 3);
  CUmemLocation place = kDevice;
  std::size_t first = 0;
  bytes[0] = 3;
  RETURNS(0, cuMemDiscardAndPrefetchBatchAsync(ranges, sizes, 1, &place, &first, 1, 0, stream));
  RETURNS(0, cuStreamSynchronize(stream));
  CHECK(bytes[0] == 0xFF);
  CHECK_EQ(attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, memory, 4096), 0);
  RETURNS(1, cuMemDiscardBatchAsync(ranges, sizes, 1, 0, nullptr));
  sizes[0] = 9000;
  RETURNS(1, cuMemDiscardBatchAsync(ranges, sizes, 1, 0, stream));
}

TEST(managed_memory_is_attached_as_a_whole) {
  use_device();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 1));
  const CUdeviceptr memory = allocate(4096);
  RETURNS(0, cuStreamAttachMemAsync(stream, memory, 0, CU_MEM_ATTACH_SINGLE));
  RETURNS(0, cuStreamAttachMemAsync(stream, memory, 4096, CU_MEM_ATTACH_HOST));
  RETURNS(0, cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_GLOBAL));
  RETURNS(1, cuStreamAttachMemAsync(nullptr, memory, 0, CU_MEM_ATTACH_SINGLE));
  RETURNS(1, cuStreamAttachMemAsync(stream, memory, 64, CU_MEM_ATTACH_SINGLE));
  RETURNS(1, cuStreamAttachMemAsync(stream, memory + 64, 0, CU_MEM_ATTACH_SINGLE));
  RETURNS(1, cuStreamAttachMemAsync(stream, memory, 0, 0));
  CUdeviceptr unmanaged = 0;
  RETURNS(0, cuMemAlloc_v2(&unmanaged, 64));
  RETURNS(1, cuStreamAttachMemAsync(stream, unmanaged, 0, CU_MEM_ATTACH_GLOBAL));
}

// Memory pools: those of devices and those that users create.
#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuDeviceGetMemPool, CUmemoryPool*, CUdevice);
DRIVER_CALL(cuDeviceSetMemPool, CUdevice, CUmemoryPool);
DRIVER_CALL(cuMemGetDefaultMemPool, CUmemoryPool*, CUmemLocation*, CUmemAllocationType);
DRIVER_CALL(cuMemGetMemPool, CUmemoryPool*, CUmemLocation*, CUmemAllocationType);
DRIVER_CALL(cuMemSetMemPool, CUmemLocation*, CUmemAllocationType, CUmemoryPool);
DRIVER_CALL(cuMemPoolCreate, CUmemoryPool*, const CUmemPoolProps*);
DRIVER_CALL(cuMemPoolDestroy, CUmemoryPool);
DRIVER_CALL(cuMemPoolSetAccess, CUmemoryPool, const CUmemAccessDesc*, std::size_t);
DRIVER_CALL(cuMemPoolGetAccess, CUmemAccess_flags*, CUmemoryPool, CUmemLocation*);
DRIVER_CALL(cuMemAllocFromPoolAsync, CUdeviceptr*, std::size_t, CUmemoryPool, CUstream);
DRIVER_CALL(cuMemPoolExportToShareableHandle, void*, CUmemoryPool, int, unsigned long long);

namespace {

CUmemPoolProps properties(int device = 0, std::size_t max_bytes = 0) {
  CUmemPoolProps result = {};
  result.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  result.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  result.maxSize = max_bytes;
  return result;
}

CUmemoryPool create_pool(std::size_t max_bytes = 0) {
  CUmemoryPool pool = nullptr;
  const CUmemPoolProps asked = properties(0, max_bytes);
  RETURNS(0, cuMemPoolCreate(&pool, &asked));
  return pool;
}

std::uint64_t attribute(CUmemoryPool pool, CUmemPool_attribute which) {
  std::uint64_t value = 99;
  RETURNS(0, cuMemPoolGetAttribute(pool, which, &value));
  return value;
}

}  // namespace

TEST(a_created_pool_counts_its_own_memory) {
  use_device();
  const CUmemoryPool pool = create_pool();
  CUmemoryPool standard = nullptr, of_memory = nullptr;
  RETURNS(0, cuDeviceGetDefaultMemPool(&standard, 0));
  CHECK(pool != standard);
  CUdeviceptr memory = 0, other = 0;
  RETURNS(0, cuMemAllocFromPoolAsync(&memory, 4096, pool, nullptr));
  RETURNS(0, cuMemAllocAsync(&other, 1024, nullptr));
  CHECK_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 4096u);
  CHECK_EQ(attribute(standard, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 1024u);
  RETURNS(0, cuPointerGetAttribute(&of_memory, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
  CHECK_EQ(of_memory, pool);
  RETURNS(0, cuMemsetD8_v2(memory, 1, 4096));
  RETURNS(0, cuMemFreeAsync(memory, nullptr));
  CHECK_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0u);
  CHECK_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 4096u);
  // Every synchronization trims every pool of the device to its threshold.
  RETURNS(0, cuStreamSynchronize(nullptr));
  CHECK_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
  std::uint64_t threshold = UINT64_MAX;
  RETURNS(0, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  RETURNS(0, cuMemAllocFromPoolAsync(&memory, 4096, pool, nullptr));
  RETURNS(0, cuMemFree_v2(memory));
  RETURNS(0, cuCtxSynchronize());
  CHECK_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 4096u);
  RETURNS(0, cuMemPoolTrimTo(pool, 0));
  CHECK_EQ(attribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0u);
}

TEST(a_device_allocates_from_its_current_pool) {
  use_device();
  const CUmemoryPool pool = create_pool();
  CUmemoryPool standard = nullptr, current = nullptr;
  RETURNS(0, cuDeviceGetDefaultMemPool(&standard, 0));
  RETURNS(0, cuDeviceGetMemPool(&current, 0));
  CHECK_EQ(current, standard);
  RETURNS(0, cuDeviceSetMemPool(0, pool));
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAllocAsync(&memory, 512, nullptr));
  CHECK_EQ(attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 512u);
  // The same by location.
  CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  RETURNS(0, cuMemGetMemPool(&current, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  CHECK_EQ(current, pool);
  RETURNS(0, cuMemGetDefaultMemPool(&current, &here, CU_MEM_ALLOCATION_TYPE_PINNED));
  CHECK_EQ(current, standard);
  RETURNS(0, cuMemSetMemPool(&here, CU_MEM_ALLOCATION_TYPE_PINNED, standard));
  RETURNS(0, cuDeviceGetMemPool(&current, 0));
  CHECK_EQ(current, standard);
  RETURNS(0, cuDeviceSetMemPool(0, pool));
  // A destroyed pool is no longer current, but what was taken from it stays.
  RETURNS(0, cuMemPoolDestroy(pool));
  RETURNS(0, cuDeviceGetMemPool(&current, 0));
  CHECK_EQ(current, standard);
  RETURNS(0, cuMemsetD8_v2(memory, 1, 512));
  std::size_t free_before = 0, free_after = 0;
  RETURNS(0, cuMemGetInfo_v2(&free_before, nullptr));
  RETURNS(0, cuMemFree_v2(memory));
  RETURNS(0, cuMemGetInfo_v2(&free_after, nullptr));
  CHECK_EQ(free_after, free_before + 512);
  // Nothing but its end is left of the handle.
  std::uint64_t value = 0;
  RETURNS(1, cuMemPoolDestroy(pool));
  RETURNS(1, cuMemPoolDestroy(standard));
  RETURNS(1, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
  RETURNS(1, cuMemAllocFromPoolAsync(&memory, 64, pool, nullptr));
  RETURNS(1, cuDeviceSetMemPool(0, pool));
}

TEST(a_pool_has_a_greatest_size) {
  use_device();
  const CUmemoryPool pool = create_pool(64 << 10);
  CUdeviceptr first = 0, second = 0;
  RETURNS(2, cuMemAllocFromPoolAsync(&first, 65 << 10, pool, nullptr));
  RETURNS(0, cuMemAllocFromPoolAsync(&first, 48 << 10, pool, nullptr));
  RETURNS(2, cuMemAllocFromPoolAsync(&second, 32 << 10, pool, nullptr));
  RETURNS(0, cuMemFreeAsync(first, nullptr));
  // What is free in another size makes room.
  RETURNS(0, cuStreamSynchronize(nullptr));
  RETURNS(0, cuMemAllocFromPoolAsync(&second, 32 << 10, pool, nullptr));
  RETURNS(0, cuMemAllocFromPoolAsync(&first, 0, pool, nullptr));
  CHECK_EQ(first, 0u);
}

TEST(pools_that_cannot_be) {
  use_device();
  CUmemoryPool pool = nullptr;
  CUmemPoolProps asked = properties();
  RETURNS(1, cuMemPoolCreate(nullptr, &asked));
  RETURNS(1, cuMemPoolCreate(&pool, nullptr));
  asked = properties(7);
  RETURNS(101, cuMemPoolCreate(&pool, &asked));
  asked = properties();
  asked.allocType = CU_MEM_ALLOCATION_TYPE_INVALID;
  RETURNS(1, cuMemPoolCreate(&pool, &asked));
  asked.allocType = CU_MEM_ALLOCATION_TYPE_MANAGED;
  RETURNS(801, cuMemPoolCreate(&pool, &asked));
  asked = properties();
  asked.location.type = CU_MEM_LOCATION_TYPE_INVALID;
  RETURNS(1, cuMemPoolCreate(&pool, &asked));
  asked.location.type = CU_MEM_LOCATION_TYPE_HOST;
  RETURNS(801, cuMemPoolCreate(&pool, &asked));
  asked = properties();
  asked.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  RETURNS(801, cuMemPoolCreate(&pool, &asked));
  asked = properties();
  asked.reserved[3] = 1;
  RETURNS(1, cuMemPoolCreate(&pool, &asked));
  int file = 0;
  RETURNS(801, cuMemPoolExportToShareableHandle(&file, create_pool(), 1, 0));
}

TEST(a_pools_memory_can_be_shown_to_other_devices,
     {"CULEBRA_EMU_DEVICES=3", "CULEBRA_EMU_PEER=010,100,000"}) {
  use_device();
  const CUmemoryPool pool = create_pool();
  CUmemLocation own = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemLocation peer = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_READ;
  RETURNS(0, cuMemPoolGetAccess(&access, pool, &own));
  CHECK_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  RETURNS(0, cuMemPoolGetAccess(&access, pool, &peer));
  CHECK_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  CUmemAccessDesc grant = {peer, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  RETURNS(0, cuMemPoolSetAccess(pool, &grant, 1));
  RETURNS(0, cuMemPoolGetAccess(&access, pool, &peer));
  CHECK_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  grant.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
  RETURNS(0, cuMemPoolSetAccess(pool, &grant, 1));
  RETURNS(0, cuMemPoolGetAccess(&access, pool, &peer));
  CHECK_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_NONE);
  grant = {own, CU_MEM_ACCESS_FLAGS_PROT_NONE};
  RETURNS(1, cuMemPoolSetAccess(pool, &grant, 1));
  grant = {peer, CU_MEM_ACCESS_FLAGS_PROT_READ};
  RETURNS(1, cuMemPoolSetAccess(pool, &grant, 1));
  grant = {{CU_MEM_LOCATION_TYPE_DEVICE, 9}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  RETURNS(101, cuMemPoolSetAccess(pool, &grant, 1));
  // Two devices that cannot reach each other.
  grant = {{CU_MEM_LOCATION_TYPE_DEVICE, 2}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  RETURNS(217, cuMemPoolSetAccess(pool, &grant, 1));
  CUmemLocation host = {CU_MEM_LOCATION_TYPE_HOST, 0};
  RETURNS(1, cuMemPoolGetAccess(&access, pool, &host));
  // A pool of another device cannot become the current one.
  CUmemoryPool of_peer = nullptr;
  const CUmemPoolProps asked = properties(1);
  RETURNS(0, cuMemPoolCreate(&of_peer, &asked));
  RETURNS(1, cuDeviceSetMemPool(0, of_peer));
  RETURNS(0, cuDeviceSetMemPool(1, of_peer));
}

// Addresses and memory apart: reserve, create, map, set access, and back.
#include <cstring>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuMemGetAllocationGranularity, std::size_t*, const CUmemAllocationProp*,
            CUmemAllocationGranularity_flags);
DRIVER_CALL(cuMemCreate, CUmemGenericAllocationHandle*, std::size_t, const CUmemAllocationProp*,
            unsigned long long);
DRIVER_CALL(cuMemRelease, CUmemGenericAllocationHandle);
DRIVER_CALL(cuMemRetainAllocationHandle, CUmemGenericAllocationHandle*, void*);
DRIVER_CALL(cuMemGetAllocationPropertiesFromHandle, CUmemAllocationProp*,
            CUmemGenericAllocationHandle);
DRIVER_CALL(cuMemAddressReserve, CUdeviceptr*, std::size_t, std::size_t, CUdeviceptr,
            unsigned long long);
DRIVER_CALL(cuMemAddressFree, CUdeviceptr, std::size_t);
DRIVER_CALL(cuMemMap, CUdeviceptr, std::size_t, std::size_t, CUmemGenericAllocationHandle,
            unsigned long long);
DRIVER_CALL(cuMemUnmap, CUdeviceptr, std::size_t);
DRIVER_CALL(cuMemSetAccess, CUdeviceptr, std::size_t, const CUmemAccessDesc*, std::size_t);
DRIVER_CALL(cuMemGetAccess, unsigned long long*, const CUmemLocation*, CUdeviceptr);
DRIVER_CALL(cuMemExportToShareableHandle, void*, CUmemGenericAllocationHandle, int,
            unsigned long long);

namespace {

constexpr std::size_t kUnit = 2 << 20;

CUmemAllocationProp properties(int device = 0) {
  CUmemAllocationProp result = {};
  result.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  result.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
  return result;
}

CUmemGenericAllocationHandle create(std::size_t bytes) {
  CUmemGenericAllocationHandle handle = 0;
  const CUmemAllocationProp asked = properties();
  RETURNS(0, cuMemCreate(&handle, bytes, &asked, 0));
  return handle;
}

CUdeviceptr reserve(std::size_t bytes) {
  CUdeviceptr address = 0;
  RETURNS(0, cuMemAddressReserve(&address, bytes, 0, 0, 0));
  CHECK(address != 0);
  return address;
}

CUresult set_access(CUdeviceptr address, std::size_t bytes, CUmemAccess_flags flags) {
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, flags};
  return cuMemSetAccess(address, bytes, &access, 1);
}

}  // namespace

TEST(mapped_memory_is_memory) {
  use_device();
  std::size_t unit = 0, free_before = 0, free_after = 0;
  const CUmemAllocationProp asked = properties();
  RETURNS(0, cuMemGetAllocationGranularity(&unit, &asked, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CHECK_EQ(unit, kUnit);
  RETURNS(0, cuMemGetInfo_v2(&free_before, nullptr));
  const CUdeviceptr address = reserve(4 * kUnit);
  RETURNS(0, cuMemGetInfo_v2(&free_after, nullptr));
  CHECK_EQ(free_after, free_before);
  // Two pieces side by side are one range.
  const auto first = create(kUnit), second = create(2 * kUnit);
  RETURNS(0, cuMemGetInfo_v2(&free_after, nullptr));
  CHECK_EQ(free_after, free_before - 3 * kUnit);
  RETURNS(0, cuMemMap(address, kUnit, 0, first, 0));
  RETURNS(0, cuMemMap(address + kUnit, 2 * kUnit, 0, second, 0));
  RETURNS(0, set_access(address, 3 * kUnit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  RETURNS(0, cuMemsetD32_v2(address, 5, 3 * kUnit / 4));
  RETURNS(0, launch(function(load_test_module(), "store"), 1, 1, 0, nullptr, address + kUnit, 9));
  int values[2] = {};
  RETURNS(0, cuMemcpyDtoH_v2(values, address + kUnit - 4, 8));
  CHECK_EQ(values[0], 5);
  CHECK_EQ(values[1], 9);
  RETURNS(1, cuMemsetD8_v2(address, 0, 3 * kUnit + 1));
  // The memory lives on in its mapping, and in another one of the same.
  RETURNS(0, cuMemRelease(first));
  const CUdeviceptr alias = reserve(2 * kUnit);
  RETURNS(0, cuMemMap(alias, 2 * kUnit, 0, second, 0));
  RETURNS(0, set_access(alias, 2 * kUnit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  RETURNS(0, cuMemcpyDtoH_v2(values, alias, 4));
  CHECK_EQ(values[0], 9);
  RETURNS(0, cuMemRelease(second));
  RETURNS(0, cuMemUnmap(alias, 2 * kUnit));
  RETURNS(0, cuMemGetInfo_v2(&free_after, nullptr));
  CHECK_EQ(free_after, free_before - 3 * kUnit);
  RETURNS(0, cuMemUnmap(address, 3 * kUnit));
  RETURNS(0, cuMemGetInfo_v2(&free_after, nullptr));
  CHECK_EQ(free_after, free_before);
  RETURNS(1, cuMemcpyDtoH_v2(values, address, 4));
  RETURNS(0, cuMemAddressFree(alias, 2 * kUnit));
  RETURNS(0, cuMemAddressFree(address, 4 * kUnit));
}

TEST(mapped_memory_must_be_made_accessible) {
  use_device();
  const CUdeviceptr address = reserve(kUnit);
  const auto memory = create(kUnit);
  RETURNS(0, cuMemMap(address, kUnit, 0, memory, 0));
  int value = 0;
  unsigned long long access = 9;
  const CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  RETURNS(0, cuMemGetAccess(&access, &here, address));
  CHECK_EQ(access, 0u);
  RETURNS(1, cuMemcpyDtoH_v2(&value, address, 4));
  RETURNS(0, set_access(address, kUnit, CU_MEM_ACCESS_FLAGS_PROT_READ));
  RETURNS(0, cuMemGetAccess(&access, &here, address));
  CHECK_EQ(access, 1u);
  RETURNS(0, cuMemcpyDtoH_v2(&value, address, 4));
  // A kernel that writes to what it may only read.
  RETURNS(0, launch(function(load_test_module(), "store"), 1, 1, 0, nullptr, address, 9));
  RETURNS(700, cuCtxSynchronize());
}

TEST(a_kernel_cannot_touch_reserved_addresses) {
  use_device();
  const CUdeviceptr address = reserve(kUnit);
  RETURNS(1, cuMemsetD8_v2(address, 0, 1));
  RETURNS(0, launch(function(load_test_module(), "store"), 1, 1, 0, nullptr, address, 9));
  RETURNS(700, cuCtxSynchronize());
}

TEST(what_cannot_be_created_or_mapped) {
  use_device();
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp asked = properties();
  std::size_t unit = 0;
  RETURNS(1, cuMemCreate(&handle, kUnit + 1, &asked, 0));
  RETURNS(1, cuMemCreate(&handle, 0, &asked, 0));
  RETURNS(1, cuMemCreate(&handle, kUnit, &asked, 1));
  RETURNS(1, cuMemCreate(nullptr, kUnit, &asked, 0));
  RETURNS(1, cuMemCreate(&handle, kUnit, nullptr, 0));
  RETURNS(2, cuMemCreate(&handle, std::size_t{1} << 50, &asked, 0));
  asked.location.id = 1;
  RETURNS(101, cuMemCreate(&handle, kUnit, &asked, 0));
  RETURNS(101, cuMemGetAllocationGranularity(&unit, &asked, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  asked = properties();
  asked.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  RETURNS(1, cuMemCreate(&handle, kUnit, &asked, 0));
  asked = properties();
  asked.location.type = CU_MEM_LOCATION_TYPE_HOST;
  RETURNS(801, cuMemCreate(&handle, kUnit, &asked, 0));
  asked = properties();
  asked.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  RETURNS(801, cuMemCreate(&handle, kUnit, &asked, 0));

  CUdeviceptr address = 0;
  RETURNS(1, cuMemAddressReserve(&address, 0, 0, 0, 0));
  RETURNS(1, cuMemAddressReserve(&address, 100, 0, 0, 0));
  RETURNS(1, cuMemAddressReserve(&address, kUnit, 3 << 20, 0, 0));
  RETURNS(2, cuMemAddressReserve(&address, std::size_t{1} << 60, 0, 0, 0));
  RETURNS(0, cuMemAddressReserve(&address, kUnit, 64 << 20, 0, 0));
  CHECK_EQ(address % (64 << 20), 0u);

  address = reserve(2 * kUnit);
  handle = create(kUnit);
  RETURNS(1, cuMemMap(address, 2 * kUnit, 0, handle, 0));
  RETURNS(1, cuMemMap(address, kUnit, kUnit, handle, 0));
  RETURNS(1, cuMemMap(address + 4096, kUnit, 0, handle, 0));
  RETURNS(1, cuMemMap(address + 2 * kUnit, kUnit, 0, handle, 0));
  RETURNS(1, cuMemMap(address, kUnit, 0, handle + 1000, 0));
  RETURNS(0, cuMemMap(address, kUnit, 0, handle, 0));
  RETURNS(1, cuMemMap(address, kUnit, 0, handle, 0));
  RETURNS(1, set_access(address, 2 * kUnit, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  RETURNS(1, set_access(address, 4096, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  RETURNS(1, set_access(address, kUnit, static_cast<CUmemAccess_flags>(2)));
  RETURNS(1, cuMemUnmap(address, 2 * kUnit));
  RETURNS(1, cuMemUnmap(address, 4096));
  // Not while something is mapped, and not in parts.
  RETURNS(1, cuMemAddressFree(address, 2 * kUnit));
  RETURNS(0, cuMemUnmap(address, kUnit));
  RETURNS(1, cuMemAddressFree(address, kUnit));
  RETURNS(0, cuMemAddressFree(address, 2 * kUnit));
  RETURNS(1, cuMemAddressFree(address, 2 * kUnit));
  RETURNS(1, cuMemFree_v2(address));
  RETURNS(801, cuMemExportToShareableHandle(&unit, handle, 1, 0));
  RETURNS(0, cuMemRelease(handle));
  RETURNS(1, cuMemRelease(handle));
}

TEST(a_mapping_knows_its_memory) {
  use_device();
  const CUdeviceptr address = reserve(2 * kUnit);
  const auto handle = create(2 * kUnit);
  RETURNS(0, cuMemMap(address, 2 * kUnit, 0, handle, 0));
  CUmemGenericAllocationHandle again = 0;
  const auto inside = reinterpret_cast<void*>(address + kUnit + 5);
  RETURNS(0, cuMemRetainAllocationHandle(&again, inside));
  CHECK_EQ(again, handle);
  RETURNS(0, cuMemRelease(handle));
  CUmemAllocationProp known = {};
  RETURNS(0, cuMemGetAllocationPropertiesFromHandle(&known, again));
  CHECK_EQ(known.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
  RETURNS(0, cuMemRelease(again));
  RETURNS(1, cuMemGetAllocationPropertiesFromHandle(&known, again));
  // It comes back by its address.
  RETURNS(0, cuMemRetainAllocationHandle(&again, inside));
  CHECK_EQ(again, handle);
  std::size_t bytes = 0;
  CUdeviceptr start = 0;
  CUcontext context = nullptr;
  int ordinal = 9;
  RETURNS(0, cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, address + 5));
  CHECK_EQ(bytes, 2 * kUnit);
  RETURNS(0, cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, address + 5));
  CHECK_EQ(start, address);
  // It belongs to a device, and to no context.
  RETURNS(0, cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  CHECK(context == nullptr);
  RETURNS(0, cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
  CHECK_EQ(ordinal, 0);
  RETURNS(1, cuMemRetainAllocationHandle(&again, &known));
}

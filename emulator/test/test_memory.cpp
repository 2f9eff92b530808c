// Memory: what the driver accepts, and with which code it refuses.
#include <cstring>

#include "support.h"

using namespace culebra_test;

TEST(allocation_rules) {
  use_device();
  CUdeviceptr a = 0, b = 0;
  RETURNS(1, cuMemAlloc_v2(&a, 0));
  RETURNS(2, cuMemAlloc_v2(&a, std::size_t{1} << 60));
  RETURNS(2, cuMemAlloc_v2(&a, ~std::size_t{0}));
  // Running out of memory is no lasting failure.
  RETURNS(0, cuMemAlloc_v2(&a, 64));
  CHECK_EQ(a % 256, 0u);
  RETURNS(0, cuMemFree_v2(0));
  RETURNS(1, cuMemFree_v2(a + 16));
  RETURNS(0, cuMemFree_v2(a));
  RETURNS(1, cuMemFree_v2(a));

  RETURNS(0, cuMemAllocAsync(&b, 0, nullptr));
  CHECK_EQ(b, 0u);
  // The driver tolerates a mix of the two kinds; each only once.
  RETURNS(0, cuMemAllocAsync(&b, 64, nullptr));
  RETURNS(0, cuMemFree_v2(b));
  RETURNS(1, cuMemFree_v2(b));
  RETURNS(0, cuMemAlloc_v2(&a, 64));
  RETURNS(0, cuMemFreeAsync(a, nullptr));
  RETURNS(1, cuMemFreeAsync(a, nullptr));
  RETURNS(0, cuMemAllocAsync(&b, 64, nullptr));
  RETURNS(0, cuMemFreeAsync(b, nullptr));
  RETURNS(1, cuMemFreeAsync(b, nullptr));
  RETURNS(0, cuMemFreeAsync(0, nullptr));
}

TEST(budget, {"CULEBRA_EMU_MEMORY=1000000"}) {
  use_device();
  CUdeviceptr a = 0, b = 0;
  std::size_t free = 0, total = 0;
  RETURNS(0, cuMemAlloc_v2(&a, 600'000));
  RETURNS(2, cuMemAlloc_v2(&b, 600'000));
  RETURNS(2, cuMemAllocAsync(&b, 400'001, nullptr));
  RETURNS(0, cuMemGetInfo_v2(&free, &total));
  CHECK_EQ(free, 400'000u);
  CHECK_EQ(total, 1'000'000u);
  RETURNS(0, cuMemFree_v2(a));
  RETURNS(0, cuMemAlloc_v2(&b, 600'000));
}

TEST(out_of_memory_at_the_third, {"CULEBRA_EMU_FAULT=oom:3"}) {
  use_device();
  CUdeviceptr a = 0;
  RETURNS(0, cuMemAlloc_v2(&a, 64));
  RETURNS(0, cuMemAllocAsync(&a, 64, nullptr));
  RETURNS(2, cuMemAlloc_v2(&a, 64));
  RETURNS(0, cuMemAlloc_v2(&a, 64));
}

TEST(copies_are_checked_per_allocation) {
  use_device();
  CUdeviceptr a = 0, b = 0;
  RETURNS(0, cuMemAlloc_v2(&a, 4096));
  RETURNS(0, cuMemAlloc_v2(&b, 8192));
  std::vector<char> host(8192, 1);
  RETURNS(0, cuMemcpyDtoD_v2(a, b, 4096));
  RETURNS(1, cuMemcpyDtoD_v2(a, b, 4097));
  RETURNS(1, cuMemcpyDtoD_v2(a, b, std::size_t{4} << 30));
  RETURNS(0, cuMemcpyDtoD_v2(b + 16, b, 4096));
  RETURNS(1, cuMemcpyHtoD_v2(a + 1, host.data(), 4096));
  RETURNS(1, cuMemcpyHtoD_v2(0, host.data(), 16));
  RETURNS(1, cuMemcpyDtoH_v2(host.data(), 8, 16));
  RETURNS(1, cuMemcpyDtoH_v2(host.data(), a + 4096, 1));
  RETURNS(1, cuMemcpyHtoD_v2(reinterpret_cast<CUdeviceptr>(host.data()), host.data() + 64, 16));
  RETURNS(0, cuMemcpyDtoD_v2(a, b, 0));
  RETURNS(0, cuMemFree_v2(a));
  RETURNS(1, cuMemcpyDtoH_v2(host.data(), a, 16));
}

TEST(fills_are_checked) {
  use_device();
  CUdeviceptr a = 0;
  RETURNS(0, cuMemAlloc_v2(&a, 4096));
  RETURNS(0, cuMemsetD8_v2(a, 0xAB, 4096));
  RETURNS(1, cuMemsetD8_v2(a, 0, 4097));
  RETURNS(1, cuMemsetD8_v2(0, 0, 1));
  RETURNS(1, cuMemsetD16_v2(a + 1, 0, 1));
  RETURNS(1, cuMemsetD32_v2(a + 2, 0, 1));
  RETURNS(1, cuMemsetD32_v2(a, 0, std::size_t{1} << 62));
  RETURNS(0, cuMemsetD8_v2(a, 0, 0));
  RETURNS(0, cuMemsetD16_v2(a + 2, 0x1234, 1));
  RETURNS(0, cuMemsetD32_v2(a + 4, 0x89ABCDEF, 1));
  unsigned char bytes[12];
  RETURNS(0, cuMemcpyDtoH_v2(bytes, a, sizeof bytes));
  const unsigned char expected[12] = {0xAB, 0xAB, 0x34, 0x12, 0xEF, 0xCD,
                                      0xAB, 0x89, 0xAB, 0xAB, 0xAB, 0xAB};
  CHECK(std::memcmp(bytes, expected, sizeof bytes) == 0);
}

TEST(more_than_four_gibibytes) {
  use_device();
  constexpr std::size_t kBytes = (std::size_t{4} << 30) + 64;
  CUdeviceptr a = 0;
  RETURNS(0, cuMemAlloc_v2(&a, kBytes));
  RETURNS(0, cuMemsetD8_v2(a + kBytes - 1, 0x5A, 1));
  unsigned char last = 0;
  RETURNS(0, cuMemcpyDtoH_v2(&last, a + kBytes - 1, 1));
  CHECK_EQ(last, 0x5A);
}

TEST(pool_gives_memory_back_when_synchronized) {
  use_device();
  CUmemoryPool pool = nullptr;
  CUstream stream = nullptr;
  RETURNS(0, cuDeviceGetDefaultMemPool(&pool, 0));
  RETURNS(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const auto expect = [&](std::uint64_t reserved, std::uint64_t used) {
    std::uint64_t value = 0;
    RETURNS(0, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value));
    CHECK_EQ(value, reserved);
    RETURNS(0, cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    CHECK_EQ(value, used);
  };
  constexpr std::uint64_t kBlock = 64 << 20;
  CUdeviceptr blocks[4];
  for (CUdeviceptr& block : blocks) RETURNS(0, cuMemAllocAsync(&block, kBlock, stream));
  expect(4 * kBlock, 4 * kBlock);
  for (const CUdeviceptr block : blocks) RETURNS(0, cuMemFreeAsync(block, stream));
  expect(4 * kBlock, 0);
  RETURNS(0, cuStreamSynchronize(stream));
  expect(0, 0);
  std::uint64_t threshold = ~std::uint64_t{0};
  RETURNS(0, cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  for (CUdeviceptr& block : blocks) RETURNS(0, cuMemAllocAsync(&block, kBlock, stream));
  for (const CUdeviceptr block : blocks) RETURNS(0, cuMemFreeAsync(block, stream));
  RETURNS(0, cuStreamSynchronize(stream));
  expect(4 * kBlock, 0);
  RETURNS(0, cuMemPoolTrimTo(pool, kBlock));
  expect(kBlock, 0);
}

TEST(pinned_memory) {
  use_device();
  void* host = nullptr;
  CUdeviceptr device = 0, start = 0;
  std::size_t bytes = 0;
  unsigned type = 0;
  RETURNS(1, cuMemHostAlloc(&host, 0, 0));
  RETURNS(0, cuMemHostAlloc(&host, 1000, 0));
  RETURNS(0, cuMemHostGetDevicePointer_v2(&device, host, 0));
  RETURNS(0, cuMemsetD8_v2(device, 9, 1000));
  CHECK_EQ(static_cast<int>(static_cast<char*>(host)[999]), 9);
  RETURNS(0, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
  CHECK_EQ(type, unsigned{CU_MEMORYTYPE_HOST});
  RETURNS(0, cuMemGetAddressRange_v2(&start, &bytes, device + 10));
  CHECK_EQ(start, device);
  CHECK_EQ(bytes, 1000u);
  RETURNS(0, cuMemFreeHost(host));
  RETURNS(1, cuMemFreeHost(host));
}

TEST(registered_memory) {
  use_device();
  std::vector<char> host(10'000);
  char* middle = host.data() + 1001;
  CUdeviceptr device = 0;
  RETURNS(1, cuMemHostRegister_v2(middle, 0, 0));
  RETURNS(1, cuMemHostRegister_v2(reinterpret_cast<void*>(0x10000), 4096, 0));
  // An end that wraps to a mapped address.
  RETURNS(1, cuMemHostRegister_v2(middle, SIZE_MAX, 0));
  RETURNS(713, cuMemHostUnregister(middle));
  RETURNS(0, cuMemHostRegister_v2(middle, 5000, 0));
  RETURNS(712, cuMemHostRegister_v2(middle, 5000, 0));
  RETURNS(712, cuMemHostRegister_v2(middle + 4000, 5000, 0));
  RETURNS(0, cuMemHostGetDevicePointer_v2(&device, middle + 10, 0));
  CHECK_EQ(device, reinterpret_cast<CUdeviceptr>(middle + 10));
  RETURNS(0, cuMemHostUnregister(middle));
  RETURNS(713, cuMemHostUnregister(middle));
}

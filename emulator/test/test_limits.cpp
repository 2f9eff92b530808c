// What the operating system gives a process only so often: mappings, address space, threads.
#include <sys/mman.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuMemAllocManaged, CUdeviceptr*, std::size_t, unsigned);

namespace {

std::size_t mapping_count() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) ++count;
  return count;
}

std::vector<CUdeviceptr> allocate(std::size_t count, std::size_t bytes) {
  std::vector<CUdeviceptr> all(count);
  std::size_t failed = 0;
  for (CUdeviceptr& address : all) failed += cuMemAlloc_v2(&address, bytes) != 0;
  CHECK_EQ(failed, 0u);
  return all;
}

// More than have guard pages of their own: what comes now lies in slabs.
void use_up_guard_pages() { allocate(9000, 256); }

// Nothing more can be mapped from now on, and so no thread begun.
void forbid_mappings() {
  const rlimit limit = {4096, 4096};
  CHECK_EQ(setrlimit(RLIMIT_AS, &limit), 0);
}

// Of the process's mappings none is left from now on.
void use_up_mappings() {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kMost = 1 << 20;
  void* const memory =
      mmap(nullptr, kMost * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(memory != MAP_FAILED);
  // Neighbours of different protection are mappings of their own.
  std::size_t page = 1;
  while (page < kMost && mprotect(static_cast<char*>(memory) + page * kPage, kPage, PROT_READ) == 0)
    page += 2;
  if (page >= kMost) skip("there is no limit to the mappings of a process here");
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SKIP_IF_SANITIZED skip("a sanitizer needs to map memory itself")
#else
#define SKIP_IF_SANITIZED static_cast<void>(0)
#endif

// AddressSanitizer sees the access itself, and ends the process.
#if defined(__SANITIZE_ADDRESS__)
#define ACCESS_IS_SEEN(text) \
  {}, "the access above is one of kernel store, block (0,0,0), thread (0,0,0)", 0, 1
#else
#define ACCESS_IS_SEEN(text) {}, "kernel store (or one that ran at the same time) wrote " text
#endif

CUresult store(CUdeviceptr address) {
  RETURNS(0, launch(function(load_test_module(), "store"), 1, 1, 0, nullptr, address, 1));
  return cuCtxSynchronize();
}

}  // namespace

TEST(two_hundred_thousand_small_allocations) {
  constexpr std::size_t kCount = 200'000;
  use_device();
  const std::vector<CUdeviceptr> all = allocate(kCount, 256);
  CHECK(mapping_count() < 40'000);
  // They are memory, each its own.
  for (std::size_t i = 0; i < kCount; i += 1000) {
    const auto value = static_cast<unsigned>(i);
    RETURNS(0, cuMemsetD32_v2(all[i], value, 64));
  }
  for (std::size_t i = 0; i < kCount; i += 1000) {
    unsigned read[64] = {};
    RETURNS(0, cuMemcpyDtoH_v2(read, all[i], sizeof read));
    CHECK_EQ(read[0], i);
    CHECK_EQ(read[63], i);
  }
  // All else goes on working, kernels, streams and pinned memory.
  CUstream stream = nullptr;
  void* host = nullptr;
  RETURNS(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  RETURNS(0, cuMemHostAlloc(&host, 4096, 0));
  RETURNS(0,
          launch(function(load_test_module(), "fill"), 1, 64, 0, stream, all[kCount - 1], 7u, 64u));
  RETURNS(0, cuStreamSynchronize(stream));
  unsigned last = 0;
  RETURNS(0, cuMemcpyDtoH_v2(&last, all[kCount - 1] + 252, 4));
  CHECK_EQ(last, 7u);
  std::size_t failed = 0;
  for (const CUdeviceptr address : all) failed += cuMemFree_v2(address) != 0;
  CHECK_EQ(failed, 0u);
  RETURNS(1, cuMemFree_v2(all[kCount - 1]));
  CHECK(mapping_count() < 5000);
}

TEST(many_stream_ordered_allocations) {
  constexpr std::size_t kCount = 100'000;
  use_device();
  for (int round = 0; round < 2; ++round) {
    std::vector<CUdeviceptr> all(kCount);
    std::size_t failed = 0;
    for (std::size_t i = 0; i < kCount; ++i) {
      failed += cuMemAllocAsync(&all[i], 256 + i % 7 * 256, nullptr) != 0;
    }
    for (const CUdeviceptr address : all) failed += cuMemFreeAsync(address, nullptr) != 0;
    CHECK_EQ(failed, 0u);
  }
  RETURNS(0, cuCtxSynchronize());
  CHECK(mapping_count() < 5000);
}

TEST(many_larger_allocations) {
  use_device();
  const std::vector<CUdeviceptr> all = allocate(30'000, 100'000);
  CHECK(mapping_count() < 40'000);
  // Every other one freed is the worst for the mappings.
  std::size_t failed = 0;
  for (std::size_t i = 0; i < all.size(); i += 2) failed += cuMemFree_v2(all[i]) != 0;
  CHECK_EQ(failed, 0u);
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, store(all[29'998]));
}

// As many executors as there are kernels at a time, or cores: their stacks' guard pages are limited
// together.
TEST(stacks_of_many_kernels_at_a_time) {
  use_device();
  CUdeviceptr flag = 0;
  RETURNS(0, cuMemAlloc_v2(&flag, 4));
  RETURNS(0, cuMemsetD32_v2(flag, 0, 1));
  const CUfunction wait = function(load_test_module(), "wait_for");
  std::vector<CUstream> streams(24);
  for (CUstream& stream : streams) {
    RETURNS(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    RETURNS(0, launch(wait, 1, 1024, 0, stream, flag));
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  CHECK(mapping_count() < 40'000);
  CUstream last = nullptr;
  RETURNS(0, cuStreamCreate(&last, CU_STREAM_NON_BLOCKING));
  RETURNS(0, cuMemsetD32Async(flag, 1, 1, last));
  RETURNS(0, cuCtxSynchronize());
}

TEST(store_just_beyond_an_allocation_in_a_slab,
     ACCESS_IS_SEEN("outside of the allocation of 1000 bytes at 0x")) {
  use_device();
  use_up_guard_pages();
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, store(allocate(1, 1000)[0] + 1000));
}

TEST(store_just_before_an_allocation_in_a_slab,
     ACCESS_IS_SEEN("outside of the allocation of 1000 bytes at 0x")) {
  use_device();
  use_up_guard_pages();
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, store(allocate(2, 1000)[1] - 4));
}

TEST(store_to_freed_memory_in_a_slab,
     ACCESS_IS_SEEN("to freed memory, at byte 8 of the former allocation of 64 bytes at 0x")) {
  use_device();
  use_up_guard_pages();
  const CUdeviceptr freed = allocate(2, 64)[0];
  RETURNS(0, cuMemFree_v2(freed));
  RETURNS(1, cuMemFree_v2(freed));
  RETURNS(1, cuMemsetD8_v2(freed, 0, 1));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, store(freed + 8));
}

// Once nothing of it is in use, a slab's pages are no more.
TEST(store_to_a_freed_slab, {}, "access to illegal address 0x") {
  use_device();
  use_up_guard_pages();
  const std::vector<CUdeviceptr> all = allocate(10'000, 256);
  for (const CUdeviceptr address : all) cuMemFree_v2(address);
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, store(all[5000]));
}

TEST(no_memory_to_map) {
  SKIP_IF_SANITIZED;
  use_device();
  CUdeviceptr before = 0, address = 0;
  void* host = nullptr;
  RETURNS(0, cuMemAlloc_v2(&before, 1 << 20));
  const CUfunction fill = function(load_test_module(), "fill");
  RETURNS(0, launch(fill, 1, 64, 0, nullptr, before, 7u, 64u));
  RETURNS(0, cuCtxSynchronize());
  forbid_mappings();
  RETURNS(2, cuMemAlloc_v2(&address, 1 << 20));
  RETURNS(2, cuMemAllocAsync(&address, 1 << 20, nullptr));
  RETURNS(2, cuMemAllocManaged(&address, 1 << 20, 1));
  RETURNS(2, cuMemHostAlloc(&host, 1 << 20, 0));
  // What is there goes on working.
  RETURNS(0, launch(fill, 1, 64, 0, nullptr, before, 8u, 64u));
  RETURNS(0, cuCtxSynchronize());
  RETURNS(0, cuMemFree_v2(before));
}

// The stream's thread cannot begin: that is said, and nobody waits for what was never taken.
TEST(no_thread_for_a_stream) {
  SKIP_IF_SANITIZED;
  use_device();
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  RETURNS(0, cuMemAlloc_v2(&memory, 4096));
  RETURNS(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const CUfunction fill = function(load_test_module(), "fill");
  forbid_mappings();
  RETURNS(CUDA_ERROR_OPERATING_SYSTEM, launch(fill, 1, 64, 0, stream, memory, 7u, 64u));
  RETURNS(CUDA_ERROR_OPERATING_SYSTEM, cuMemsetD32Async(memory, 0, 4, stream));
  RETURNS(CUDA_ERROR_OPERATING_SYSTEM, cuMemsetD32_v2(memory, 0, 4));
  RETURNS(0, cuStreamQuery(stream));
  RETURNS(0, cuStreamSynchronize(stream));
  RETURNS(0, cuCtxSynchronize());
}

// The stream's thread is there, but neither the blocks' memory nor a second thread.
TEST(no_memory_for_blocks, {}, "kernel fill: out of memory for its threads and blocks") {
  SKIP_IF_SANITIZED;
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 4096));
  RETURNS(0, cuMemsetD32_v2(memory, 0, 4));
  const CUfunction fill = function(load_test_module(), "fill");
  forbid_mappings();
  RETURNS(0, launch(fill, 16, 64, 0, nullptr, memory, 7u, 64u));
  RETURNS(2, cuCtxSynchronize());
  RETURNS(2, cuMemFree_v2(memory));
}

// What is missing is found inside of the kernel.
TEST(no_mapping_for_shared_arrays, {},
     "kernel block_sums, block (0,0,0): out of memory for its threads and blocks") {
  SKIP_IF_SANITIZED;
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 1024 * sizeof(float)));
  RETURNS(0, cuMemsetD32_v2(memory, 0, 1024));
  const CUmodule module = load_test_module();
  const CUfunction sums = function(module, "block_sums");
  RETURNS(0, launch(function(module, "nothing"), 1, 32, 0, nullptr));
  RETURNS(0, cuCtxSynchronize());
  use_up_mappings();
  RETURNS(0, launch(sums, 1, 32, 0, nullptr, memory, memory, 1));
  RETURNS(2, cuCtxSynchronize());
}

TEST(no_mapping_for_a_cluster, {},
     "kernel cluster_split: out of memory for its threads and blocks") {
  SKIP_IF_SANITIZED;
  use_device();
  CUdeviceptr memory = 0;
  RETURNS(0, cuMemAlloc_v2(&memory, 4 * 1024 * sizeof(float)));
  RETURNS(0, cuMemsetD32_v2(memory, 0, 4 * 1024));
  const CUfunction split = function(load_image("cluster_kernels"), "cluster_split");
  // As many blocks and threads, but none of them waits.
  RETURNS(0, launch_clusters(function(load_test_module(), "nothing"), 4, 1024, 0, 4));
  RETURNS(0, cuCtxSynchronize());
  use_up_mappings();
  RETURNS(0, launch_clusters(split, 4, 1024, 0, 4, memory));
  RETURNS(2, cuCtxSynchronize());
}

TEST(no_mapping_for_anything) {
  SKIP_IF_SANITIZED;
  use_device();
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  RETURNS(0, cuMemAlloc_v2(&memory, 4096));
  RETURNS(0, cuMemsetD32_v2(memory, 0, 4));
  RETURNS(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  const char* const image = test_image().data();
  use_up_mappings();
  // The last ones.
  CUdeviceptr more = 0;
  while (cuMemAlloc_v2(&more, 1 << 20) == 0) {
  }
  RETURNS(2, cuMemAlloc_v2(&more, 1 << 20));
  RETURNS(CUDA_ERROR_OPERATING_SYSTEM, cuMemsetD32Async(memory, 0, 4, stream));
  CHECK(cuModuleLoadData(&module, image) != 0);
  RETURNS(0, cuStreamSynchronize(stream));
  RETURNS(0, cuMemsetD32_v2(memory, 0, 4));
  RETURNS(0, cuMemFree_v2(memory));
}

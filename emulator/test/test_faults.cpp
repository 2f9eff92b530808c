// What a wrong kernel does: the launch succeeds, the next synchronization tells, and the device
// stays failed.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include "support.h"

using namespace culebra_test;

namespace {

// Runs a kernel that fails, and checks what the rest of the driver says from then on.
template <class... Args>
void expect_failure(CUresult code, const char* kernel, unsigned threads, Args... args) {
  const CUcontext context = use_device();
  CUstream stream = nullptr;
  CUevent event = nullptr;
  CUdeviceptr memory = 0;
  RETURNS(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  RETURNS(0, cuEventCreate(&event, 0));
  RETURNS(0, cuMemAlloc_v2(&memory, 256));
  const CUmodule module = load_test_module();
  RETURNS(0, launch(function(module, kernel), 1, threads, 0, stream, args...));
  RETURNS(code, cuStreamSynchronize(stream));

  RETURNS(code, cuStreamQuery(stream));
  RETURNS(code, cuCtxSynchronize());
  RETURNS(code, cuMemFree_v2(memory));
  RETURNS(code, cuMemFree_v2(0));
  RETURNS(code, cuMemAlloc_v2(&memory, 256));
  RETURNS(code, cuEventQuery(event));
  RETURNS(code, cuStreamDestroy_v2(stream));
  CUmodule again = nullptr;
  RETURNS(code, cuModuleLoadData(&again, test_image().data()));
  void* host = nullptr;
  RETURNS(code, cuMemHostAlloc(&host, 64, 0));

  int count = 0;
  CUcontext current = nullptr;
  RETURNS(0, cuDeviceGetCount(&count));
  RETURNS(0, cuCtxGetCurrent(&current));
  CHECK_EQ(current, context);
  // Nor does a new context help.
  RETURNS(0, cuDevicePrimaryCtxReset_v2(0));
  RETURNS(code, cuDevicePrimaryCtxRetain(&current, 0));
}

}  // namespace

TEST(store_to_null, {}, "kernel store, block (0,0,0), thread (0,0,0): access to illegal address") {
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 1, CUdeviceptr{0}, 1);
}

TEST(store_to_an_impossible_address, {}, "impossible or misaligned address") {
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 1, CUdeviceptr{0xDEADBEEFDEADBEE0}, 1);
}

TEST(store_to_a_misaligned_address, {}, "misaligned address") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  expect_failure(CUDA_ERROR_MISALIGNED_ADDRESS, "store", 1, memory + 1, 1);
}

TEST(misaligned_vector_load, {}, "misaligned address of a vector access") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  expect_failure(CUDA_ERROR_MISALIGNED_ADDRESS, "load_vector", 1, memory + 8, memory);
}

TEST(store_far_beyond_an_allocation, {}, "access to illegal address") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 1000));
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 1, memory + 1024, 1);
}

// AddressSanitizer sees the very instruction, and ends the process; without it the emulator looks
// afterwards.
#if defined(__SANITIZE_ADDRESS__)
#define WRITE_IS_SEEN \
  {}, "the access above is one of kernel store, block (0,0,0), thread (0,0,0)", 0, 1
#else
#define WRITE_IS_SEEN \
  {}, "kernel store (or one that ran at the same time) wrote outside of the allocation of 1000 bytes"
#endif

TEST(store_just_beyond_an_allocation, WRITE_IS_SEEN) {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 1000));
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 1, memory + 1000, 1);
}

TEST(store_just_before_an_allocation, WRITE_IS_SEEN) {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 1000));
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 1, memory - 4, 1);
}

TEST(store_to_freed_memory, {}, "of the former allocation of 64 bytes at 0x") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemFree_v2(memory));
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 1, memory, 1);
}

TEST(access_beyond_shared_memory, {}, "access to illegal address") {
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "beyond_shared", 1, 1024);
}

// Between the last byte and the guard page.
TEST(
    store_just_beyond_dynamic_shared_memory, {},
    "kernel beyond_shared, block (0,0,0): wrote beyond the end of its dynamic shared memory of 1000 bytes") {
  use_device();
  const CUfunction kernel = function(load_test_module(), "beyond_shared");
  RETURNS(0, launch(kernel, 1, 1, 1000, nullptr, 999));
  RETURNS(0, cuCtxSynchronize());
  RETURNS(0, launch(kernel, 1, 1, 1000, nullptr, 1000));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

TEST(store_just_before_dynamic_shared_memory, {},
     "block (0,0,0): wrote before the start of its dynamic shared memory of 1000 bytes") {
  use_device();
  const CUfunction kernel = function(load_test_module(), "beyond_shared");
  RETURNS(0, launch(kernel, 1, 1, 1000, nullptr, -1));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

// Dynamic memory whose size is a multiple of its alignment ends at the guard page.
TEST(read_just_beyond_dynamic_shared_memory, {},
     ": outside of its shared memory, right behind the end of its dynamic shared memory of 2048 "
     "bytes") {
  use_device();
  const CUfunction kernel = function(load_test_module(), "read_shared");
  RETURNS(0, launch(kernel, 1, 1, 2048, nullptr, 2047));
  RETURNS(0, cuCtxSynchronize());
  RETURNS(0, launch(kernel, 1, 1, 2048, nullptr, 2048));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

namespace {

void use_static_shared(int index) {
  use_device();
  const CUfunction kernel = function(load_test_module(), "beyond_static_shared");
  RETURNS(0, launch(kernel, 1, 1, 0, nullptr, 9));
  RETURNS(0, cuCtxSynchronize());
  RETURNS(0, launch(kernel, 1, 1, 0, nullptr, index));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

}  // namespace

TEST(
    store_just_beyond_a_shared_array, {},
    "kernel beyond_static_shared, block (0,0,0): wrote beyond the end of a shared array of 40 bytes") {
  use_static_shared(11);
}

TEST(store_between_shared_arrays, {},
     ": outside of its shared memory, 36 bytes behind the end of a shared array of 40 bytes") {
  use_static_shared(19);
}

TEST(store_before_a_shared_array, {}, "wrote before the start of a shared array of 40 bytes") {
  use_static_shared(-1);
}

TEST(stack_overflow, {}, "stack overflow: a thread has 65536 bytes") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  expect_failure(CUDA_ERROR_HARDWARE_STACK_ERROR, "overflow_stack", 1, memory);
}

// A frame that reaches over the guard page into another thread's stack.
TEST(stack_overflow_by_one_frame, {}, "stack overflow: a thread has 65536 bytes") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  expect_failure(CUDA_ERROR_HARDWARE_STACK_ERROR, "use_large_frame", 1, memory);
}

TEST(trap, {}, "__trap() was called") { expect_failure(CUDA_ERROR_LAUNCH_FAILED, "trap", 1); }

TEST(builtin_trap, {},
     "kernel builtin_trap, block (0,0,0): thread (0,0,0): __builtin_trap() was called") {
  expect_failure(CUDA_ERROR_LAUNCH_FAILED, "builtin_trap", 1);
}

// In the form in which a device writes it.
TEST(assertion, {},
     ": void assert_below(unsigned int): block: [0,0,0], thread: [7,0,0] "
     "Assertion `threadIdx.x < limit` failed.\n") {
  expect_failure(CUDA_ERROR_ASSERT, "assert_below", 32, 7u);
}

TEST(assertion_names_the_kernel, {},
     "failed with 710: kernel assert_below, block (0,0,0): thread (7,0,0): assertion "
     "`threadIdx.x < limit` failed in ") {
  expect_failure(CUDA_ERROR_ASSERT, "assert_below", 32, 7u);
}

TEST(assertions_that_hold) {
  use_device();
  RETURNS(0, launch(function(load_test_module(), "assert_below"), 2, 32, 0, nullptr, 32u));
  RETURNS(0, cuCtxSynchronize());
}

#if defined(__x86_64__)
TEST(illegal_instruction, {},
     "kernel illegal_instruction, block (0,0,0), thread (0,0,0): illegal instruction at 0x") {
  expect_failure(CUDA_ERROR_ILLEGAL_INSTRUCTION, "illegal_instruction", 1);
}
#endif

// Memory that a file once had.
TEST(access_behind_the_end_of_a_file, {},
     "kernel store, block (0,0,0), thread (0,0,0): access to 0x") {
  const int file = memfd_create("test", 0);
  CHECK_EQ(ftruncate(file, 4096), 0);
  void* const memory = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK_EQ(ftruncate(file, 0), 0);
  expect_failure(CUDA_ERROR_ILLEGAL_ADDRESS, "store", 1, reinterpret_cast<CUdeviceptr>(memory), 1);
}

TEST(integer_division_by_zero, {}, "integer division by zero") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  expect_failure(CUDA_ERROR_LAUNCH_FAILED, "divide", 1, memory, 0);
}

TEST(integer_division_that_overflows, {}, "or of the least integer by -1") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  RETURNS(0, cuMemsetD32_v2(memory, 0x80000000u, 1));
  expect_failure(CUDA_ERROR_LAUNCH_FAILED, "divide", 1, memory, -1);
}

TEST(
    divergent_barrier, {},
    "kernel divergent_barrier, block (0,0,0): divergent barrier: the threads of the block wait at different barriers; "
    "threads 0-31 (32 of them) wait at __syncthreads in test_kernels.cu:") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 64));
  expect_failure(CUDA_ERROR_LAUNCH_FAILED, "divergent_barrier", 64, memory);
}

TEST(
    deadlock, {},
    "deadlock: no thread can go on; threads 0-6,8-63 (63 of them) wait at __syncthreads in test_kernels.cu:") {
  expect_failure(CUDA_ERROR_LAUNCH_FAILED, "barrier_deadlock", 64);
}

TEST(mixed_collectives, {}, "divergent warp: lanes of one mask wait in different collectives") {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, 256));
  expect_failure(CUDA_ERROR_LAUNCH_FAILED, "mixed_collectives", 32, memory);
}

TEST(lane_outside_of_its_own_mask, {}, "thread (2,0,0) is not in the mask of its own __syncwarp") {
  expect_failure(CUDA_ERROR_LAUNCH_FAILED, "not_in_mask", 32);
}

namespace {

// Copies or fills memory that another stream frees before its turn comes.
template <class Use>
void expect_failure_of_a_late_use(Use use) {
  use_device();
  CUstream held = nullptr, other = nullptr;
  CUdeviceptr memory = 0;
  std::atomic<bool> open = false;
  RETURNS(0, cuStreamCreate(&held, CU_STREAM_NON_BLOCKING));
  RETURNS(0, cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
  RETURNS(0, cuMemAllocAsync(&memory, 4096, other));
  RETURNS(0, cuLaunchHostFunc(
                 held,
                 [](void* gate) {
                   while (!*static_cast<std::atomic<bool>*>(gate))
                     std::this_thread::sleep_for(std::chrono::milliseconds(1));
                 },
                 &open));
  RETURNS(0, use(memory, held));
  RETURNS(0, cuMemFreeAsync(memory, other));
  RETURNS(0, cuStreamSynchronize(other));
  open = true;
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuStreamSynchronize(held));
  RETURNS(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
}

}  // namespace

TEST(fill_of_memory_freed_meanwhile, {}, "cuMemsetD32Async: access to illegal address 0x") {
  expect_failure_of_a_late_use([](CUdeviceptr memory, CUstream stream) {
    return cuMemsetD32Async(memory, 7, 1024, stream);
  });
}

TEST(copy_to_memory_freed_meanwhile, {}, "cuMemcpyHtoDAsync_v2: access to illegal address 0x") {
  const std::vector<char> host(4096, 1);
  expect_failure_of_a_late_use([&](CUdeviceptr memory, CUstream stream) {
    return cuMemcpyHtoDAsync_v2(memory, host.data(), 4096, stream);
  });
}

TEST(copy_from_memory_freed_meanwhile, {}, "cuMemcpyDtoDAsync_v2: access to illegal address 0x") {
  use_device();
  CUdeviceptr to = 0;
  RETURNS(0, cuMemAlloc_v2(&to, 4096));
  expect_failure_of_a_late_use([&](CUdeviceptr memory, CUstream stream) {
    return cuMemcpyDtoDAsync_v2(to, memory, 4096, stream);
  });
}

// A fault of the process itself is none of ours.
TEST(faults_outside_of_kernels_still_end_the_process, {}, "", SIGSEGV) {
  use_device();
  RETURNS(0, launch(function(load_test_module(), "nothing"), 2, 32, 0, nullptr));
  RETURNS(0, cuCtxSynchronize());
  volatile std::uintptr_t address = 8;
  *reinterpret_cast<volatile int*>(address) = 1;
}

TEST(query_of_a_destroyed_stream, {}, "cuStreamQuery: the stream was destroyed or never existed",
     SIGABRT) {
  use_device();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 0));
  RETURNS(0, cuStreamDestroy_v2(stream));
  cuStreamQuery(stream);
}

TEST(second_destruction_of_a_stream, {}, "cuStreamDestroy_v2: the stream was destroyed", SIGABRT) {
  use_device();
  CUstream stream = nullptr;
  RETURNS(0, cuStreamCreate(&stream, 0));
  RETURNS(0, cuStreamDestroy_v2(stream));
  cuStreamDestroy_v2(stream);
}

// CULEBRA_EMU_CHECK: what the checks find without looking into kernels.
#include <csignal>

#include "support.h"

using namespace culebra_test;

#define INIT_CHECK \
  { "CULEBRA_EMU_CHECK=init" }

TEST(copy_of_memory_that_nobody_wrote, INIT_CHECK,
     "init: cuMemcpyDtoH_v2 reads memory that nobody has written, at byte 16 of the allocation of "
     "64 bytes at 0x") {
  use_device();
  CUdeviceptr memory = 0;
  char host[64] = {};
  RETURNS(0, cuMemAlloc_v2(&memory, sizeof host));
  RETURNS(0, cuMemcpyHtoD_v2(memory, host, 16));
  RETURNS(0, cuMemsetD8_v2(memory + 32, 0, 32));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory, 16));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory + 32, 32));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoH_v2(host, memory, sizeof host));
}

TEST(copy_within_the_device_takes_along_what_is_written, INIT_CHECK,
     "at byte 8 of the allocation of 64 bytes") {
  use_device();
  CUdeviceptr first = 0, second = 0;
  char host[64] = {};
  RETURNS(0, cuMemAlloc_v2(&first, sizeof host));
  RETURNS(0, cuMemAlloc_v2(&second, sizeof host));
  RETURNS(0, cuMemsetD8_v2(first, 1, 8));
  RETURNS(0, cuMemsetD8_v2(second, 1, sizeof host));
  RETURNS(0, cuMemcpyDtoH_v2(host, second, sizeof host));
  RETURNS(0, cuMemcpyDtoD_v2(second, first, sizeof host));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoH_v2(host, second, sizeof host));
}

TEST(memory_of_a_pool_is_not_written_when_it_is_allocated_again, INIT_CHECK,
     "init: cuMemcpyDtoH_v2 reads memory that nobody has written") {
  use_device();
  CUdeviceptr first = 0, second = 0;
  char host[64] = {};
  RETURNS(0, cuMemAllocAsync(&first, sizeof host, nullptr));
  RETURNS(0, cuMemsetD8_v2(first, 1, sizeof host));
  RETURNS(0, cuMemcpyDtoH_v2(host, first, sizeof host));
  RETURNS(0, cuMemFreeAsync(first, nullptr));
  RETURNS(0, cuMemAllocAsync(&second, sizeof host, nullptr));
  RETURNS(CUDA_ERROR_LAUNCH_FAILED, cuMemcpyDtoH_v2(host, second, sizeof host));
}

TEST(findings_that_end_nothing, {"CULEBRA_EMU_CHECK=init,continue"},
     "culebra-emulator: the checks found 2 errors") {
  use_device();
  CUdeviceptr memory = 0;
  char host[64] = {};
  RETURNS(0, cuMemAlloc_v2(&memory, sizeof host));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory, 8));
  RETURNS(0, cuMemcpyDtoH_v2(host, memory, 8));
}

TEST(unknown_check, {"CULEBRA_EMU_CHECK=memory,leaks"},
     "CULEBRA_EMU_CHECK=memory,leaks: expected all", SIGABRT) {
  cuInit(0);
}

// Host pointers that point to nothing: the process ends as with the real driver, but a line says of
// which call and which argument.
#include <csignal>

#include "support.h"

using namespace culebra_test;

DRIVER_CALL(cuMemcpy2D_v2, const CUDA_MEMCPY2D*);
DRIVER_CALL(cuModuleLoad, CUmodule*, const char*);

namespace {

template <class T>
T* nowhere() {
  return reinterpret_cast<T*>(std::uintptr_t{0x10});
}

CUdeviceptr allocate(std::size_t bytes) {
  CUdeviceptr memory = 0;
  use_device();
  RETURNS(0, cuMemAlloc_v2(&memory, bytes));
  return memory;
}

// Larger than what the driver takes along at once.
constexpr std::size_t kLarge = 1 << 20;

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)

TEST(small_copy_from_nowhere, {},
     "culebra-emulator: cuMemcpyHtoD_v2 #1: reads host memory at 0x10, where there is none: the "
     "source of the copy (the real driver crashes here)",
     SIGSEGV) {
  cuMemcpyHtoD_v2(allocate(64), nowhere<char>(), 64);
}

TEST(small_copy_from_an_impossible_address, {},
     "cuMemcpyHtoD_v2 #1: touches host memory at an impossible address, where there is none: the "
     "source of the copy",
     SIGSEGV) {
  cuMemcpyHtoD_v2(allocate(64), reinterpret_cast<char*>(0xDEADBEEFDEADBEE0), 64);
}

TEST(
    large_copy_from_nowhere, {},
    "culebra-emulator: cuMemcpyHtoD_v2: reads host memory at 0x10, where there is none: the source "
    "of the copy (the real driver crashes here)",
    SIGABRT) {
  cuMemcpyHtoD_v2(allocate(kLarge), nowhere<char>(), kLarge);
}

TEST(copy_to_nowhere, {},
     "cuMemcpyDtoHAsync_v2: writes to host memory at 0x10, where there is none: the destination",
     SIGABRT) {
  cuMemcpyDtoHAsync_v2(nowhere<char>(), allocate(64), 64, nullptr);
}

TEST(copy_of_rows_from_nowhere, {}, "cuMemcpy2D_v2: reads host memory at 0x10, where there is none",
     SIGABRT) {
  CUDA_MEMCPY2D copy = {};
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = allocate(4096);
  copy.dstPitch = 64;
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = nowhere<char>();
  copy.srcPitch = 64;
  copy.WidthInBytes = 16;
  copy.Height = 8;
  cuMemcpy2D_v2(&copy);
}

TEST(null_among_the_kernel_parameters, {},
     "cuLaunchKernel #1: reads host memory at (nil), where there is none: kernelParams[1], for "
     "parameter value, points there (the real driver crashes here)",
     SIGSEGV) {
  CUdeviceptr memory = allocate(64);
  void* arguments[] = {&memory, nullptr, nullptr};
  cuLaunchKernel(function(load_test_module(), "fill"), 1, 1, 1, 1, 1, 1, 0, nullptr, arguments,
                 nullptr);
}

TEST(extra_points_nowhere, {}, "cuLaunchKernel #1: reads host memory at 0x10, where there is none",
     SIGSEGV) {
  use_device();
  cuLaunchKernel(function(load_test_module(), "fill"), 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr,
                 nowhere<void*>());
}

TEST(name_points_nowhere, {},
     "cuModuleGetFunction #1: reads host memory at 0x10, where there is none: an argument points "
     "there",
     SIGSEGV) {
  use_device();
  CUfunction found = nullptr;
  cuModuleGetFunction(&found, load_test_module(), nowhere<char>());
}

// Images are looked at with care: one that is cut crashes the real driver.
TEST(image_points_nowhere) {
  use_device();
  CUmodule module = nullptr;
  RETURNS(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, nowhere<char>()));
}

TEST(
    out_parameter_points_nowhere, {},
    "cuMemAlloc_v2 #1: writes to host memory at 0x10, where there is none: an argument points there",
    SIGSEGV) {
  use_device();
  cuMemAlloc_v2(nowhere<CUdeviceptr>(), 64);
}

TEST(description_points_nowhere, {},
     "cuMemcpy2D_v2: reads host memory at 0x10, where there is none: the description of the "
     "copy",
     SIGSEGV) {
  use_device();
  cuMemcpy2D_v2(nowhere<CUDA_MEMCPY2D>());
}

// What a function of the program does is no doing of the driver's.
TEST(faults_in_host_functions_are_the_programs, {}, "", SIGSEGV) {
  use_device();
  cuLaunchHostFunc(
      nullptr, [](void* where) { *static_cast<volatile int*>(where) = 1; }, nowhere<void>());
  cuCtxSynchronize();
}

#endif

// The operating system is asked for the file, and answers.
TEST(file_name_points_nowhere) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip("a sanitizer reads the name before the operating system does");
#endif
  use_device();
  CUmodule module = nullptr;
  RETURNS(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, nowhere<char>()));
}

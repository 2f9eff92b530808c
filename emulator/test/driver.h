// The driver's functions for the tests, from the library named by CULEBRA_DRIVER.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "abi.h"

// F(symbol, parameter types)
#define CULEBRA_TEST_FUNCTIONS(F)                                                                  \
  F(cuInit, unsigned)                                                                              \
  F(cuDriverGetVersion, int*)                                                                      \
  F(cuGetProcAddress_v2, const char*, void**, int, std::uint64_t, CUdriverProcAddressQueryResult*) \
  F(cuGetErrorName, CUresult, const char**)                                                        \
  F(cuGetErrorString, CUresult, const char**)                                                      \
  F(cuDeviceGetCount, int*)                                                                        \
  F(cuDeviceGet, CUdevice*, int)                                                                   \
  F(cuDeviceGetName, char*, int, CUdevice)                                                         \
  F(cuDeviceGetUuid_v2, CUuuid*, CUdevice)                                                         \
  F(cuDeviceGetAttribute, int*, int, CUdevice)                                                     \
  F(cuDeviceTotalMem_v2, std::size_t*, CUdevice)                                                   \
  F(cuDeviceGetPCIBusId, char*, int, CUdevice)                                                     \
  F(cuDeviceGetDefaultMemPool, CUmemoryPool*, CUdevice)                                            \
  F(cuDevicePrimaryCtxRetain, CUcontext*, CUdevice)                                                \
  F(cuDevicePrimaryCtxRelease_v2, CUdevice)                                                        \
  F(cuDevicePrimaryCtxReset_v2, CUdevice)                                                          \
  F(cuDevicePrimaryCtxGetState, CUdevice, unsigned*, int*)                                         \
  F(cuCtxGetCurrent, CUcontext*)                                                                   \
  F(cuCtxSetCurrent, CUcontext)                                                                    \
  F(cuCtxPushCurrent_v2, CUcontext)                                                                \
  F(cuCtxPopCurrent_v2, CUcontext*)                                                                \
  F(cuCtxSynchronize)                                                                              \
  F(cuCtxGetDevice, CUdevice*)                                                                     \
  F(cuCtxGetId, CUcontext, unsigned long long*)                                                    \
  F(cuCtxGetStreamPriorityRange, int*, int*)                                                       \
  F(cuStreamCreate, CUstream*, unsigned)                                                           \
  F(cuStreamCreateWithPriority, CUstream*, unsigned, int)                                          \
  F(cuStreamDestroy_v2, CUstream)                                                                  \
  F(cuStreamSynchronize, CUstream)                                                                 \
  F(cuStreamQuery, CUstream)                                                                       \
  F(cuStreamWaitEvent, CUstream, CUevent, unsigned)                                                \
  F(cuStreamGetId, CUstream, unsigned long long*)                                                  \
  F(cuStreamGetCtx, CUstream, CUcontext*)                                                          \
  F(cuStreamGetPriority, CUstream, int*)                                                           \
  F(cuLaunchHostFunc, CUstream, CUhostFn, void*)                                                   \
  F(cuEventCreate, CUevent*, unsigned)                                                             \
  F(cuEventDestroy_v2, CUevent)                                                                    \
  F(cuEventRecord, CUevent, CUstream)                                                              \
  F(cuEventQuery, CUevent)                                                                         \
  F(cuEventSynchronize, CUevent)                                                                   \
  F(cuEventElapsedTime_v2, float*, CUevent, CUevent)                                               \
  F(cuMemGetInfo_v2, std::size_t*, std::size_t*)                                                   \
  F(cuMemAlloc_v2, CUdeviceptr*, std::size_t)                                                      \
  F(cuMemFree_v2, CUdeviceptr)                                                                     \
  F(cuMemAllocAsync, CUdeviceptr*, std::size_t, CUstream)                                          \
  F(cuMemFreeAsync, CUdeviceptr, CUstream)                                                         \
  F(cuMemPoolGetAttribute, CUmemoryPool, CUmemPool_attribute, void*)                               \
  F(cuMemPoolSetAttribute, CUmemoryPool, CUmemPool_attribute, void*)                               \
  F(cuMemPoolTrimTo, CUmemoryPool, std::size_t)                                                    \
  F(cuMemHostAlloc, void**, std::size_t, unsigned)                                                 \
  F(cuMemFreeHost, void*)                                                                          \
  F(cuMemHostGetDevicePointer_v2, CUdeviceptr*, void*, unsigned)                                   \
  F(cuMemHostRegister_v2, void*, std::size_t, unsigned)                                            \
  F(cuMemHostUnregister, void*)                                                                    \
  F(cuMemGetAddressRange_v2, CUdeviceptr*, std::size_t*, CUdeviceptr)                              \
  F(cuPointerGetAttribute, void*, CUpointer_attribute, CUdeviceptr)                                \
  F(cuMemcpyHtoD_v2, CUdeviceptr, const void*, std::size_t)                                        \
  F(cuMemcpyDtoH_v2, void*, CUdeviceptr, std::size_t)                                              \
  F(cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr, std::size_t)                                        \
  F(cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, std::size_t, CUstream)                         \
  F(cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, std::size_t, CUstream)                         \
  F(cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, std::size_t, CUstream)                               \
  F(cuMemsetD8_v2, CUdeviceptr, unsigned char, std::size_t)                                        \
  F(cuMemsetD16_v2, CUdeviceptr, unsigned short, std::size_t)                                      \
  F(cuMemsetD32_v2, CUdeviceptr, unsigned, std::size_t)                                            \
  F(cuMemsetD32Async, CUdeviceptr, unsigned, std::size_t, CUstream)                                \
  F(cuModuleLoadData, CUmodule*, const void*)                                                      \
  F(cuModuleLoadDataEx, CUmodule*, const void*, unsigned, CUjit_option*, void**)                   \
  F(cuModuleUnload, CUmodule)                                                                      \
  F(cuModuleGetFunction, CUfunction*, CUmodule, const char*)                                       \
  F(cuModuleGetFunctionCount, unsigned*, CUmodule)                                                 \
  F(cuLibraryLoadData, CUlibrary*, const void*, CUjit_option*, void**, unsigned, int*, void**,     \
    unsigned)                                                                                      \
  F(cuLibraryUnload, CUlibrary)                                                                    \
  F(cuLibraryGetKernel, CUkernel*, CUlibrary, const char*)                                         \
  F(cuLibraryGetKernelCount, unsigned*, CUlibrary)                                                 \
  F(cuLibraryEnumerateKernels, CUkernel*, unsigned, CUlibrary)                                     \
  F(cuLibraryGetModule, CUmodule*, CUlibrary)                                                      \
  F(cuKernelGetFunction, CUfunction*, CUkernel)                                                    \
  F(cuKernelGetName, const char**, CUkernel)                                                       \
  F(cuKernelGetParamInfo, CUkernel, std::size_t, std::size_t*, std::size_t*)                       \
  F(cuKernelSetAttribute, CUfunction_attribute, int, CUkernel, CUdevice)                           \
  F(cuFuncGetAttribute, int*, CUfunction_attribute, CUfunction)                                    \
  F(cuFuncSetAttribute, CUfunction, CUfunction_attribute, int)                                     \
  F(cuFuncGetParamInfo, CUfunction, std::size_t, std::size_t*, std::size_t*)                       \
  F(cuOccupancyMaxActiveBlocksPerMultiprocessor, int*, CUfunction, int, std::size_t)               \
  F(cuOccupancyMaxActiveClusters, int*, CUfunction, const CUlaunchConfig*)                         \
  F(cuOccupancyMaxPotentialClusterSize, int*, CUfunction, const CUlaunchConfig*)                   \
  F(cuLaunchKernel, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,        \
    unsigned, CUstream, void**, void**)                                                            \
  F(cuLaunchKernelEx, const CUlaunchConfig*, CUfunction, void**, void**)

#define F(symbol, ...) inline CUresult (*symbol)(__VA_ARGS__) = nullptr;
CULEBRA_TEST_FUNCTIONS(F)
#undef F

inline void* driver_library() {
  const char* path = std::getenv("CULEBRA_DRIVER");
  static void* library = dlopen(path == nullptr ? "libcuda.so.1" : path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(2);
  }
  return library;
}

inline void open_driver() {
#define F(symbol, ...)                                                                    \
  symbol = reinterpret_cast<CUresult (*)(__VA_ARGS__)>(dlsym(driver_library(), #symbol)); \
  if (symbol == nullptr) {                                                                \
    std::fprintf(stderr, "no " #symbol "\n");                                             \
    std::exit(2);                                                                         \
  }
  CULEBRA_TEST_FUNCTIONS(F)
#undef F
}

// A function that one test file alone calls: DRIVER_CALL(symbol, parameter types). Looked up when
// first called.
template <class... Parameters>
class DriverCall {
 public:
  explicit constexpr DriverCall(const char* symbol) : symbol_(symbol) {}

  CUresult operator()(Parameters... arguments) const {
    if (function_ == nullptr) {
      function_ = reinterpret_cast<CUresult (*)(Parameters...)>(dlsym(driver_library(), symbol_));
    }
    if (function_ == nullptr) {
      std::fprintf(stderr, "no %s\n", symbol_);
      std::exit(2);
    }
    return function_(arguments...);
  }

 private:
  const char* symbol_;
  mutable CUresult (*function_)(Parameters...) = nullptr;
};
#define DRIVER_CALL(symbol, ...) static const DriverCall<__VA_ARGS__> symbol(#symbol)

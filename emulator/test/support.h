// What most cases begin with.
#pragma once

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "driver.h"
#include "harness.h"

namespace culebra_test {

inline std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  CHECK(static_cast<bool>(file));
  return {std::istreambuf_iterator<char>(file), {}};
}

// The image of test/kernels/test_kernels.cu.
inline const std::string& test_image() {
  static const std::string image = read_file(std::getenv("CULEBRA_TEST_IMAGE"));
  return image;
}

// The image of test/kernels/NAME.cu, loaded into the current context.
inline CUmodule load_image(const char* name) {
  const std::string path = std::string(std::getenv("CULEBRA_TEST_IMAGES")) + "/" + name + ".cubin";
  const std::string image = read_file(path.c_str());
  CUmodule module = nullptr;
  RETURNS(CUDA_SUCCESS, cuModuleLoadData(&module, image.data()));
  return module;
}

// A current context on device 0.
inline CUcontext use_device() {
  CUcontext context = nullptr;
  RETURNS(CUDA_SUCCESS, cuInit(0));
  RETURNS(CUDA_SUCCESS, cuDevicePrimaryCtxRetain(&context, 0));
  RETURNS(CUDA_SUCCESS, cuCtxSetCurrent(context));
  return context;
}

inline CUmodule load_test_module() {
  CUmodule module = nullptr;
  RETURNS(CUDA_SUCCESS, cuModuleLoadData(&module, test_image().data()));
  return module;
}

inline CUfunction function(CUmodule module, const char* name) {
  CUfunction result = nullptr;
  RETURNS(CUDA_SUCCESS, cuModuleGetFunction(&result, module, name));
  return result;
}

template <class... Args>
CUresult launch(CUfunction function, unsigned grid, unsigned block, unsigned shared_bytes,
                CUstream stream, Args... args) {
  void* pointers[] = {&args..., nullptr};
  return cuLaunchKernel(function, grid, 1, 1, block, 1, 1, shared_bytes, stream, pointers, nullptr);
}

// As cuLaunchKernelEx has it, in clusters of `cluster` blocks (0: without that attribute).
template <class... Args>
CUresult launch_clusters(CUfunction function, unsigned grid, unsigned block, unsigned shared_bytes,
                         unsigned cluster, Args... args) {
  void* pointers[] = {&args..., nullptr};
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim = {cluster, 1, 1};
  const CUlaunchConfig config = {
      grid, 1, 1, block, 1, 1, shared_bytes, nullptr, &attribute, cluster != 0 ? 1u : 0u};
  return cuLaunchKernelEx(&config, function, pointers, nullptr);
}

// Device memory with a copy on the host.
template <class T>
class Buffer {
 public:
  explicit Buffer(std::size_t count, T value = T{}) : host(count, value) {
    RETURNS(CUDA_SUCCESS, cuMemAlloc_v2(&address, count * sizeof(T)));
    upload();
  }
  ~Buffer() { cuMemFree_v2(address); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void upload() {
    RETURNS(CUDA_SUCCESS, cuMemcpyHtoD_v2(address, host.data(), host.size() * sizeof(T)));
  }
  // Waits for all streams.
  void download() {
    RETURNS(CUDA_SUCCESS, cuCtxSynchronize());
    RETURNS(CUDA_SUCCESS, cuMemcpyDtoH_v2(host.data(), address, host.size() * sizeof(T)));
  }

  CUdeviceptr address = 0;
  std::vector<T> host;
};

}  // namespace culebra_test

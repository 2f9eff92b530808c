#include "driver.h"

#include <dlfcn.h>

#include <stdexcept>

namespace runner {

// CUlaunchAttribute and CUlaunchConfig.
struct LaunchAttribute {
  int id;
  int pad;
  unsigned value[16];
};
static_assert(sizeof(LaunchAttribute) == 72);

struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void* stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

// Handles are opaque pointers, a device is an int and a device address an integer of 64 bits.
struct Driver::Functions {
  int (*cuInit)(unsigned flags);
  int (*cuGetErrorName)(int error, const char** name);
  int (*cuDeviceGet)(int* device, int ordinal);
  int (*cuDeviceGetName)(char* name, int length, int device);
  int (*cuDeviceGetAttribute)(int* value, int attribute, int device);
  int (*cuDevicePrimaryCtxRetain)(void** context, int device);
  int (*cuDevicePrimaryCtxRelease)(int device);
  int (*cuCtxSetCurrent)(void* context);
  int (*cuCtxSynchronize)();
  int (*cuModuleLoadData)(void** module, const void* image);
  int (*cuModuleGetFunction)(void** function, void* module, const char* name);
  int (*cuMemAlloc)(DevicePointer* address, std::size_t bytes);
  int (*cuMemFree)(DevicePointer address);
  int (*cuMemcpyHtoD)(DevicePointer to, const void* from, std::size_t bytes);
  int (*cuMemcpyDtoH)(void* to, DevicePointer from, std::size_t bytes);
  int (*cuFuncSetAttribute)(void* function, int attribute, int value);
  int (*cuLaunchKernelEx)(const LaunchConfig* config, void* function, void** arguments,
                          void** extra);
};

namespace {

constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;
constexpr int kMaxDynamicSharedBytes = 8;
constexpr int kNonPortableClusterAllowed = 14;
constexpr int kClusterDimension = 4;

// What a kernel gets without asking for more.
constexpr unsigned kPortableSharedBytes = 48 * 1024;
constexpr unsigned kPortableCluster = 8;

template <class Function>
void bind(void* library, Function*& function, const char* symbol) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr) {
    throw std::runtime_error(std::string("the driver has no function ") + symbol);
  }
}

}  // namespace

Driver::Driver(const std::string& path)
    : library_(dlopen(path.c_str(), RTLD_NOW)), functions_(nullptr) {
  if (library_ == nullptr) throw std::runtime_error(std::string("no driver: ") + dlerror());
  functions_ = new Functions{};
  Functions& f = *functions_;
  bind(library_, f.cuInit, "cuInit");
  bind(library_, f.cuGetErrorName, "cuGetErrorName");
  bind(library_, f.cuDeviceGet, "cuDeviceGet");
  bind(library_, f.cuDeviceGetName, "cuDeviceGetName");
  bind(library_, f.cuDeviceGetAttribute, "cuDeviceGetAttribute");
  bind(library_, f.cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  bind(library_, f.cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2");
  bind(library_, f.cuCtxSetCurrent, "cuCtxSetCurrent");
  bind(library_, f.cuCtxSynchronize, "cuCtxSynchronize");
  bind(library_, f.cuModuleLoadData, "cuModuleLoadData");
  bind(library_, f.cuModuleGetFunction, "cuModuleGetFunction");
  bind(library_, f.cuMemAlloc, "cuMemAlloc_v2");
  bind(library_, f.cuMemFree, "cuMemFree_v2");
  bind(library_, f.cuMemcpyHtoD, "cuMemcpyHtoD_v2");
  bind(library_, f.cuMemcpyDtoH, "cuMemcpyDtoH_v2");
  bind(library_, f.cuFuncSetAttribute, "cuFuncSetAttribute");
  bind(library_, f.cuLaunchKernelEx, "cuLaunchKernelEx");

  check(f.cuInit(0), "cuInit");
  check(f.cuDeviceGet(&device_, 0), "cuDeviceGet");
  char name[256] = "";
  check(f.cuDeviceGetName(name, sizeof name, device_), "cuDeviceGetName");
  device_name_ = name;
  int major = 0;
  int minor = 0;
  check(f.cuDeviceGetAttribute(&major, kComputeCapabilityMajor, device_), "cuDeviceGetAttribute");
  check(f.cuDeviceGetAttribute(&minor, kComputeCapabilityMinor, device_), "cuDeviceGetAttribute");
  compute_capability_ = 10 * major + minor;
  void* context = nullptr;
  check(f.cuDevicePrimaryCtxRetain(&context, device_), "cuDevicePrimaryCtxRetain");
  check(f.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

// The library stays loaded: a driver does not expect to be unloaded.
Driver::~Driver() {
  functions_->cuDevicePrimaryCtxRelease(device_);
  delete functions_;
}

void Driver::check(int result, const char* function) const {
  if (result == 0) return;
  const char* name = nullptr;
  functions_->cuGetErrorName(result, &name);
  throw std::runtime_error(std::string(function) + " failed: " + std::to_string(result) + " " +
                           (name != nullptr ? name : "(unknown)"));
}

void* Driver::load_module(const std::vector<char>& image) const {
  void* module = nullptr;
  check(functions_->cuModuleLoadData(&module, image.data()), "cuModuleLoadData");
  return module;
}

void* Driver::function(void* module, const std::string& symbol) const {
  void* function = nullptr;
  const int result = functions_->cuModuleGetFunction(&function, module, symbol.c_str());
  check(result, ("cuModuleGetFunction for " + symbol).c_str());
  return function;
}

void Driver::launch(void* function, const LaunchShape& shape, void** arguments) const {
  // A kernel's static shared memory counts as well, so ask early.
  if (shape.shared_bytes > kPortableSharedBytes / 2) {
    check(functions_->cuFuncSetAttribute(function, kMaxDynamicSharedBytes,
                                         static_cast<int>(shape.shared_bytes)),
          "cuFuncSetAttribute");
  }
  if (shape.cluster > kPortableCluster) {
    check(functions_->cuFuncSetAttribute(function, kNonPortableClusterAllowed, 1),
          "cuFuncSetAttribute");
  }
  LaunchAttribute cluster{kClusterDimension, 0, {shape.cluster, 1, 1}};
  const LaunchConfig config{{shape.grid, 1, 1}, {shape.block_x, shape.block_y, 1},
                            shape.shared_bytes, nullptr,
                            &cluster,           shape.cluster > 1 ? 1u : 0u};
  check(functions_->cuLaunchKernelEx(&config, function, arguments, nullptr), "cuLaunchKernelEx");
  check(functions_->cuCtxSynchronize(), "cuCtxSynchronize");
}

DevicePointer Driver::allocate(std::size_t bytes) const {
  DevicePointer address = 0;
  check(functions_->cuMemAlloc(&address, bytes), "cuMemAlloc");
  return address;
}

void Driver::free(DevicePointer address) const noexcept { functions_->cuMemFree(address); }

void Driver::copy_to_device(DevicePointer to, const void* from, std::size_t bytes) const {
  if (bytes > 0) check(functions_->cuMemcpyHtoD(to, from, bytes), "cuMemcpyHtoD");
}

void Driver::copy_to_host(void* to, DevicePointer from, std::size_t bytes) const {
  if (bytes > 0) check(functions_->cuMemcpyDtoH(to, from, bytes), "cuMemcpyDtoH");
}

}  // namespace runner

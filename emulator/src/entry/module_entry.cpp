// Images: modules, libraries, and the functions in them.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "entry/call.h"
#include "model/objects.h"
#include "model/occupancy.h"

using namespace culebra_emu;

namespace {

// The text a caller may ask for by JIT options, and why a load failed.
void write_log(const std::string& log, unsigned count, const CUjit_option* options, void** values) {
  char* buffer = nullptr;
  std::size_t capacity = 0;
  void** capacity_slot = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) {
      buffer = static_cast<char*>(values[i]);
    } else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
      // A number that travels as a pointer, in and out.
      capacity_slot = &values[i];
      capacity = reinterpret_cast<std::uintptr_t>(values[i]) & 0xFFFFFFFFu;
    }
  }
  if (buffer == nullptr || capacity == 0) return;
  const std::size_t length = std::min(log.size(), capacity - 1);
  std::memcpy(buffer, log.data(), length);
  buffer[length] = '\0';
  *capacity_slot = reinterpret_cast<void*>(length);
}

CUresult load_image(const void* data, std::shared_ptr<LoadedImage>& image, unsigned count,
                    const CUjit_option* options, void** values) {
  std::string log;
  const CUresult result = LoadedImage::load(data, image, log);
  if (options != nullptr && values != nullptr) write_log(log, count, options, values);
  return result;
}

CUresult load_module(const char* symbol, CUmodule* module, const void* data, unsigned count,
                     const CUjit_option* options, void** values) {
  return call(symbol, kNeedsContext, [&] {
    if (module == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<LoadedImage> image;
    const CUresult result = load_image(data, image, count, options, values);
    if (result != CUDA_SUCCESS) return result;
    *module = objects().modules.add(std::make_shared<Module>(std::move(image), *current_context()));
    return CUDA_SUCCESS;
  });
}

// Images are read by address, without a length; the zero behind a string ends what is a text.
CUresult read_file(const char* path, std::string& data) {
  if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  try {
    data.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {
    return CUDA_ERROR_FILE_NOT_FOUND;  // a folder, or something else that opens and has no bytes
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  return CUDA_SUCCESS;
}

template <class Body>
CUresult with_module(const char* symbol, CUmodule handle, Body body) {
  return call(symbol, kNeedsContext, [&] {
    const std::shared_ptr<Module> module = objects().modules.find(handle);
    return module == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(*module);
  });
}

// A library of which the image could be loaded: it is now that a bad one is told.
template <class Body>
CUresult with_library(const char* symbol, unsigned demand, CUlibrary handle, Body body) {
  return call(symbol, demand, [&] {
    const std::shared_ptr<Library> library = objects().libraries.find(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return library->result() == CUDA_SUCCESS ? body(*library) : library->result();
  });
}

template <class Body>
CUresult with_function(const char* symbol, unsigned demand, CUfunction handle, Body body) {
  return call(symbol, demand, [&] {
    const std::shared_ptr<Function> function = objects().functions.find(handle);
    return function == nullptr ? CUDA_ERROR_INVALID_HANDLE : body(*function);
  });
}

CUresult get_attribute(int* value, CUfunction_attribute attribute, const Function& function) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const FunctionSettings& settings = *function.settings();
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(function.kernel().max_threads);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
      *value = static_cast<int>(settings.static_shared_bytes.load());
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      // Nothing is allotted here; a middling number keeps occupancy arithmetic meaningful.
      *value = 32;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      *value = LoadedImage::kArchitecture;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = settings.max_dynamic_shared_bytes.load();
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      *value = settings.preferred_carveout.load();
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      *value = settings.non_portable_cluster.load();
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
      *value = function.kernel().required_cluster.x != 0;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
      *value = static_cast<int>(required_cluster(function).x);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
      *value = static_cast<int>(required_cluster(function).y);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      *value = static_cast<int>(required_cluster(function).z);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      *value = 0;
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult set_attribute(CUfunction_attribute attribute, int value, const Function& function) {
  FunctionSettings& settings = *function.settings();
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
      const int limit =
          Device::kMaxSharedOptinBytes - static_cast<int>(settings.static_shared_bytes.load());
      if (value < 0 || value > limit) return CUDA_ERROR_INVALID_VALUE;
      settings.max_dynamic_shared_bytes.store(value);
      settings.max_dynamic_was_set.store(true);
      return CUDA_SUCCESS;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
      if (value < -1 || value > 100) return CUDA_ERROR_INVALID_VALUE;
      settings.preferred_carveout.store(value);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      settings.non_portable_cluster.store(value != 0);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
      if (function.kernel().required_cluster.x != 0) return CUDA_ERROR_NOT_PERMITTED;
      if (value < 0) return CUDA_ERROR_INVALID_VALUE;
      settings.required_cluster[static_cast<std::size_t>(
          attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)] = value;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult get_parameter_info(const Function& function, std::size_t index, std::size_t* offset,
                            std::size_t* bytes) {
  if (offset == nullptr || index >= function.kernel().parameter_count) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const Parameter& parameter = function.kernel().parameters[index];
  *offset = parameter.offset;
  if (bytes != nullptr) *bytes = parameter.size;
  return CUDA_SUCCESS;
}

CUresult get_name(const Function& function, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = function.kernel().symbol;
  return CUDA_SUCCESS;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuModuleLoadData(CUmodule* module, const void* data) {
  return load_module("cuModuleLoadData", module, data, 0, nullptr, nullptr);
}

CULEBRA_EMU_EXPORT CUresult cuModuleLoadDataEx(CUmodule* module, const void* data, unsigned count,
                                               CUjit_option* options, void** values) {
  return load_module("cuModuleLoadDataEx", module, data, count, options, values);
}

CULEBRA_EMU_EXPORT CUresult cuModuleLoadFatBinary(CUmodule* module, const void* data) {
  return load_module("cuModuleLoadFatBinary", module, data, 0, nullptr, nullptr);
}

CULEBRA_EMU_EXPORT CUresult cuModuleLoad(CUmodule* module, const char* path) {
  std::string data;
  const CUresult result = read_file(path, data);
  if (result == CUDA_SUCCESS) {
    return load_module("cuModuleLoad", module, data.c_str(), 0, nullptr, nullptr);
  }
  return call("cuModuleLoad", kNeedsContext, [&] { return result; });
}

// A library's image is looked at when it is first used, as under lazy loading.
CULEBRA_EMU_EXPORT CUresult cuModuleGetLoadingMode(int* mode) {
  return call("cuModuleGetLoadingMode", kNeedsInit, [&] {
    constexpr int kLazy = 2;
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = kLazy;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count,
                                                       CUmodule handle) {
  return with_module("cuModuleEnumerateFunctions", handle, [&](Module& module) {
    if (functions == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto& all = module.image()->kernels();
    for (std::size_t i = 0; i < std::min<std::size_t>(count, all.size()); ++i) {
      functions[i] = objects().module_function(handle, module, all[i]->symbol);
    }
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuModuleUnload(CUmodule handle) {
  return with_module("cuModuleUnload", handle, [&](Module& module) {
    // A library's module goes with its library.
    if (module.library() != nullptr) return CUDA_ERROR_NOT_PERMITTED;
    module.context().synchronize();
    objects().remove_module(handle);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle,
                                                const char* name) {
  return with_module("cuModuleGetFunction", handle, [&](Module& module) {
    if (function == nullptr || name == nullptr || *name == '\0') return CUDA_ERROR_INVALID_VALUE;
    *function = objects().module_function(handle, module, name);
    return *function == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return with_module("cuModuleGetFunctionCount", handle, [&](Module& module) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(module.image()->kernels().size());
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuLibraryLoadData(CUlibrary* library, const void* data,
                                              CUjit_option* jit_options, void** jit_values,
                                              unsigned jit_count, int*, void**, unsigned) {
  return call("cuLibraryLoadData", kNeedsInit, [&] {
    if (library == nullptr || data == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<LoadedImage> image;
    const CUresult result = load_image(data, image, jit_count, jit_options, jit_values);
    *library = objects().libraries.add(std::make_shared<Library>(result, std::move(image)));
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path,
                                                  CUjit_option* jit_options, void** jit_values,
                                                  unsigned jit_count, int* options,
                                                  void** option_values, unsigned option_count) {
  std::string data;
  const CUresult result = read_file(path, data);
  if (result == CUDA_SUCCESS) {
    return cuLibraryLoadData(library, data.c_str(), jit_options, jit_values, jit_count, options,
                             option_values, option_count);
  }
  return call("cuLibraryLoadFromFile", kNeedsInit, [&] { return result; });
}

CULEBRA_EMU_EXPORT CUresult cuLibraryUnload(CUlibrary handle) {
  return call("cuLibraryUnload", kNeedsInit, [&] {
    return objects().remove_library(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle,
                                               const char* name) {
  return with_library("cuLibraryGetKernel", kNeedsInit, handle, [&](Library& library) {
    if (kernel == nullptr || name == nullptr || *name == '\0') return CUDA_ERROR_INVALID_VALUE;
    *kernel = objects().library_kernel(handle, library, name);
    return *kernel == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  return with_library("cuLibraryGetKernelCount", kNeedsInit, handle, [&](Library& library) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(library.image()->kernels().size());
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count,
                                                      CUlibrary handle) {
  return with_library("cuLibraryEnumerateKernels", kNeedsInit, handle, [&](Library& library) {
    if (kernels == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto& all = library.image()->kernels();
    for (std::size_t i = 0; i < std::min<std::size_t>(count, all.size()); ++i) {
      kernels[i] = objects().library_kernel(handle, library, all[i]->symbol);
    }
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuLibraryGetModule(CUmodule* module, CUlibrary handle) {
  return with_library("cuLibraryGetModule", kNeedsContext, handle, [&](Library& library) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = objects().library_module(handle, library, *current_context());
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuKernelGetFunction(CUfunction* function, CUkernel handle) {
  return with_function("cuKernelGetFunction", kNeedsContext, handle, [&](Function& kernel) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *function = objects().kernel_function(handle, kernel, *current_context());
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  return with_function("cuKernelGetLibrary", kNeedsInit, handle, [&](Function& kernel) {
    if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *library = kernel.library();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute,
                                                 CUkernel handle, CUdevice ordinal) {
  return with_function("cuKernelGetAttribute", kNeedsInit, handle, [&](Function& kernel) {
    if (find_device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return get_attribute(value, attribute, kernel);
  });
}

CULEBRA_EMU_EXPORT CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value,
                                                 CUkernel handle, CUdevice ordinal) {
  return with_function("cuKernelSetAttribute", kNeedsInit, handle, [&](Function& kernel) {
    if (find_device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return set_attribute(attribute, value, kernel);
  });
}

CULEBRA_EMU_EXPORT CUresult cuKernelGetParamInfo(CUkernel handle, std::size_t index,
                                                 std::size_t* offset, std::size_t* bytes) {
  return with_function("cuKernelGetParamInfo", kNeedsInit, handle, [&](Function& kernel) {
    return get_parameter_info(kernel, index, offset, bytes);
  });
}

CULEBRA_EMU_EXPORT CUresult cuKernelGetName(const char** name, CUkernel handle) {
  return with_function("cuKernelGetName", kNeedsInit, handle,
                       [&](Function& kernel) { return get_name(kernel, name); });
}

CULEBRA_EMU_EXPORT CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute,
                                               CUfunction handle) {
  return with_function("cuFuncGetAttribute", kNeedsInit, handle, [&](Function& function) {
    return get_attribute(value, attribute, function);
  });
}

CULEBRA_EMU_EXPORT CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute,
                                               int value) {
  return with_function("cuFuncSetAttribute", kNeedsInit, handle, [&](Function& function) {
    return set_attribute(attribute, value, function);
  });
}

CULEBRA_EMU_EXPORT CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index,
                                               std::size_t* offset, std::size_t* bytes) {
  return with_function("cuFuncGetParamInfo", kNeedsInit, handle, [&](Function& function) {
    return get_parameter_info(function, index, offset, bytes);
  });
}

CULEBRA_EMU_EXPORT CUresult cuFuncGetName(const char** name, CUfunction handle) {
  return with_function("cuFuncGetName", kNeedsInit, handle,
                       [&](Function& function) { return get_name(function, name); });
}

CULEBRA_EMU_EXPORT CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  return with_function("cuFuncGetModule", kNeedsInit, handle, [&](Function& function) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = function.module();
    return *module == nullptr ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS;
  });
}

// All functions are loaded with their image.
CULEBRA_EMU_EXPORT CUresult cuFuncLoad(CUfunction handle) {
  return with_function("cuFuncLoad", kNeedsInit, handle, [](Function&) { return CUDA_SUCCESS; });
}

CULEBRA_EMU_EXPORT CUresult cuFuncIsLoaded(int* state, CUfunction handle) {
  return with_function("cuFuncIsLoaded", kNeedsInit, handle, [&](Function&) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = 1;
    return CUDA_SUCCESS;
  });
}

// There are no caches and no banks to be configured.
CULEBRA_EMU_EXPORT CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  return with_function("cuFuncSetCacheConfig", kNeedsInit, handle, [&](Function&) {
    return is_valid_cache_config(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config,
                                                   CUdevice ordinal) {
  return with_function("cuKernelSetCacheConfig", kNeedsInit, handle, [&](Function&) {
    if (find_device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return is_valid_cache_config(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CULEBRA_EMU_EXPORT CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  return with_function("cuFuncSetSharedMemConfig", kNeedsInit, handle, [&](Function&) {
    return is_valid_bank_config(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

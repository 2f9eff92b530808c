// Variables of modules and libraries, by name.
#include <string_view>

#include "entry/call.h"
#include "model/image_variables.h"
#include "model/objects.h"

using namespace culebra_emu;

namespace {

CUresult get_variable(const std::shared_ptr<LoadedImage>& image, Context& context,
                      CUdeviceptr* address, std::size_t* bytes, const char* name) {
  if (name == nullptr || *name == '\0') return CUDA_ERROR_INVALID_VALUE;
  const auto variable = ImageVariables::find(*image, name, context);
  if (!variable) return CUDA_ERROR_NOT_FOUND;
  // Either answer may be unwanted.
  if (address != nullptr) *address = variable->address;
  if (bytes != nullptr) *bytes = variable->bytes;
  return CUDA_SUCCESS;
}

template <class Body>
CUresult with_library(const char* symbol, CUlibrary handle, Body body) {
  return call(symbol, kNeedsContext, [&] {
    const std::shared_ptr<Library> library = objects().libraries.find(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return library->result() == CUDA_SUCCESS ? body(*library) : library->result();
  });
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes,
                                                 CUmodule handle, const char* name) {
  return call("cuModuleGetGlobal_v2", kNeedsContext, [&] {
    const std::shared_ptr<Module> module = objects().modules.find(handle);
    if (module == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    return get_variable(module->image(), module->context(), address, bytes, name);
  });
}

// One variable for all contexts: memory is one.
CULEBRA_EMU_EXPORT CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes,
                                               CUlibrary handle, const char* name) {
  return with_library("cuLibraryGetGlobal", handle, [&](const Library& library) {
    return get_variable(library.image(), *current_context(), address, bytes, name);
  });
}

namespace {

// Of that kind images have nothing.
CUresult find_nothing(const char* symbol, CUlibrary handle, const char* name) {
  return with_library(symbol, handle, [&](const Library&) {
    return name == nullptr || *name == '\0' ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_NOT_FOUND;
  });
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuLibraryGetManaged(CUdeviceptr*, std::size_t*, CUlibrary handle,
                                                const char* name) {
  return find_nothing("cuLibraryGetManaged", handle, name);
}

CULEBRA_EMU_EXPORT CUresult cuLibraryGetUnifiedFunction(void** function, CUlibrary handle,
                                                        const char* name) {
  return function == nullptr ? find_nothing("cuLibraryGetUnifiedFunction", handle, nullptr)
                             : find_nothing("cuLibraryGetUnifiedFunction", handle, name);
}

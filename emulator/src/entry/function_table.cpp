// cuGetProcAddress, and an answer for every function that the emulator does not model.
#include "entry/function_table.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "config.h"
#include "entry/call.h"
#include "entry/per_thread_entry.h"

// A weak definition for each function of the interface. Where the emulator has a real one, the
// linker takes that; README.md lists the others.
#define DRIVER_FUNCTION(symbol, base, version)                                \
  extern "C" __attribute__((weak, visibility("default"))) CUresult symbol() { \
    return culebra_emu::call(#symbol, culebra_emu::kNeedsNothing,             \
                             [] { return CUDA_ERROR_NOT_SUPPORTED; });        \
  }
#include "driver_functions.inc"
#undef DRIVER_FUNCTION

namespace culebra_emu {
namespace {

struct DriverFunction {
  const char* symbol;
  const char* base;
  int version;
  void* address;
};

const DriverFunction kFunctions[] = {
#define DRIVER_FUNCTION(symbol, base, version) \
  {#symbol, #base, version, reinterpret_cast<void*>(&symbol)},
#include "driver_functions.inc"
#undef DRIVER_FUNCTION
};

bool is_missing(const DriverFunction& function) {
  return std::any_of(
      config().missing.begin(), config().missing.end(),
      [&](const std::string& name) { return name == function.base || name == function.symbol; });
}

// The newest one that the caller, by the version it was written for, knows how to call.
const DriverFunction* find_function(const char* base, int version,
                                    CUdriverProcAddressQueryResult& status) {
  const DriverFunction* best = nullptr;
  status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  for (const DriverFunction& function : kFunctions) {
    if (std::strcmp(function.base, base) != 0 || function.version > config().driver_version ||
        is_missing(function)) {
      continue;
    }
    if (function.version > version) {
      if (best == nullptr) status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    } else if (best == nullptr || best->version < function.version) {
      best = &function;
      status = CU_GET_PROC_ADDRESS_SUCCESS;
    }
  }
  return best;
}

}  // namespace

CUresult get_proc_address(const char* name, void** address, int version, std::uint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  return call("cuGetProcAddress_v2", kNeedsNothing, [&] {
    constexpr std::uint64_t kPerThreadStream = 2;
    if (name == nullptr || address == nullptr || flags > kPerThreadStream) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (flags == kPerThreadStream && !kHasPerThreadFunctions) return CUDA_ERROR_NOT_SUPPORTED;
    CUdriverProcAddressQueryResult found;
    const DriverFunction* const function = find_function(name, version, found);
    *address = function == nullptr ? nullptr : function->address;
    if (function != nullptr && flags == kPerThreadStream) {
      if (void* const variant = find_per_thread_function(function->symbol)) *address = variant;
    }
    if (status != nullptr) *status = found;
    // Who does not ask for the status must still hear of a failure.
    return *address == nullptr && status == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
  });
}

}  // namespace culebra_emu

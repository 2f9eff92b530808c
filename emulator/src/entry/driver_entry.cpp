// Start-up, versions, error texts, entry points.
#include "config.h"
#include "entry/call.h"
#include "entry/function_table.h"

using namespace culebra_emu;

CULEBRA_EMU_EXPORT CUresult cuInit(unsigned flags) {
  return call("cuInit", kNeedsNothing, [&] {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    if (device_count() == 0) return CUDA_ERROR_NO_DEVICE;
    set_initialized();
    return admit("cuInit", kNeedsInit | kWorksAfterFailure);
  });
}

CULEBRA_EMU_EXPORT CUresult cuDriverGetVersion(int* version) {
  return call("cuDriverGetVersion", kNeedsNothing, [&] {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = config().driver_version;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuGetProcAddress_v2(const char* name, void** address, int version,
                                                std::uint64_t flags,
                                                CUdriverProcAddressQueryResult* status) {
  return get_proc_address(name, address, version, flags, status);
}

namespace {

struct ResultText {
  CUresult result;
  const char* name;
  const char* text;
};

constexpr ResultText kResults[] = {
#define RESULT(name, code, text) {CUDA_##name, "CUDA_" #name, text},
#include "results.inc"
#undef RESULT
};

CUresult find_text(CUresult result, const char** text, const char* ResultText::*field) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  for (const ResultText& known : kResults) {
    if (known.result == result) {
      *text = known.*field;
      return CUDA_SUCCESS;
    }
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuGetErrorName(CUresult result, const char** text) {
  return call("cuGetErrorName", kNeedsNothing,
              [&] { return find_text(result, text, &ResultText::name); });
}

CULEBRA_EMU_EXPORT CUresult cuGetErrorString(CUresult result, const char** text) {
  return call("cuGetErrorString", kNeedsNothing,
              [&] { return find_text(result, text, &ResultText::text); });
}

// What is current on a thread, and what a context says about itself.
#include <atomic>

#include "entry/call.h"

using namespace culebra_emu;

namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

// The only contexts are the devices' primary ones.
Context* find_context(CUcontext handle) {
  for (int i = 0; i < device_count(); ++i) {
    Context& context = find_device(i)->primary();
    if (&context == handle) return &context;
  }
  return nullptr;
}

std::atomic<std::size_t> limits[] = {
    1024,             // stack size
    7 * 1024 * 1024,  // printf fifo size
    8 * 1024 * 1024,  // malloc heap size
};
constexpr std::size_t kLimits = sizeof limits / sizeof limits[0];

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuCtxGetCurrent(CUcontext* context) {
  return call("cuCtxGetCurrent", kNeedsInit | kWorksAfterFailure, [&] {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = current_context();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxSetCurrent(CUcontext handle) {
  return call("cuCtxSetCurrent", kNeedsInit, [&] {
    Context* context = find_context(handle);
    if (handle != nullptr && (context == nullptr || !context->active())) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    set_current_context(context);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return call("cuCtxPushCurrent_v2", kNeedsInit, [&] {
    Context* context = find_context(handle);
    if (context == nullptr || !context->active()) return CUDA_ERROR_INVALID_CONTEXT;
    return push_current_context(context) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  return call("cuCtxPopCurrent_v2", kNeedsInit, [&] {
    Context* context = pop_current_context();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (handle != nullptr) *handle = context;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxSynchronize() {
  return call("cuCtxSynchronize", kNeedsContext, [&] {
    Context& context = *current_context();
    context.synchronize();
    context.device().default_pool().trim_to_threshold();
    return context.device().failure();
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetDevice(CUdevice* ordinal) {
  return call("cuCtxGetDevice", kNeedsContext, [&] {
    if (ordinal == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *ordinal = current_context()->device().ordinal();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return call("cuCtxGetId", kNeedsInit, [&] {
    const Context* context = handle == nullptr ? current_context() : find_context(handle);
    if (context == nullptr || !context->active()) return CUDA_ERROR_INVALID_CONTEXT;
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = context->id();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return call("cuCtxGetApiVersion", kNeedsInit, [&] {
    const Context* context = handle == nullptr ? current_context() : find_context(handle);
    if (context == nullptr || !context->active()) return CUDA_ERROR_INVALID_CONTEXT;
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call("cuCtxGetStreamPriorityRange", kNeedsContext, [&] {
    if (least != nullptr) *least = kLeastPriority;
    if (greatest != nullptr) *greatest = kGreatestPriority;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return call("cuCtxGetLimit", kNeedsContext, [&] {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (limit < 0 || static_cast<std::size_t>(limit) >= kLimits) {
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    *value = limits[limit].load();
    return CUDA_SUCCESS;
  });
}

// Remembered, and without effect: fibers have stacks of one size, and printf and malloc are the C
// library's.
CULEBRA_EMU_EXPORT CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return call("cuCtxSetLimit", kNeedsContext, [&] {
    if (limit < 0 || static_cast<std::size_t>(limit) >= kLimits) {
      return CUDA_ERROR_UNSUPPORTED_LIMIT;
    }
    limits[limit].store(value);
    return CUDA_SUCCESS;
  });
}

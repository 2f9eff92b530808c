// Contexts: what is current on a thread, what a context says about itself, and those that users
// create.
#include <atomic>

#include "entry/call.h"
#include "model/objects.h"

using namespace culebra_emu;

namespace {

constexpr int kLeastPriority = 0;
constexpr int kGreatestPriority = -5;

// Calls body(context) on a live context; null means the current one.
template <class Body>
CUresult with_context(const char* symbol, CUcontext handle, Body body,
                      unsigned demand = kNeedsInit) {
  return call(symbol, demand, [&] {
    Context* context = handle == nullptr ? current_context() : find_context(handle);
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->active()) {
      // A created one ends for good; a primary one may come back, and is only not there now.
      return context->kind() == Context::Kind::kCreated ? CUDA_ERROR_CONTEXT_IS_DESTROYED
                                                        : CUDA_ERROR_INVALID_CONTEXT;
    }
    return body(*context);
  });
}

CUresult synchronize(Context& context) {
  context.synchronize();
  context.device().trim_pools_to_threshold();
  return context.device().failure();
}

CUresult get_device(Context& context, CUdevice* ordinal) {
  if (ordinal == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *ordinal = context.device().ordinal();
  return CUDA_SUCCESS;
}

// Null if the emulator has no such limit.
std::atomic<std::size_t>* find_limit(ContextSettings& settings, CUlimit limit) {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
      return &settings.stack_bytes;
    case CU_LIMIT_PRINTF_FIFO_SIZE:
      return &settings.printf_fifo_bytes;
    case CU_LIMIT_MALLOC_HEAP_SIZE:
      return &settings.malloc_heap_bytes;
    default:
      return nullptr;
  }
}

// The end of a created context. It is gone from the calling thread; where else it is current, it
// stays so and every use is told.
void leave(const Context& context) {
  if (current_context() == &context) pop_current_context();
}

}  // namespace

CULEBRA_EMU_EXPORT CUresult cuCtxCreate_v4(CUcontext* handle, CUctxCreateParams* parameters,
                                           unsigned flags, CUdevice ordinal) {
  return call("cuCtxCreate_v4", kNeedsInit | kWorksAfterFailure, [&] {
    Device* device = find_device(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (device->failed()) return device->failure();
    if (handle == nullptr || !are_valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    if (parameters != nullptr) {
      const bool has_affinity = parameters->numExecAffinityParams != 0;
      if (has_affinity && parameters->cigParams != nullptr) return CUDA_ERROR_INVALID_VALUE;
      // Both need what the device says it has not: MPS, and a graphics interface.
      if (has_affinity) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
      if (parameters->cigParams != nullptr) return CUDA_ERROR_NOT_SUPPORTED;
    }
    Context& context = create_context(*device, flags);
    if (!push_current_context(&context)) {
      context.reset();
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *handle = &context;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxDestroy_v2(CUcontext handle) {
  return call("cuCtxDestroy_v2", kNeedsInit | kWorksAfterFailure, [&] {
    Context* context = find_context(handle);
    // The primary context is its device's, and only released.
    if (context == nullptr || context->kind() == Context::Kind::kPrimary) {
      return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (!context->active()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
    context->reset();
    leave(*context);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxAttach(CUcontext* handle, unsigned flags) {
  return call("cuCtxAttach", kNeedsContext, [&] {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    current_context()->retain();
    *handle = current_context();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxDetach(CUcontext handle) {
  return call("cuCtxDetach", kNeedsContext | kWorksAfterFailure, [&] {
    Context* context = current_context();
    if (handle != context || !context->release()) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->active() && context->kind() == Context::Kind::kCreated) leave(*context);
    return CUDA_SUCCESS;
  });
}

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
  return call("cuCtxSynchronize", kNeedsContext | kUnsafeInCapture,
              [] { return synchronize(*current_context()); });
}

CULEBRA_EMU_EXPORT CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return with_context("cuCtxSynchronize_v2", handle, synchronize, kNeedsInit | kUnsafeInCapture);
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetDevice(CUdevice* ordinal) {
  return call("cuCtxGetDevice", kNeedsContext,
              [&] { return get_device(*current_context(), ordinal); });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetDevice_v2(CUdevice* ordinal, CUcontext handle) {
  return with_context("cuCtxGetDevice_v2", handle,
                      [&](Context& context) { return get_device(context, ordinal); });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetFlags(unsigned* flags) {
  return call("cuCtxGetFlags", kNeedsContext, [&] {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = current_context()->flags();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxSetFlags(unsigned flags) {
  return call("cuCtxSetFlags", kNeedsContext, [&] {
    if (!are_valid_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    current_context()->set_flags(flags);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return with_context("cuCtxGetId", handle, [&](const Context& context) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = context.id();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return with_context("cuCtxGetApiVersion", handle, [&](const Context&) {
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
    const auto* known = find_limit(current_context()->settings(), limit);
    if (known == nullptr) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    *value = known->load();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return call("cuCtxSetLimit", kNeedsContext, [&] {
    auto* known = find_limit(current_context()->settings(), limit);
    if (known == nullptr) return CUDA_ERROR_UNSUPPORTED_LIMIT;
    known->store(value);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return call("cuCtxGetCacheConfig", kNeedsContext, [&] {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = current_context()->settings().cache_config.load();
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return call("cuCtxSetCacheConfig", kNeedsContext, [&] {
    if (!is_valid_cache_config(config)) return CUDA_ERROR_INVALID_VALUE;
    current_context()->settings().cache_config.store(config);
    return CUDA_SUCCESS;
  });
}

// Banks have four bytes, on the device that the emulator stands for as well; setting anything else
// has no effect there either.
CULEBRA_EMU_EXPORT CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return call("cuCtxGetSharedMemConfig", kNeedsContext, [&] {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return call("cuCtxSetSharedMemConfig", kNeedsContext, [&] {
    return is_valid_bank_config(config) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

// There is no cache in which anything could persist.
CULEBRA_EMU_EXPORT CUresult cuCtxResetPersistingL2Cache() {
  return call("cuCtxResetPersistingL2Cache", kNeedsContext, [] { return CUDA_SUCCESS; });
}

// Part of the multiprocessors can be had only under MPS, which the device says is off.
CULEBRA_EMU_EXPORT CUresult cuCtxGetExecAffinity(CUexecAffinityParam* affinity,
                                                 CUexecAffinityType) {
  return call("cuCtxGetExecAffinity", kNeedsContext, [&] {
    return affinity == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxRecordEvent(CUcontext handle, CUevent event_handle) {
  return with_context("cuCtxRecordEvent", handle, [&](Context& context) {
    const std::shared_ptr<Event> event = objects().events.find(event_handle);
    if (event == nullptr || &event->context() != &context) return CUDA_ERROR_INVALID_HANDLE;
    auto record = std::make_shared<Event::Record>();
    record->done = context.after_all_work([record] { record->time = Event::Clock::now(); });
    event->set_record(record);
    return CUDA_SUCCESS;
  });
}

CULEBRA_EMU_EXPORT CUresult cuCtxWaitEvent(CUcontext handle, CUevent event_handle) {
  return with_context("cuCtxWaitEvent", handle, [&](Context& context) {
    const std::shared_ptr<Event> event = objects().events.find(event_handle);
    if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (const auto record = event->record(); record != nullptr && !record->done->done()) {
      context.add_gate(record->done);
    }
    return CUDA_SUCCESS;
  });
}

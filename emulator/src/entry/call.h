// What every entry point does before its own work.
#pragma once

#include <new>
#include <system_error>

#include "abi.h"
#include "model/context.h"
#include "model/device.h"

namespace culebra_emu {

// What a function demands of the state it is called in. The usual case is kNeedsContext.
enum Demand : unsigned {
  kNeedsNothing = 0,
  kNeedsInit = 1,
  kNeedsContext = 2 | kNeedsInit,
  // Answers although the device has failed.
  kWorksAfterFailure = 4,
  // May be called from a cuLaunchHostFunc function.
  kWorksInHostFunction = 8,
  // Is not seen by a capture but may upset one: refused while somebody's capture forbids it.
  kUnsafeInCapture = 16,
};

// CUDA_SUCCESS if the call may go on.
CUresult admit(const char* symbol, unsigned demand);

bool initialized();
void set_initialized();

// What stream 0 is for the calling thread: the legacy default stream, or the thread's own while one
// of the variants in per_thread_entry.cpp runs.
class DefaultStreamScope {
 public:
  DefaultStreamScope();
  ~DefaultStreamScope();
  DefaultStreamScope(const DefaultStreamScope&) = delete;
  DefaultStreamScope& operator=(const DefaultStreamScope&) = delete;

 private:
  bool before_;
};
StreamPtr default_stream(Context& context);
// Says that the thread's next call is that of such a variant.
void ask_for_thread_stream();

template <class Body>
CUresult call(const char* symbol, unsigned demand, Body body) noexcept {
  const DefaultStreamScope scope;
  try {
    const CUresult result = admit(symbol, demand);
    return result == CUDA_SUCCESS ? body() : result;
  } catch (const std::bad_alloc&) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (const std::system_error&) {
    // There are no more threads.
    return CUDA_ERROR_OPERATING_SYSTEM;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

// The values that functions and contexts may be told to prefer.
inline bool is_valid_cache_config(CUfunc_cache config) {
  return config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
}
inline bool is_valid_bank_config(CUsharedconfig config) {
  return config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
         config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
}

// Where the real driver would crash the process, so does this, but says why.
[[noreturn]] void die_of_dead_stream(const char* symbol, CUstream handle);

// The stream of a handle: the default streams' numbers are understood, a dead handle ends the
// process. Null, with the code in `result`, if there is no current context for a default stream or
// the stream's device has failed.
StreamPtr resolve_stream(const char* symbol, CUstream handle, CUresult& result);

}  // namespace culebra_emu

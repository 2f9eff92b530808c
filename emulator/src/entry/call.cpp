#include "entry/call.h"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "config.h"
#include "entry/call_count.h"
#include "entry/host_access.h"
#include "fast_tls.h"
#include "faults/faults.h"
#include "model/capture.h"
#include "model/live_objects.h"
#include "model/objects.h"
#include "model/origin.h"

namespace culebra_emu {
namespace {

std::atomic<bool> is_initialized = false;
// A forked child has the memory but none of the threads; the real driver does not work there
// either.
std::atomic<bool> is_forked_child = false;

void report_at_exit() {
  const std::string live = describe_live();
  std::fprintf(stderr, "culebra-emulator: at exit: %s\n",
               live.empty() ? "nothing is left" : ("not given back: " + live).c_str());
  constexpr std::size_t kShown = 100;
  std::vector<std::string> lines;
  for (const LiveKind& kind : live_kinds()) {
    for (std::string& line : kind.describe_each()) lines.push_back(std::move(line));
  }
  for (std::size_t i = 0; i < lines.size() && i < kShown; ++i) {
    std::fprintf(stderr, "culebra-emulator:   %s\n", lines[i].c_str());
  }
  if (lines.size() > kShown) {
    std::fprintf(stderr, "culebra-emulator:   and %zu more\n", lines.size() - kShown);
  }
}

// What CULEBRA_EMU_FAULT has in store for the call.
CUresult injected_failure(const char* symbol, const CalledFunction& function) {
  CUresult lost = CUDA_SUCCESS;
  const CUresult result = faults().on_call(symbol, function.base_name, lost);
  if (lost != CUDA_SUCCESS) {
    for (int i = 0; i < device_count(); ++i) find_device(i)->fail(lost, "lost on demand");
  }
  return result;
}

// Without a current context a failed device can be meant only if there is one device.
Device* concerned_device() {
  if (Context* context = current_context()) return &context->device();
  return device_count() == 1 ? find_device(0) : nullptr;
}

}  // namespace

bool initialized() { return is_initialized.load(std::memory_order_acquire); }

void set_initialized() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_atfork(nullptr, nullptr, [] { is_forked_child.store(true); });
    watch_host_accesses();
    if (config().report) std::atexit(report_at_exit);
  });
  is_initialized.store(true, std::memory_order_release);
}

CUresult admit(const char* symbol, unsigned demand) {
  if (config().stub) return CUDA_ERROR_STUB_LIBRARY;
  CalledFunction& function = called_function(symbol);
  set_current_call(symbol, function.calls.fetch_add(1, std::memory_order_relaxed) + 1);
  const CUresult injected = injected_failure(symbol, function);
  if (injected != CUDA_SUCCESS) return injected;
  if ((demand & kNeedsInit) == 0) return CUDA_SUCCESS;
  if (!initialized() || is_forked_child.load(std::memory_order_relaxed)) {
    return CUDA_ERROR_NOT_INITIALIZED;
  }
  if (in_host_function && (demand & kWorksInHostFunction) == 0) return CUDA_ERROR_NOT_PERMITTED;
  if ((demand & kWorksAfterFailure) == 0) {
    if (const Device* device = concerned_device(); device != nullptr && device->failed()) {
      return device->failure();
    }
  }
  if ((demand & kNeedsContext) == kNeedsContext) {
    const Context* context = current_context();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (!context->active()) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  }
  return (demand & kUnsafeInCapture) != 0 ? refuse_unsafe_call() : CUDA_SUCCESS;
}

void die_of_dead_stream(const char* symbol, CUstream handle) {
  std::string what = "the stream was destroyed or never existed";
  if (const auto history = objects().streams.history_of(handle)) what += ": " + *history;
  die_of_misuse(symbol, what.c_str());
}

namespace {

// Of the next call, and of the one that runs.
CULEBRA_EMU_FAST_TLS constinit thread_local bool thread_stream_asked = false;
CULEBRA_EMU_FAST_TLS constinit thread_local bool thread_stream_used = false;

}  // namespace

void ask_for_thread_stream() { thread_stream_asked = true; }

DefaultStreamScope::DefaultStreamScope() : before_(thread_stream_used) {
  if (std::exchange(thread_stream_asked, false)) thread_stream_used = true;
}
DefaultStreamScope::~DefaultStreamScope() { thread_stream_used = before_; }

StreamPtr default_stream(Context& context) {
  return thread_stream_used ? context.per_thread_stream() : context.legacy_stream();
}

StreamPtr resolve_stream(const char* symbol, CUstream handle, CUresult& result) {
  constexpr std::uintptr_t kLegacy = 1;
  constexpr std::uintptr_t kPerThread = 2;
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  StreamPtr stream;
  if (number <= kPerThread) {
    Context* context = current_context();
    if (context == nullptr || !context->active()) {
      result = context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_CONTEXT_IS_DESTROYED;
      return nullptr;
    }
    stream = number == kLegacy      ? context->legacy_stream()
             : number == kPerThread ? context->per_thread_stream()
                                    : default_stream(*context);
  } else {
    stream = objects().streams.find(handle);
    if (stream == nullptr) die_of_dead_stream(symbol, handle);
  }
  result = stream->context().device().failure();
  return result == CUDA_SUCCESS ? stream : nullptr;
}

}  // namespace culebra_emu

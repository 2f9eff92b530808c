#include "execution/sanitizer_report.h"

#if defined(__SANITIZE_ADDRESS__)

#include <sanitizer/asan_interface.h>

#include <cstdio>
#include <mutex>

#include "execution/group_executor.h"

namespace culebra_emu {
namespace {

thread_local const GroupExecutor* running = nullptr;

// The sanitizer calls it when its own report is written, on the thread that was wrong.
void tell_where(const char*) {
  if (running == nullptr) return;
  std::fprintf(stderr, "culebra-emulator: the access above is one of %s\n",
               running->describe_running().c_str());
}

}  // namespace

SanitizerReport::SanitizerReport(const GroupExecutor& executor) {
  static std::once_flag once;
  std::call_once(once, [] { __asan_set_error_report_callback(&tell_where); });
  running = &executor;
}

SanitizerReport::~SanitizerReport() { running = nullptr; }

}  // namespace culebra_emu

#endif

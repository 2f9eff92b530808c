// Under AddressSanitizer, whose reports know code and addresses: says in which kernel, block and
// thread it happened.
#pragma once

namespace culebra_emu {

class GroupExecutor;

#if defined(__SANITIZE_ADDRESS__)

// The executor that runs on this OS thread, as long as it does.
class SanitizerReport {
 public:
  explicit SanitizerReport(const GroupExecutor& executor);
  ~SanitizerReport();
  SanitizerReport(const SanitizerReport&) = delete;
  SanitizerReport& operator=(const SanitizerReport&) = delete;
};

#else

struct SanitizerReport {
  explicit SanitizerReport(const GroupExecutor&) {}
};

#endif

}  // namespace culebra_emu

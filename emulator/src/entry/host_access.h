// Where the real driver crashes at a host pointer that points to nothing, so does this, but a line
// on standard error says before which call and which argument it was.
#pragma once

#include <cstdint>

namespace culebra_emu {

// What the calling thread reads or writes at this moment, for that line. Plain stores, since each
// launch makes some: "kernelParams[2], parameter n".
struct HostAccess {
  const char* what = nullptr;       // null: some argument
  std::uint32_t index = 0;          // counted, if there is a parameter
  const char* parameter = nullptr;  // of a kernel
  // Of an access before the call is admitted, and has an origin.
  const char* symbol = nullptr;
};

// Sets what is accessed, for as long as it lives.
class AccessScope {
 public:
  explicit AccessScope(const char* what, const char* symbol = nullptr);
  ~AccessScope();
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;

  void set_parameter(std::uint32_t index, const char* name);

 private:
  HostAccess& current_;
};

// From now on faults of driver calls are told. What is not one goes where it went before.
void watch_host_accesses();

}  // namespace culebra_emu

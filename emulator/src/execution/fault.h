// Turns a hardware fault inside a kernel (a bad address, a failed alignment check, a stack overflow) into a failed
// launch, as a GPU does, instead of the end of the process.
#pragma once

#include <csetjmp>
#include <string>

namespace culebra_emu {

struct Fault {
  int signal = 0;
  int code = 0;
  const void* address = nullptr;
};

// While one is armed on an OS thread, a fault there comes back to its landing:
//
//   FaultScope scope;
//   if (sigsetjmp(scope.landing, 0) == 0) { scope.arm(); ...run the kernel...; } else { ...scope.fault()... }
//
// All other faults go where they went before: a JVM uses the same signals for its own purposes.
class FaultScope {
 public:
  FaultScope() = default;
  ~FaultScope();
  FaultScope(const FaultScope&) = delete;
  FaultScope& operator=(const FaultScope&) = delete;

  void arm();
  void disarm();
  const Fault& fault() const { return fault_; }

  // Called on the faulting stack just before the jump.
  void (*before_jump)(void*) = nullptr;
  void* before_jump_argument = nullptr;

  sigjmp_buf landing;

  void take(const Fault& fault);

 private:
  Fault fault_;
};

// The handler needs a stack of its own on each OS thread that runs kernels: a fiber's may be the one that overflowed.
void prepare_thread_for_faults();

}  // namespace culebra_emu

// Turns a hardware fault inside a kernel (a bad address, a failed alignment check, a stack
// overflow) or a copy into a failed device, as a GPU does, instead of the end of the process. A
// kernel that goes on beyond its time is ended the same way.
#pragma once

#include <csetjmp>
#include <cstdint>
#include <ctime>
#include <optional>

namespace culebra_emu {

struct Fault {
  int signal = 0;
  int code = 0;
  const void* address = nullptr;
  // Not a fault: what ran at the address (in code) has no time left.
  bool timed_out = false;
};

// While one is armed on an OS thread, a fault there comes back to its landing:
//
//   FaultScope scope;
//   if (sigsetjmp(scope.landing, 0) == 0) { scope.arm(); ...run the kernel...; } else {
//   ...scope.fault()... }
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

  // Asked by a TimeLimit, in a signal handler, each time it looks: whether what runs at this
  // address may be left there for good. Without an answer it may not.
  bool (*may_leave)(void*, const void* code) = nullptr;
  void* may_leave_argument = nullptr;

  sigjmp_buf landing;

  void take(const Fault& fault);

 private:
  Fault fault_;
};

// Looks at what an OS thread does when a time is over, and then every few milliseconds: the armed
// scope is left as by a fault as soon as it says that it may be.
class TimeLimit {
 public:
  static TimeLimit& of_this_thread();

  TimeLimit();
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  void start(std::uint64_t seconds);
  void stop();

 private:
  timer_t timer_ = {};
  bool exists_ = false;
};

// A fault that no scope takes: of which instruction, called from where if that is known.
enum class AccessKind { kRead, kWrite, kUnknown };
struct AccessFault {
  const void* code = nullptr;
  const void* return_address = nullptr;
  const void* address = nullptr;
  // The processor gives none for an address that cannot be one; `address` is then null.
  bool has_no_address = false;
  AccessKind kind = AccessKind::kUnknown;
};

// `watch` is told of each of them, in the signal handler, before it goes on to where it went
// before. Called once.
void watch_faults(void (*watch)(const AccessFault&));

// The handler needs a stack of its own on each OS thread that runs kernels: a fiber's may be the
// one that overflowed.
void prepare_thread_for_faults();

// Runs the work on this OS thread and returns the fault that ended it, if one did. What the work
// has on its stack is then dropped without being destroyed.
template <class Work>
std::optional<Fault> run_until_fault(const Work& work) {
  prepare_thread_for_faults();
  FaultScope scope;
  if (sigsetjmp(scope.landing, 0) != 0) return scope.fault();
  scope.arm();
  work();
  return std::nullopt;
}

}  // namespace culebra_emu

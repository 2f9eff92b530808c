#include "execution/fault.h"

#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "fast_tls.h"

namespace culebra_emu {
namespace {

// Read in a signal handler on threads that are not ours, where the first touch of an ordinary
// thread-local of a loaded library may allocate: hence the static model.
CULEBRA_EMU_FAST_TLS thread_local FaultScope* armed = nullptr;

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
struct sigaction previous[NSIG];

void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = previous[signal];
  if ((action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction != nullptr) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler == SIG_DFL) {
    // The instruction runs again and meets the default action: the process ends as if we were not
    // here.
    std::signal(signal, SIG_DFL);
  } else if (action.sa_handler != SIG_IGN) {
    action.sa_handler(signal);
  }
}

const void* running_code(const void* context) {
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return reinterpret_cast<const void*>(registers.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void*>(registers.pc);
#else
#error "where a signal's context has the program counter is not known for this processor"
#endif
}

AccessFault describe(const siginfo_t& info, const void* context) {
  AccessFault fault;
  fault.code = running_code(context);
  fault.address = info.si_addr;
  fault.has_no_address = info.si_code == SI_KERNEL;
  const auto& registers = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  // Right for a function that has no frame, as memcpy and strlen are. (Where a stack overflows,
  // there may be nothing to read.)
  constexpr std::uintptr_t kNearStack = 1 << 20;
  const auto stack = static_cast<std::uintptr_t>(registers.gregs[REG_RSP]);
  const auto distance = reinterpret_cast<std::uintptr_t>(info.si_addr) - (stack - kNearStack);
  if (distance > 2 * kNearStack) {
    fault.return_address = *reinterpret_cast<void* const*>(stack);
  }
  constexpr long long kWriteBit = 2;
  if (!fault.has_no_address) {
    fault.kind =
        (registers.gregs[REG_ERR] & kWriteBit) != 0 ? AccessKind::kWrite : AccessKind::kRead;
  }
#elif defined(__aarch64__)
  constexpr int kLinkRegister = 30;
  fault.return_address = reinterpret_cast<const void*>(registers.regs[kLinkRegister]);
#endif
  return fault;
}

void (*watcher)(const AccessFault&) = nullptr;

void on_signal(int signal, siginfo_t* info, void* context) {
  FaultScope* scope = armed;
  // A signal that another process sent (si_code <= 0) says nothing about the kernel.
  if (scope == nullptr || info->si_code <= 0) {
    if (watcher != nullptr && info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS)) {
      watcher(describe(*info, context));
    }
    pass_on(signal, info, context);
    return;
  }
  scope->take({signal, info->si_code, info->si_addr});
}

void on_timer(int signal, siginfo_t*, void* context) {
  FaultScope* const scope = armed;
  if (scope == nullptr || scope->may_leave == nullptr) return;
  const void* const code = running_code(context);
  if (!scope->may_leave(scope->may_leave_argument, code)) return;
  scope->take({.signal = signal, .address = code, .timed_out = true});
}

// One that nobody else has asked for; 0 if there is none.
int choose_timer_signal() {
  for (int signal = SIGRTMAX; signal >= SIGRTMIN; --signal) {
    struct sigaction action = {};
    if (sigaction(signal, nullptr, &action) == 0 && (action.sa_flags & SA_SIGINFO) == 0 &&
        action.sa_handler == SIG_DFL) {
      action = {};
      action.sa_sigaction = &on_timer;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
      sigemptyset(&action.sa_mask);
      sigaction(signal, &action, nullptr);
      return signal;
    }
  }
  return 0;
}

int timer_signal() {
  static const int signal = choose_timer_signal();
  return signal;
}

// As late as cuInit: whoever installs handlers at start-up (a JVM) has done so by now, and we chain
// to it.
void install_handlers() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = &on_signal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int signal : kSignals) sigaction(signal, &action, &previous[signal]);
  });
}

}  // namespace

FaultScope::~FaultScope() { disarm(); }

void FaultScope::arm() { armed = this; }

void FaultScope::disarm() {
  if (armed == this) armed = nullptr;
}

void FaultScope::take(const Fault& fault) {
  armed = nullptr;
  fault_ = fault;
  // The handler is left by a jump, so the kernel does not unblock the signal.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, fault.signal);
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  if (before_jump != nullptr) before_jump(before_jump_argument);
  siglongjmp(landing, 1);
}

TimeLimit::TimeLimit() {
  if (timer_signal() == 0) return;
  sigevent event = {};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = timer_signal();
  event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
  exists_ = timer_create(CLOCK_MONOTONIC, &event, &timer_) == 0;
  // A thread has the mask of the one that made it.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, timer_signal());
  pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
}

TimeLimit::~TimeLimit() {
  if (exists_) timer_delete(timer_);
}

void TimeLimit::start(std::uint64_t seconds) {
  // From then on it looks again and again: a loop may call what must not be left.
  constexpr long kNanosecondsBetweenLooks = 5'000'000;
  const itimerspec times = {{0, kNanosecondsBetweenLooks}, {static_cast<time_t>(seconds), 0}};
  if (exists_) timer_settime(timer_, 0, &times, nullptr);
}

void TimeLimit::stop() {
  const itimerspec never = {};
  if (exists_) timer_settime(timer_, 0, &never, nullptr);
}

TimeLimit& TimeLimit::of_this_thread() {
  thread_local TimeLimit limit;
  return limit;
}

void watch_faults(void (*watch)(const AccessFault&)) {
  watcher = watch;
  install_handlers();
}

void prepare_thread_for_faults() {
  install_handlers();

  constexpr std::size_t kAlternateStackBytes = 64 * 1024;
  struct AlternateStack {
    std::unique_ptr<char[]> memory{new char[kAlternateStackBytes]};
    AlternateStack() { set(0); }
    ~AlternateStack() { set(SS_DISABLE); }
    void set(int flags) {
      stack_t stack = {};
      stack.ss_sp = memory.get();
      stack.ss_size = kAlternateStackBytes;
      stack.ss_flags = flags;
      sigaltstack(&stack, nullptr);
    }
  };
  thread_local AlternateStack stack;
}

}  // namespace culebra_emu

#include "execution/fault.h"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <mutex>

namespace culebra_emu {
namespace {

// Read in a signal handler on threads that are not ours, where the first touch of an ordinary
// thread-local of a loaded library may allocate: hence the static model.
__attribute__((tls_model("initial-exec"))) thread_local FaultScope* armed = nullptr;

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

void on_signal(int signal, siginfo_t* info, void* context) {
  FaultScope* scope = armed;
  // A signal that another process sent (si_code <= 0) says nothing about the kernel.
  if (scope == nullptr || info->si_code <= 0) {
    pass_on(signal, info, context);
    return;
  }
  scope->take({signal, info->si_code, info->si_addr});
}

void install_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = &on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, &previous[signal]);
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

void prepare_thread_for_faults() {
  // As late as the first kernel: whoever installs handlers at start-up (a JVM) has done so by now,
  // and we chain to it.
  static std::once_flag once;
  std::call_once(once, install_handlers);

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

// Fibers: stacks that an OS thread switches between in user code, about 12 ns a switch on x86-64.
#pragma once

#include <cstddef>
#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace culebra_emu {

// Stacks for fibers, mapped as they are asked for, each above a page that faults when the stack
// overflows. (Beyond the process's first some thousand there are no such pages: each takes two of
// the few mappings that a process may have.)
class FiberStacks {
 public:
  static constexpr std::size_t kStackBytes = 64 * 1024;
  // Stacks begin at different places of a page: else the hot ends of all of them would fall into
  // the same few sets of the caches.
  static constexpr std::size_t kStaggerBytes = 4096;

  FiberStacks();
  ~FiberStacks();
  FiberStacks(const FiberStacks&) = delete;
  FiberStacks& operator=(const FiberStacks&) = delete;

  // The lowest address of stack `index`, and how far above it the stack begins.
  char* base(std::size_t index);
  static std::size_t bytes(std::size_t index) {
    constexpr std::size_t kCacheLine = 64;
    return kStackBytes + index * 5 * kCacheLine % kStaggerBytes;
  }
  // Gives back all but about the first `count`.
  void trim(std::size_t count);
  // Whether the address lies in the guard page of one of the stacks.
  bool is_guard(const void* address) const;
  // Whether it lies in one of the stacks, or between them.
  bool contains(const void* address) const;

 private:
  static constexpr std::size_t kChunk = 1024;

  // Stacks that lie side by side.
  struct Chunk {
    char* memory;
    // The first so many have been used, and of these so many have a guard page.
    std::size_t used;
    std::size_t guarded;
  };

  std::size_t guard_bytes() const { return stride_ - kStackBytes - kStaggerBytes; }
  void guard(Chunk& chunk, std::size_t place) const;

  std::size_t stride_;
  std::vector<Chunk> chunks_;
};

// A place that execution can leave and come back to: a fiber's, or the scheduler's own.
class FiberContext {
 public:
  // The scheduler's own context, which is whatever runs at the first switch.
  FiberContext() = default;
  FiberContext(const FiberContext&) = delete;
  FiberContext& operator=(const FiberContext&) = delete;

  // Makes the next switch to this context call entry(argument) on the given stack; entry must not
  // return. What the context was doing is dropped.
  void reset(char* stack, std::size_t stack_bytes, void (*entry)(void*), void* argument);

  // Leaves `from`, the running context, for `to`; returns when something switches back to `from`.
  static void switch_to(FiberContext& from, FiberContext& to);

  // What an entry function calls first.
  void first_arrival() { arrived(); }

  // Tells the tools that execution comes back to this context by a jump instead of a switch.
  void before_jump_here();
  void after_jump_here();

 private:
  // Tells the tools that a context begins.
  void forget_past();
  void arrived();

  char* stack_ = nullptr;
  std::size_t stack_bytes_ = 0;
#if defined(__x86_64__)
  void* stack_pointer_ = nullptr;
#else
  ucontext_t context_;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  static void start(unsigned high, unsigned low);
#endif
  void* sanitizer_state_ = nullptr;
  FiberContext* came_from_ = nullptr;
};

}  // namespace culebra_emu

#include "execution/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace culebra_emu {
namespace {

// Of all executors together: a process may have 65,530 mappings (vm.max_map_count), and device
// memory needs some, too.
constexpr std::size_t kMostGuardedStacks = 12 * 1024;
std::atomic<std::size_t> guarded_stacks = 0;

}  // namespace

FiberStacks::FiberStacks()
    : stride_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) + kStackBytes + kStaggerBytes) {}

FiberStacks::~FiberStacks() { trim(0); }

char* FiberStacks::base(std::size_t index) {
  while (index >= chunks_.size() * kChunk) {
    chunks_.reserve(chunks_.size() + 1);
    void* memory = mmap(nullptr, kChunk * stride_, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    chunks_.push_back({static_cast<char*>(memory), 0, 0});
  }
  Chunk& chunk = chunks_[index / kChunk];
  const std::size_t place = index % kChunk;
  for (; chunk.used <= place; ++chunk.used) guard(chunk, chunk.used);
  return chunk.memory + place * stride_ + guard_bytes();
}

void FiberStacks::guard(Chunk& chunk, std::size_t place) const {
  if (guarded_stacks.fetch_add(1) >= kMostGuardedStacks ||
      mprotect(chunk.memory + place * stride_, guard_bytes(), PROT_NONE) != 0) {
    guarded_stacks.fetch_sub(1);
    return;
  }
  ++chunk.guarded;
}

void FiberStacks::trim(std::size_t count) {
  const std::size_t kept = (count + kChunk - 1) / kChunk;
  while (chunks_.size() > kept) {
    const Chunk& chunk = chunks_.back();
#if defined(__SANITIZE_ADDRESS__)
    // What comes to lie here next is no stack.
    __asan_unpoison_memory_region(chunk.memory, kChunk * stride_);
#endif
    munmap(chunk.memory, kChunk * stride_);
    guarded_stacks.fetch_sub(chunk.guarded);
    chunks_.pop_back();
  }
}

bool FiberStacks::is_guard(const void* address) const {
  for (const Chunk& chunk : chunks_) {
    const auto offset =
        reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(chunk.memory);
    if (offset < kChunk * stride_) return offset % stride_ < guard_bytes();
  }
  return false;
}

bool FiberStacks::contains(const void* address) const {
  return std::any_of(chunks_.begin(), chunks_.end(), [&](const Chunk& chunk) {
    return reinterpret_cast<std::uintptr_t>(address) -
               reinterpret_cast<std::uintptr_t>(chunk.memory) <
           kChunk * stride_;
  });
}

#if defined(__x86_64__)

// Saves what the System V ABI lets a callee use only after saving: six registers and the stack
// pointer. (The control words of the floating-point units are the same in all fibers.)
asm(R"(
.pushsection .text
.hidden culebra_emu_switch
.globl culebra_emu_switch
.type culebra_emu_switch, @function
culebra_emu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size culebra_emu_switch, . - culebra_emu_switch

.hidden culebra_emu_start
.globl culebra_emu_start
.type culebra_emu_start, @function
culebra_emu_start:
  .cfi_startproc
  .cfi_undefined rip
  movq %r12, %rdi
  callq *%r13
  ud2
  .cfi_endproc
.size culebra_emu_start, . - culebra_emu_start
.popsection
)");

extern "C" void culebra_emu_switch(void** saved_stack_pointer, void* target_stack_pointer);
extern "C" void culebra_emu_start();

void FiberContext::reset(char* stack, std::size_t stack_bytes, void (*entry)(void*),
                         void* argument) {
  stack_ = stack;
  stack_bytes_ = stack_bytes;
  forget_past();
  auto** top = reinterpret_cast<void**>(stack + stack_bytes_);
  // The frame that culebra_emu_switch pops: r15 r14 r13 r12 rbx rbp, and the return address. The
  // stack pointer is then a multiple of 16, as it must be before a call.
  top -= 2;
  *--top = reinterpret_cast<void*>(&culebra_emu_start);
  *--top = nullptr;
  *--top = nullptr;
  *--top = argument;
  *--top = reinterpret_cast<void*>(entry);
  *--top = nullptr;
  *--top = nullptr;
  stack_pointer_ = top;
}

#else

void FiberContext::start(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<FiberContext*>((static_cast<std::uintptr_t>(high) << 32) | low);
  self->entry_(self->argument_);
}

void FiberContext::reset(char* stack, std::size_t stack_bytes, void (*entry)(void*),
                         void* argument) {
  stack_ = stack;
  stack_bytes_ = stack_bytes;
  forget_past();
  entry_ = entry;
  argument_ = argument;
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack;
  context_.uc_stack.ss_size = stack_bytes_;
  context_.uc_link = nullptr;
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&context_, reinterpret_cast<void (*)()>(&FiberContext::start), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

#endif

void FiberContext::switch_to(FiberContext& from, FiberContext& to) {
  to.came_from_ = &from;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.sanitizer_state_, to.stack_, to.stack_bytes_);
#elif defined(__SANITIZE_THREAD__)
  // Anew each time: the scheduler's is that of the OS thread it happens to be on.
  from.sanitizer_state_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.sanitizer_state_, 0);
#endif
#if defined(__x86_64__)
  culebra_emu_switch(&from.stack_pointer_, to.stack_pointer_);
#else
  swapcontext(&from.context_, &to.context_);
#endif
  from.arrived();
}

void FiberContext::forget_past() {
#if defined(__SANITIZE_THREAD__)
  if (sanitizer_state_ != nullptr) __tsan_destroy_fiber(sanitizer_state_);
  sanitizer_state_ = __tsan_create_fiber(0);
#else
  sanitizer_state_ = nullptr;
#endif
}

void FiberContext::arrived() {
#if defined(__SANITIZE_ADDRESS__)
  const void* stack = nullptr;
  std::size_t bytes = 0;
  __sanitizer_finish_switch_fiber(sanitizer_state_, &stack, &bytes);
  // This is how the bounds of an OS thread's stack become known.
  if (came_from_->stack_ == nullptr) {
    came_from_->stack_ = static_cast<char*>(const_cast<void*>(stack));
    came_from_->stack_bytes_ = bytes;
  }
#endif
}

// Not instrumented: it would leave the function in another fiber than it entered it in.
__attribute__((no_sanitize_thread)) void FiberContext::before_jump_here() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(nullptr, stack_, stack_bytes_);
#elif defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(sanitizer_state_, 0);
#endif
}

void FiberContext::after_jump_here() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(sanitizer_state_, nullptr, nullptr);
#endif
}

}  // namespace culebra_emu

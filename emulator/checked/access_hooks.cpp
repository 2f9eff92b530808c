// Part of a checked image, and compiled without instrumentation itself: what the compiler's
// -fsanitize=thread calls before each load and store of the kernels, and -fsanitize=bounds for an
// index outside of its array. There is no runtime library of a sanitizer behind it; each call is
// handed to the emulator, which knows what is allowed.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "culebra_emu/access.h"
#include "culebra_emu/misaligned.h"
#include "culebra_emu/thread.h"

namespace {

using namespace culebra_emu;

// A thread that nobody runs: the image is registering its kernels.
void tell(const volatile void* address, std::size_t bytes, std::uint32_t kind, const void* code) {
  Thread* const thread = current_thread;
  if (thread == nullptr) return;
  runtime->access(thread, const_cast<const void*>(address), bytes, kind, code);
}

// Of the next atomic access.
constinit thread_local bool within_block = false;

// `kind` says whether it reads and writes, `order` is as the compiler numbers memory orders.
void tell_atomic(const volatile void* address, std::size_t bytes, std::uint32_t kind, int order,
                 const void* code) {
  const bool acquires = order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
  const bool releases =
      order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_SEQ_CST;
  std::uint32_t bits = kind | kAccessAtomic;
  if ((kind & kAccessRead) != 0) bits |= kAccessAcquire | (acquires ? kAccessDeviceAcquire : 0);
  if ((kind & kAccessWrite) != 0) bits |= kAccessRelease | (releases ? kAccessDeviceRelease : 0);
  if (std::exchange(within_block, false)) bits |= kAccessWithinBlock;
  tell(address, bytes, bits, code);
}

// As the compiler lays out what it knows of an index: where it is used, and how types are called.
struct TypeName {
  std::uint16_t kind;
  std::uint16_t info;  // of an integer: whether it is signed, and above that the log2 of its bits
  char text[1];        // in quotation marks
};
struct IndexCheck {
  const char* file;
  std::uint32_t line;
  std::uint32_t column;
  const TypeName* array;
  const TypeName* index;
};

void tell_index(const IndexCheck& check, std::uintptr_t index, const void* code) {
  Thread* const thread = current_thread;
  if (thread == nullptr) return;
  // An index of fewer than 64 bits comes with zeros above.
  const unsigned above = 64 - (1u << (check.index->info >> 1));
  const std::int64_t value = static_cast<std::int64_t>(std::uint64_t{index} << above) >> above;
  char text[256];
  if ((check.index->info & 1) != 0) {
    std::snprintf(text, sizeof text, "%lld of an array %s", static_cast<long long>(value),
                  check.array->text);
  } else {
    std::snprintf(text, sizeof text, "%llu of an array %s", static_cast<unsigned long long>(index),
                  check.array->text);
  }
  runtime->out_of_bounds(thread, text, code);
}

}  // namespace

#define HERE __builtin_return_address(0)

extern "C" {

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}

// A polling loop reads a volatile variable that another thread stores to: the two order what is
// around them.
#define PLAIN_HOOKS(bytes)                                                              \
  void __tsan_read##bytes(void* address) { tell(address, bytes, kAccessRead, HERE); }   \
  void __tsan_write##bytes(void* address) { tell(address, bytes, kAccessWrite, HERE); } \
  void __tsan_volatile_read##bytes(void* address) {                                     \
    tell(address, bytes, kAccessRead | kAccessAtomic | kAccessAcquire, HERE);           \
  }                                                                                     \
  void __tsan_volatile_write##bytes(void* address) {                                    \
    tell(address, bytes, kAccessWrite | kAccessAtomic | kAccessRelease, HERE);          \
  }
#define UNALIGNED_HOOKS(bytes)                                                                    \
  void __tsan_unaligned_read##bytes(void* address) { tell(address, bytes, kAccessRead, HERE); }   \
  void __tsan_unaligned_write##bytes(void* address) { tell(address, bytes, kAccessWrite, HERE); } \
  void __tsan_unaligned_volatile_read##bytes(void* address) {                                     \
    tell(address, bytes, kAccessRead | kAccessAtomic | kAccessAcquire, HERE);                     \
  }                                                                                               \
  void __tsan_unaligned_volatile_write##bytes(void* address) {                                    \
    tell(address, bytes, kAccessWrite | kAccessAtomic | kAccessRelease, HERE);                    \
  }
PLAIN_HOOKS(1)
PLAIN_HOOKS(2)
PLAIN_HOOKS(4)
PLAIN_HOOKS(8)
PLAIN_HOOKS(16)
UNALIGNED_HOOKS(2)
UNALIGNED_HOOKS(4)
UNALIGNED_HOOKS(8)
UNALIGNED_HOOKS(16)
#undef PLAIN_HOOKS
#undef UNALIGNED_HOOKS

void __tsan_read_range(void* address, std::size_t bytes) {
  tell(address, bytes, kAccessRead, HERE);
}
void __tsan_write_range(void* address, std::size_t bytes) {
  tell(address, bytes, kAccessWrite, HERE);
}
void __tsan_vptr_read(void** address) { tell(address, sizeof(void*), kAccessRead, HERE); }
void __tsan_vptr_update(void** address, void*) { tell(address, sizeof(void*), kAccessWrite, HERE); }

#define EXCHANGE_HOOK(bits, operation, builtin)                                                 \
  std::uint##bits##_t __tsan_atomic##bits##_##operation(volatile std::uint##bits##_t* address,  \
                                                        std::uint##bits##_t value, int order) { \
    tell_atomic(address, bits / 8, kAccessRead | kAccessWrite, order, HERE);                    \
    return builtin(address, value, __ATOMIC_SEQ_CST);                                           \
  }
#define COMPARE_HOOK(bits, strength)                                                        \
  bool __tsan_atomic##bits##_compare_exchange_##strength(                                   \
      volatile std::uint##bits##_t* address, std::uint##bits##_t* expected,                 \
      std::uint##bits##_t desired, int order, int) {                                        \
    tell_atomic(address, bits / 8, kAccessRead | kAccessWrite, order, HERE);                \
    return __atomic_compare_exchange_n(address, expected, desired, false, __ATOMIC_SEQ_CST, \
                                       __ATOMIC_SEQ_CST);                                   \
  }
#define ATOMIC_HOOKS(bits)                                                                    \
  std::uint##bits##_t __tsan_atomic##bits##_load(const volatile std::uint##bits##_t* address, \
                                                 int order) {                                 \
    tell_atomic(address, bits / 8, kAccessRead, order, HERE);                                 \
    return __atomic_load_n(address, __ATOMIC_SEQ_CST);                                        \
  }                                                                                           \
  void __tsan_atomic##bits##_store(volatile std::uint##bits##_t* address,                     \
                                   std::uint##bits##_t value, int order) {                    \
    tell_atomic(address, bits / 8, kAccessWrite, order, HERE);                                \
    __atomic_store_n(address, value, __ATOMIC_SEQ_CST);                                       \
  }                                                                                           \
  EXCHANGE_HOOK(bits, exchange, __atomic_exchange_n)                                          \
  EXCHANGE_HOOK(bits, fetch_add, __atomic_fetch_add)                                          \
  EXCHANGE_HOOK(bits, fetch_sub, __atomic_fetch_sub)                                          \
  EXCHANGE_HOOK(bits, fetch_and, __atomic_fetch_and)                                          \
  EXCHANGE_HOOK(bits, fetch_or, __atomic_fetch_or)                                            \
  EXCHANGE_HOOK(bits, fetch_xor, __atomic_fetch_xor)                                          \
  EXCHANGE_HOOK(bits, fetch_nand, __atomic_fetch_nand)                                        \
  COMPARE_HOOK(bits, strong)                                                                  \
  COMPARE_HOOK(bits, weak)
ATOMIC_HOOKS(8)
ATOMIC_HOOKS(16)
ATOMIC_HOOKS(32)
ATOMIC_HOOKS(64)
#undef ATOMIC_HOOKS
#undef COMPARE_HOOK
#undef EXCHANGE_HOOK

void culebra_emu_within_block() { within_block = true; }

void __tsan_atomic_thread_fence(int) {
  if (Thread* const thread = current_thread; thread != nullptr) runtime->fence(thread);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
// Also a fence for the block alone.
void __tsan_atomic_signal_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

void __ubsan_handle_out_of_bounds(const IndexCheck* check, std::uintptr_t index) {
  tell_index(*check, index, HERE);
}

// The compiler does not instrument the C library's block functions; the linker sends the kernels'
// calls of them here.
void* __real_memcpy(void* to, const void* from, std::size_t bytes);
void* __real_memmove(void* to, const void* from, std::size_t bytes);
void* __real_memset(void* to, int value, std::size_t bytes);

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) {
  tell(from, bytes, kAccessRead, HERE);
  tell(to, bytes, kAccessWrite, HERE);
  return __real_memcpy(to, from, bytes);
}
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) {
  tell(from, bytes, kAccessRead, HERE);
  tell(to, bytes, kAccessWrite, HERE);
  return __real_memmove(to, from, bytes);
}
void* __wrap_memset(void* to, int value, std::size_t bytes) {
  tell(to, bytes, kAccessWrite, HERE);
  return __real_memset(to, value, bytes);
}

}  // extern "C"

// Atomics on global and shared memory. Blocks run on several OS threads, so these are real ones;
// all are sequentially consistent over the whole machine, whatever order and scope they ask for. A
// checked image tells what they asked for.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "culebra_emu/access.h"
#include "culebra_emu/bf16.h"
#include "culebra_emu/fp16.h"
#include "culebra_emu/thread.h"
#include "culebra_emu/vector_types.h"

#define CULEBRA_EMU_INLINE __attribute__((always_inline)) inline

#ifdef CULEBRA_EMU_CHECKED
// The next atomic access of the OS thread is none for other blocks (checked/access_hooks.cpp).
extern "C" void culebra_emu_within_block();
#endif

namespace culebra_emu {

// By the names of the PTX ISA.
enum class Order { relaxed, acquire, release, acq_rel };

template <Order kOrder>
constexpr int kMemoryOrder =
#ifdef CULEBRA_EMU_CHECKED
    kOrder == Order::relaxed   ? __ATOMIC_RELAXED
    : kOrder == Order::acquire ? __ATOMIC_ACQUIRE
    : kOrder == Order::release ? __ATOMIC_RELEASE
                               : __ATOMIC_ACQ_REL;
#else
    __ATOMIC_SEQ_CST;
#endif

template <Scope kScope>
CULEBRA_EMU_INLINE void tell_scope() {
#ifdef CULEBRA_EMU_CHECKED
  if constexpr (!reaches_other_blocks(kScope)) culebra_emu_within_block();
#endif
}

// A thread that finds the same value at the same place twice in a row is polling. It must let the
// others run: they share its OS thread.
struct LastPoll {
  const Thread* thread;
  const volatile void* address;
  std::uint64_t value;
};

inline constinit thread_local LastPoll last_poll = {};

inline void note_poll(const volatile void* address, std::uint64_t value) {
  Thread* const self = &this_thread();
  if (last_poll.thread == self && last_poll.address == address && last_poll.value == value) {
    runtime->yield(self, 0);
  }
  last_poll = {self, address, value};
}

template <std::size_t kBytes>
struct BitsOf;
template <>
struct BitsOf<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

inline void require_atomic_alignment(const volatile void* address, std::uintptr_t bytes) {
  constexpr std::uint32_t kMisalignedAddress = 716;
  if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
    runtime->fail(&this_thread(), kMisalignedAddress, "misaligned address of an atomic access");
  }
}

// Replaces *address by update(*address) at once; returns the old value. Compares bits, so a NaN
// does not loop forever.
// (Inlined, as all that follow, so that a diagnosis finds the kernel's own line.)
template <Order kOrder = Order::relaxed, Scope kScope = Scope::gpu, class T, class Update>
CULEBRA_EMU_INLINE T atomic_update(T* address, Update update) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  require_atomic_alignment(address, sizeof(T));
  Bits* cell = reinterpret_cast<Bits*>(address);
#ifdef CULEBRA_EMU_CHECKED
  // The exchange alone is told of, since a load before it would be called one.
  Bits expected = 0;
#else
  Bits expected = __atomic_load_n(cell, __ATOMIC_RELAXED);
#endif
  for (;;) {
    const T old = std::bit_cast<T>(expected);
    const Bits desired = std::bit_cast<Bits>(static_cast<T>(update(old)));
    tell_scope<kScope>();
    if (__atomic_compare_exchange_n(cell, &expected, desired, true, kMemoryOrder<kOrder>,
                                    __ATOMIC_RELAXED)) {
      // One that changes nothing may be a look at a lock.
      if (desired == expected) note_poll(address, static_cast<std::uint64_t>(desired));
      return old;
    }
  }
}

// What ld.acquire, ld.relaxed and ld.volatile of 1 to 8 bytes read.
template <Order kOrder, Scope kScope, class T>
CULEBRA_EMU_INLINE T atomic_load(const volatile T* address) {
  require_atomic_alignment(address, sizeof(T));
  tell_scope<kScope>();
  const T value = __atomic_load_n(address, kMemoryOrder<kOrder>);
  note_poll(address, static_cast<std::uint64_t>(value));
  return value;
}

template <Order kOrder, Scope kScope, class T>
CULEBRA_EMU_INLINE void atomic_store(volatile T* address, std::type_identity_t<T> value) {
  require_atomic_alignment(address, sizeof(T));
  tell_scope<kScope>();
  __atomic_store_n(address, value, kMemoryOrder<kOrder>);
}

// The sum, rounded to the type as the device rounds it.
template <class T>
T sum_of(T a, T b) {
  if constexpr (std::is_same_v<T, __half2> || std::is_same_v<T, __nv_bfloat162>) {
    return {sum_of(a.x, b.x), sum_of(a.y, b.y)};
  } else if constexpr (std::is_same_v<T, __half> || std::is_same_v<T, __nv_bfloat16>) {
    return T(static_cast<float>(a) + static_cast<float>(b));
  } else {
    return static_cast<T>(a + b);
  }
}

template <Order kOrder, Scope kScope, class T>
CULEBRA_EMU_INLINE T atomic_add(T* address, std::type_identity_t<T> value) {
  return atomic_update<kOrder, kScope>(address, [value](T old) { return sum_of(old, value); });
}

#if defined(__x86_64__)
using Bits128 = unsigned __int128;

// (Not seen by the compiler's instrumentation.)
__attribute__((target("cx16"), no_sanitize_thread)) inline Bits128 compare_and_swap_128(
    Bits128* cell, Bits128 expected, Bits128 desired) {
  return __sync_val_compare_and_swap(cell, expected, desired);
}

template <Scope kScope>
CULEBRA_EMU_INLINE void tell_of_128(Bits128* cell) {
#ifdef CULEBRA_EMU_CHECKED
  const void* here;
  __asm__("leaq (%%rip), %0" : "=r"(here));
  runtime->access(&this_thread(), cell, sizeof *cell,
                  kAccessRead | kAccessWrite | kAccessAtomic | kAccessAcquire | kAccessRelease |
                      (reaches_other_blocks(kScope) ? 0 : kAccessWithinBlock),
                  here);
#else
  static_cast<void>(cell);
#endif
}

template <class T>
constexpr bool kIs128Bits = sizeof(T) == 16 && std::is_trivially_copyable_v<T>;
#else
template <class T>
constexpr bool kIs128Bits = false;
#endif

template <Order kOrder, Scope kScope, class T>
CULEBRA_EMU_INLINE T atomic_compare_and_swap(T* address, std::type_identity_t<T> compare,
                                             std::type_identity_t<T> value) {
#if defined(__x86_64__)
  if constexpr (kIs128Bits<T>) {
    require_atomic_alignment(address, sizeof(T));
    tell_of_128<kScope>(reinterpret_cast<Bits128*>(address));
    const Bits128 expected = std::bit_cast<Bits128>(compare);
    const Bits128 old = compare_and_swap_128(reinterpret_cast<Bits128*>(address), expected,
                                             std::bit_cast<Bits128>(value));
    if (old != expected) note_poll(address, static_cast<std::uint64_t>(old));
    return std::bit_cast<T>(old);
  } else
#endif
  {
    // Bit by bit, as the device compares.
    using Bits = typename BitsOf<sizeof(T)>::type;
    return atomic_update<kOrder, kScope>(address, [=](T old) {
      return std::bit_cast<Bits>(old) == std::bit_cast<Bits>(static_cast<T>(compare)) ? value : old;
    });
  }
}

template <Order kOrder, Scope kScope, class T>
CULEBRA_EMU_INLINE T atomic_exchange(T* address, std::type_identity_t<T> value) {
  if constexpr (kIs128Bits<T>) {
    T old = value;
    for (;;) {
      const T seen = atomic_compare_and_swap<kOrder, kScope>(address, old, value);
      if (std::memcmp(&seen, &old, sizeof old) == 0) return old;
      old = seen;
    }
  } else {
    return atomic_update<kOrder, kScope>(address, [=](T) { return value; });
  }
}

}  // namespace culebra_emu

// CUDA's own are relaxed. std::type_identity lets the value convert to the cell's type, as it does
// with CUDA's overloads.
#define CULEBRA_EMU_ATOMIC_OF(name, scope, expression)                   \
  template <class T>                                                     \
  CULEBRA_EMU_INLINE T name(T* address, std::type_identity_t<T> value) { \
    using namespace culebra_emu;                                         \
    return atomic_update<Order::relaxed, Scope::scope>(                  \
        address, [value](T old) { return static_cast<T>(expression); }); \
  }
#define CULEBRA_EMU_ATOMIC(name, expression)           \
  CULEBRA_EMU_ATOMIC_OF(name, gpu, expression)         \
  CULEBRA_EMU_ATOMIC_OF(name##_block, cta, expression) \
  CULEBRA_EMU_ATOMIC_OF(name##_system, sys, expression)
CULEBRA_EMU_ATOMIC(atomicAdd, sum_of(old, value))
CULEBRA_EMU_ATOMIC(atomicSub, old - value)
CULEBRA_EMU_ATOMIC(atomicMax, old < value ? value : old)
CULEBRA_EMU_ATOMIC(atomicMin, value < old ? value : old)
CULEBRA_EMU_ATOMIC(atomicAnd, (old & value))
CULEBRA_EMU_ATOMIC(atomicOr, old | value)
CULEBRA_EMU_ATOMIC(atomicXor, old ^ value)
CULEBRA_EMU_ATOMIC(atomicInc, old >= value ? T{0} : old + 1)
CULEBRA_EMU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef CULEBRA_EMU_ATOMIC
#undef CULEBRA_EMU_ATOMIC_OF

// Vectors are added component by component, each at once.
CULEBRA_EMU_INLINE float2 atomicAdd(float2* address, float2 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y)};
}
CULEBRA_EMU_INLINE float4 atomicAdd(float4* address, float4 value) {
  return {atomicAdd(&address->x, value.x), atomicAdd(&address->y, value.y),
          atomicAdd(&address->z, value.z), atomicAdd(&address->w, value.w)};
}

#define CULEBRA_EMU_EXCHANGES(suffix, scope)                                               \
  template <class T>                                                                       \
  CULEBRA_EMU_INLINE T atomicCAS##suffix(T* address, std::type_identity_t<T> compare,      \
                                         std::type_identity_t<T> value) {                  \
    using namespace culebra_emu;                                                           \
    return atomic_compare_and_swap<Order::relaxed, Scope::scope>(address, compare, value); \
  }                                                                                        \
  template <class T>                                                                       \
  CULEBRA_EMU_INLINE T atomicExch##suffix(T* address, std::type_identity_t<T> value) {     \
    using namespace culebra_emu;                                                           \
    return atomic_exchange<Order::relaxed, Scope::scope>(address, value);                  \
  }
CULEBRA_EMU_EXCHANGES(, gpu)
CULEBRA_EMU_EXCHANGES(_block, cta)
CULEBRA_EMU_EXCHANGES(_system, sys)
#undef CULEBRA_EMU_EXCHANGES

#undef CULEBRA_EMU_INLINE

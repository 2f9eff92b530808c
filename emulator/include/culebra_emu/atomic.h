// Atomics on global and shared memory. Blocks run on several OS threads, so these are real ones;
// all are sequentially consistent over the whole machine, whatever order and scope they ask for.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "culebra_emu/bf16.h"
#include "culebra_emu/fp16.h"
#include "culebra_emu/thread.h"
#include "culebra_emu/vector_types.h"

#define CULEBRA_EMU_INLINE __attribute__((always_inline)) inline

namespace culebra_emu {

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
template <class T, class Update>
CULEBRA_EMU_INLINE T atomic_update(T* address, Update update) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  require_atomic_alignment(address, sizeof(T));
  Bits* cell = reinterpret_cast<Bits*>(address);
#if defined(__SANITIZE_THREAD__)
  // A checked image: the exchange alone is told of, since a load before it would be called one.
  Bits expected = 0;
#else
  Bits expected = __atomic_load_n(cell, __ATOMIC_RELAXED);
#endif
  for (;;) {
    const T old = std::bit_cast<T>(expected);
    const Bits desired = std::bit_cast<Bits>(static_cast<T>(update(old)));
    if (__atomic_compare_exchange_n(cell, &expected, desired, true, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED)) {
      // One that changes nothing may be a look at a lock.
      if (desired == expected) note_poll(address, static_cast<std::uint64_t>(desired));
      return old;
    }
  }
}

// What ld.acquire, ld.relaxed and ld.volatile of 1 to 8 bytes read.
template <class T>
CULEBRA_EMU_INLINE T atomic_load(const volatile T* address) {
  require_atomic_alignment(address, sizeof(T));
  const T value = __atomic_load_n(address, __ATOMIC_SEQ_CST);
  note_poll(address, static_cast<std::uint64_t>(value));
  return value;
}

template <class T>
CULEBRA_EMU_INLINE void atomic_store(volatile T* address, std::type_identity_t<T> value) {
  require_atomic_alignment(address, sizeof(T));
  __atomic_store_n(address, value, __ATOMIC_SEQ_CST);
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

#if defined(__x86_64__)
using Bits128 = unsigned __int128;

// (Not seen by the checks of -fsanitize=thread.)
__attribute__((target("cx16"), no_sanitize_thread)) inline Bits128 compare_and_swap_128(
    Bits128* cell, Bits128 expected, Bits128 desired) {
  return __sync_val_compare_and_swap(cell, expected, desired);
}

template <class T>
constexpr bool kIs128Bits = sizeof(T) == 16 && std::is_trivially_copyable_v<T>;
#else
template <class T>
constexpr bool kIs128Bits = false;
#endif

}  // namespace culebra_emu

// std::type_identity lets the value convert to the cell's type, as it does with CUDA's overloads.
#define CULEBRA_EMU_ATOMIC_OF(name, expression)                                               \
  template <class T>                                                                          \
  CULEBRA_EMU_INLINE T name(T* address, std::type_identity_t<T> value) {                      \
    return culebra_emu::atomic_update(address,                                                \
                                      [value](T old) { return static_cast<T>(expression); }); \
  }
// For the device, the block, the system: all the same here.
#define CULEBRA_EMU_ATOMIC(name, expression)      \
  CULEBRA_EMU_ATOMIC_OF(name, expression)         \
  CULEBRA_EMU_ATOMIC_OF(name##_block, expression) \
  CULEBRA_EMU_ATOMIC_OF(name##_system, expression)
CULEBRA_EMU_ATOMIC(atomicAdd, culebra_emu::sum_of(old, value))
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

template <class T>
CULEBRA_EMU_INLINE T atomicCAS(T* address, std::type_identity_t<T> compare,
                               std::type_identity_t<T> value) {
#if defined(__x86_64__)
  if constexpr (culebra_emu::kIs128Bits<T>) {
    using Bits = culebra_emu::Bits128;
    culebra_emu::require_atomic_alignment(address, sizeof(T));
    const Bits expected = std::bit_cast<Bits>(compare);
    const Bits old = culebra_emu::compare_and_swap_128(reinterpret_cast<Bits*>(address), expected,
                                                       std::bit_cast<Bits>(value));
    if (old != expected) culebra_emu::note_poll(address, static_cast<std::uint64_t>(old));
    return std::bit_cast<T>(old);
  } else
#endif
  {
    // Bit by bit, as the device compares.
    using Bits = typename culebra_emu::BitsOf<sizeof(T)>::type;
    return culebra_emu::atomic_update(address, [=](T old) {
      return std::bit_cast<Bits>(old) == std::bit_cast<Bits>(static_cast<T>(compare)) ? value : old;
    });
  }
}

template <class T>
CULEBRA_EMU_INLINE T atomicExch(T* address, std::type_identity_t<T> value) {
#if defined(__x86_64__)
  if constexpr (culebra_emu::kIs128Bits<T>) {
    T old;
    std::memcpy(static_cast<void*>(&old), address, sizeof old);
    for (;;) {
      const T seen = atomicCAS(address, old, value);
      if (std::memcmp(&seen, &old, sizeof old) == 0) return old;
      old = seen;
    }
  } else
#endif
  {
    return culebra_emu::atomic_update(address, [=](T) { return value; });
  }
}

template <class T>
CULEBRA_EMU_INLINE T atomicCAS_block(T* address, std::type_identity_t<T> compare,
                                     std::type_identity_t<T> value) {
  return atomicCAS(address, compare, value);
}
template <class T>
CULEBRA_EMU_INLINE T atomicCAS_system(T* address, std::type_identity_t<T> compare,
                                      std::type_identity_t<T> value) {
  return atomicCAS(address, compare, value);
}
template <class T>
CULEBRA_EMU_INLINE T atomicExch_block(T* address, std::type_identity_t<T> value) {
  return atomicExch(address, value);
}
template <class T>
CULEBRA_EMU_INLINE T atomicExch_system(T* address, std::type_identity_t<T> value) {
  return atomicExch(address, value);
}

#undef CULEBRA_EMU_INLINE

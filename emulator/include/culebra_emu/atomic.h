// Atomics on global and shared memory. Blocks run on several OS threads, so these are real ones.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace culebra_emu {

template <std::size_t kBytes>
struct BitsOf;
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

// Replaces *address by update(*address) at once; returns the old value. Compares bits, so a NaN
// does not loop forever.
// (Inlined, so that a diagnosis finds the kernel's own line.)
template <class T, class Update>
__attribute__((always_inline)) inline T atomic_update(T* address, Update update) {
  using Bits = typename BitsOf<sizeof(T)>::type;
  Bits* cell = reinterpret_cast<Bits*>(address);
  Bits expected = __atomic_load_n(cell, __ATOMIC_RELAXED);
  for (;;) {
    const T old = std::bit_cast<T>(expected);
    const Bits desired = std::bit_cast<Bits>(static_cast<T>(update(old)));
    if (__atomic_compare_exchange_n(cell, &expected, desired, true, __ATOMIC_SEQ_CST,
                                    __ATOMIC_RELAXED)) {
      return old;
    }
  }
}

}  // namespace culebra_emu

// std::type_identity lets the value convert to the cell's type, as it does with CUDA's overloads.
#define CULEBRA_EMU_ATOMIC(name, expression)                                                  \
  template <class T>                                                                          \
  __attribute__((always_inline)) inline T name(T* address, std::type_identity_t<T> value) {   \
    return culebra_emu::atomic_update(address,                                                \
                                      [value](T old) { return static_cast<T>(expression); }); \
  }
CULEBRA_EMU_ATOMIC(atomicAdd, old + value)
CULEBRA_EMU_ATOMIC(atomicSub, old - value)
CULEBRA_EMU_ATOMIC(atomicMax, old < value ? value : old)
CULEBRA_EMU_ATOMIC(atomicMin, value < old ? value : old)
CULEBRA_EMU_ATOMIC(atomicAnd, (old & value))
CULEBRA_EMU_ATOMIC(atomicOr, old | value)
CULEBRA_EMU_ATOMIC(atomicXor, old ^ value)
CULEBRA_EMU_ATOMIC(atomicExch, (static_cast<void>(old), value))
CULEBRA_EMU_ATOMIC(atomicInc, old >= value ? T{0} : old + 1)
CULEBRA_EMU_ATOMIC(atomicDec, old == 0 || old > value ? value : old - 1)
#undef CULEBRA_EMU_ATOMIC

template <class T>
__attribute__((always_inline)) inline T atomicCAS(T* address, std::type_identity_t<T> compare,
                                                  std::type_identity_t<T> value) {
  return culebra_emu::atomic_update(address, [=](T old) { return old == compare ? value : old; });
}

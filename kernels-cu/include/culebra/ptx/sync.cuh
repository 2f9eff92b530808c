// Loads, stores and atomics that order other accesses, for threads that talk through memory. The
// scope (cta, cluster: sm_90, gpu, sys) is that of the threads that talk. A loop that polls with
// one of the loads also makes progress on the emulator, where it lets the other threads run.
#pragma once

#include "culebra/platform.cuh"

namespace culebra::ptx {

#ifdef CULEBRA_HOST

#define CULEBRA_LOAD(order, scope, type, ctype, constraint)                              \
  __device__ __forceinline__ ctype ld_##order##_##scope##_##type(const ctype* address) { \
    using namespace culebra_emu;                                                         \
    return atomic_load<Order::order, Scope::scope>(address);                             \
  }
#define CULEBRA_STORE(order, scope, type, ctype, constraint)                                   \
  __device__ __forceinline__ void st_##order##_##scope##_##type(ctype* address, ctype value) { \
    using namespace culebra_emu;                                                               \
    atomic_store<Order::order, Scope::scope>(address, value);                                  \
  }
#define CULEBRA_ATOM_ADD(order, scope, type, ctype, constraint)                        \
  __device__ __forceinline__ ctype atom_add_##order##_##scope##_##type(ctype* address, \
                                                                       ctype value) {  \
    using namespace culebra_emu;                                                       \
    return atomic_add<Order::order, Scope::scope>(address, value);                     \
  }
#define CULEBRA_ATOM_CAS(order, scope, type, ctype, bits, constraint)                    \
  __device__ __forceinline__ ctype atom_cas_##order##_##scope##_##bits(                  \
      ctype* address, ctype compare, ctype value) {                                      \
    using namespace culebra_emu;                                                         \
    return atomic_compare_and_swap<Order::order, Scope::scope>(address, compare, value); \
  }
#define CULEBRA_RED_ADD(order, scope, type, ctype, constraint)                       \
  __device__ __forceinline__ void red_add_##order##_##scope##_##type(ctype* address, \
                                                                     ctype value) {  \
    using namespace culebra_emu;                                                     \
    atomic_add<Order::order, Scope::scope>(address, value);                          \
  }

#else

#define CULEBRA_LOAD(order, scope, type, ctype, constraint)                              \
  __device__ __forceinline__ ctype ld_##order##_##scope##_##type(const ctype* address) { \
    ctype value;                                                                         \
    asm volatile("ld." #order "." #scope "." #type " %0, [%1];"                          \
                 : "=" constraint(value)                                                 \
                 : "l"(address)                                                          \
                 : "memory");                                                            \
    return value;                                                                        \
  }
#define CULEBRA_STORE(order, scope, type, ctype, constraint)                                   \
  __device__ __forceinline__ void st_##order##_##scope##_##type(ctype* address, ctype value) { \
    asm volatile("st." #order "." #scope "." #type " [%0], %1;"                                \
                 :                                                                             \
                 : "l"(address), constraint(value)                                             \
                 : "memory");                                                                  \
  }
#define CULEBRA_ATOM_ADD(order, scope, type, ctype, constraint)                        \
  __device__ __forceinline__ ctype atom_add_##order##_##scope##_##type(ctype* address, \
                                                                       ctype value) {  \
    ctype old;                                                                         \
    asm volatile("atom.add." #order "." #scope "." #type " %0, [%1], %2;"              \
                 : "=" constraint(old)                                                 \
                 : "l"(address), constraint(value)                                     \
                 : "memory");                                                          \
    return old;                                                                        \
  }
#define CULEBRA_ATOM_CAS(order, scope, type, ctype, bits, constraint)         \
  __device__ __forceinline__ ctype atom_cas_##order##_##scope##_##bits(       \
      ctype* address, ctype compare, ctype value) {                           \
    ctype old;                                                                \
    asm volatile("atom.cas." #order "." #scope "." #bits " %0, [%1], %2, %3;" \
                 : "=" constraint(old)                                        \
                 : "l"(address), constraint(compare), constraint(value)       \
                 : "memory");                                                 \
    return old;                                                               \
  }
#define CULEBRA_RED_ADD(order, scope, type, ctype, constraint)                       \
  __device__ __forceinline__ void red_add_##order##_##scope##_##type(ctype* address, \
                                                                     ctype value) {  \
    asm volatile("red.add." #order "." #scope "." #type " [%0], %1;"                 \
                 :                                                                   \
                 : "l"(address), constraint(value)                                   \
                 : "memory");                                                        \
  }

#endif

// For each scope and type: ld_acquire_SCOPE_TYPE(address), st_release_SCOPE_TYPE(address, value),
// both relaxed, atom_add_ORDER_SCOPE_TYPE(address, value) and atom_cas_acq_rel_SCOPE_BITS(address,
// compare, value), which return the old value, and red_add_ORDER_SCOPE_TYPE(address, value).
#define CULEBRA_SYNC_OF(scope, type, ctype, bits, constraint)     \
  CULEBRA_LOAD(acquire, scope, type, ctype, constraint)           \
  CULEBRA_LOAD(relaxed, scope, type, ctype, constraint)           \
  CULEBRA_STORE(release, scope, type, ctype, constraint)          \
  CULEBRA_STORE(relaxed, scope, type, ctype, constraint)          \
  CULEBRA_ATOM_ADD(acq_rel, scope, type, ctype, constraint)       \
  CULEBRA_ATOM_ADD(relaxed, scope, type, ctype, constraint)       \
  CULEBRA_ATOM_CAS(acq_rel, scope, type, ctype, bits, constraint) \
  CULEBRA_RED_ADD(release, scope, type, ctype, constraint)        \
  CULEBRA_RED_ADD(relaxed, scope, type, ctype, constraint)
#define CULEBRA_SYNC(scope)                       \
  CULEBRA_SYNC_OF(scope, u32, uint32_t, b32, "r") \
  CULEBRA_SYNC_OF(scope, u64, uint64_t, b64, "l")

CULEBRA_SYNC(cta)
CULEBRA_SYNC(gpu)
CULEBRA_SYNC(sys)

#undef CULEBRA_SYNC
#undef CULEBRA_SYNC_OF
#undef CULEBRA_LOAD
#undef CULEBRA_STORE
#undef CULEBRA_ATOM_ADD
#undef CULEBRA_ATOM_CAS
#undef CULEBRA_RED_ADD

}  // namespace culebra::ptx

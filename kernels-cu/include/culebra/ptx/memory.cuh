// Loads and stores of global memory with what they tell the caches, and sums into global memory
// that give nothing back. Loads, stores and atomics with a scope are in the file beside this one.
//
// A hint changes speed only; the emulator knows no caches, but checks alignments.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// ld.global.v4.u32: 16 bytes from global memory; `address` must be 16-byte aligned. A plain
// (coherent) load, so it may read what the same kernel has written: operations allow out == in.
__device__ __forceinline__ uint4 ld_global_v4_u32(const void* address) {
#ifdef CULEBRA_HOST
  return culebra_emu::ld_global_v4_u32(address);
#else
  uint4 value;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return value;
#endif
}

// ld.global.L2::cache_hint.v4.u32: the same with a policy of createpolicy.
__device__ __forceinline__ uint4 ld_global_L2_cache_hint_v4_u32(const void* address,
                                                                uint64_t policy) {
#ifdef CULEBRA_HOST
  static_cast<void>(policy);
  return culebra_emu::ld_global_v4_u32(address);
#else
  uint4 value;
  asm volatile("ld.global.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(__cvta_generic_to_global(address)), "l"(policy)
               : "memory");
  return value;
#endif
}

// ld.global.nc.v4.u32: through the cache that is not coherent; for memory that nobody writes while
// the kernel runs.
__device__ __forceinline__ uint4 ld_global_nc_v4_u32(const void* address) {
#ifdef CULEBRA_HOST
  return culebra_emu::ld_global_v4_u32(address);
#else
  uint4 value;
  asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return value;
#endif
}

// ld.global.nc.L1::no_allocate.v4.u32: for what is read once.
__device__ __forceinline__ uint4 ld_global_nc_L1_no_allocate_v4_u32(const void* address) {
#ifdef CULEBRA_HOST
  return culebra_emu::ld_global_v4_u32(address);
#else
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(__cvta_generic_to_global(address))
               : "memory");
  return value;
#endif
}

// ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32: both.
__device__ __forceinline__ uint4
ld_global_nc_L1_no_allocate_L2_cache_hint_v4_u32(const void* address, uint64_t policy) {
#ifdef CULEBRA_HOST
  static_cast<void>(policy);
  return culebra_emu::ld_global_v4_u32(address);
#else
  uint4 value;
  asm volatile("ld.global.nc.L1::no_allocate.L2::cache_hint.v4.u32 {%0, %1, %2, %3}, [%4], %5;"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "l"(__cvta_generic_to_global(address)), "l"(policy)
               : "memory");
  return value;
#endif
}

// st.global.v4.u32: 16 bytes to global memory; `address` must be 16-byte aligned.
__device__ __forceinline__ void st_global_v4_u32(void* address, uint4 value) {
#ifdef CULEBRA_HOST
  culebra_emu::st_global_v4_u32(address, value);
#else
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(address)), "r"(value.x), "r"(value.y), "r"(value.z),
                 "r"(value.w)
               : "memory");
#endif
}

// st.global.L1::no_allocate.v4.u32: for what is not read again soon.
__device__ __forceinline__ void st_global_L1_no_allocate_v4_u32(void* address, uint4 value) {
#ifdef CULEBRA_HOST
  culebra_emu::st_global_v4_u32(address, value);
#else
  asm volatile("st.global.L1::no_allocate.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(address)), "r"(value.x), "r"(value.y), "r"(value.z),
                 "r"(value.w)
               : "memory");
#endif
}

// st.global.L2::cache_hint.v4.u32: with a policy of createpolicy.
__device__ __forceinline__ void st_global_L2_cache_hint_v4_u32(void* address, uint4 value,
                                                               uint64_t policy) {
#ifdef CULEBRA_HOST
  static_cast<void>(policy);
  culebra_emu::st_global_v4_u32(address, value);
#else
  asm volatile("st.global.L2::cache_hint.v4.u32 [%0], {%1, %2, %3, %4}, %5;"
               :
               : "l"(__cvta_generic_to_global(address)), "r"(value.x), "r"(value.y), "r"(value.z),
                 "r"(value.w), "l"(policy)
               : "memory");
#endif
}

// createpolicy.fractional.L2::evict_first.b64: a policy by which `fraction` of the lines, above 0
// and at most 1, leave the L2 cache first.
__device__ __forceinline__ uint64_t createpolicy_fractional_L2_evict_first_b64(float fraction) {
#ifdef CULEBRA_HOST
  return culebra_emu::createpolicy_fractional(fraction);
#else
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, %1;"
               : "=l"(policy)
               : "f"(fraction));
  return policy;
#endif
}

// createpolicy.fractional.L2::evict_last.b64: a policy by which `fraction` of the lines, above 0
// and at most 1, leave the L2 cache last.
__device__ __forceinline__ uint64_t createpolicy_fractional_L2_evict_last_b64(float fraction) {
#ifdef CULEBRA_HOST
  return culebra_emu::createpolicy_fractional(fraction);
#else
  uint64_t policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, %1;" : "=l"(policy) : "f"(fraction));
  return policy;
#endif
}

// prefetch.global.L2: brings the line of that address into the L2 cache, if there is memory; never
// faults.
__device__ __forceinline__ void prefetch_global_L2(const void* address) {
#ifdef CULEBRA_HOST
  static_cast<void>(address);
#else
  asm volatile("prefetch.global.L2 [%0];" : : "l"(__cvta_generic_to_global(address)));
#endif
}

// red.relaxed.gpu.global.add.f32: adds into memory. The order of several is not known, so a sum of
// them is repeatable only where it is exact.
__device__ __forceinline__ void red_relaxed_gpu_global_add_f32(void* address, float value) {
#ifdef CULEBRA_HOST
  culebra_emu::red_relaxed_gpu_global_add_f32(address, value);
#else
  asm volatile("red.relaxed.gpu.global.add.f32 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(address)), "f"(value)
               : "memory");
#endif
}

// red.relaxed.gpu.global.add.noftz.f16x2: each half by itself.
__device__ __forceinline__ void red_relaxed_gpu_global_add_noftz_f16x2(void* address,
                                                                       uint32_t value) {
#ifdef CULEBRA_HOST
  culebra_emu::red_relaxed_gpu_global_add_noftz_f16x2(address, value);
#else
  asm volatile("red.relaxed.gpu.global.add.noftz.f16x2 [%0], %1;"
               :
               : "l"(__cvta_generic_to_global(address)), "r"(value)
               : "memory");
#endif
}

// red.relaxed.gpu.global.add.noftz.bf16x2 (sm_90): each half by itself.
__device__ __forceinline__ void red_relaxed_gpu_global_add_noftz_bf16x2(void* address,
                                                                        uint32_t value) {
#ifdef CULEBRA_HOST
  culebra_emu::red_relaxed_gpu_global_add_noftz_bf16x2(address, value);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("red.relaxed.gpu.global.add.noftz.bf16x2 [%0], %1;"
                                   :
                                   : "l"(__cvta_generic_to_global(address)), "r"(value)
                                   : "memory"));
#endif
}

// red.relaxed.gpu.global.add.v2.f32 (sm_90): each element by itself; aligned to 8 bytes.
__device__ __forceinline__ void red_relaxed_gpu_global_add_v2_f32(void* address, float2 value) {
#ifdef CULEBRA_HOST
  culebra_emu::red_relaxed_gpu_global_add_v2_f32(address, value);
#else
  CULEBRA_NEEDS_SM_90(
      asm volatile("red.relaxed.gpu.global.add.v2.f32 [%0], {%1, %2};"
                   :
                   : "l"(__cvta_generic_to_global(address)), "f"(value.x), "f"(value.y)
                   : "memory"));
#endif
}

// red.relaxed.gpu.global.add.v4.f32 (sm_90): aligned to 16 bytes.
__device__ __forceinline__ void red_relaxed_gpu_global_add_v4_f32(void* address, float4 value) {
#ifdef CULEBRA_HOST
  culebra_emu::red_relaxed_gpu_global_add_v4_f32(address, value);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("red.relaxed.gpu.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                                   :
                                   : "l"(__cvta_generic_to_global(address)), "f"(value.x),
                                     "f"(value.y), "f"(value.z), "f"(value.w)
                                   : "memory"));
#endif
}

}  // namespace culebra::ptx

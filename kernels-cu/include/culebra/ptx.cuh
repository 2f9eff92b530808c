// Every PTX instruction that our kernels use, wrapped once and named as in the PTX ISA ('.' and
// '::' become '_').
//
// There is no inline assembly anywhere else. Under a host compiler each wrapper is the function of
// the same name in culebra_emu, which gives it its meaning on the CPU.
#pragma once

#include "culebra/platform.cuh"

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

// max.NaN.f32 (sm_80): the larger of two; NaN if either is NaN (fmaxf would drop it); +0 above -0.
__device__ __forceinline__ float max_NaN_f32(float a, float b) {
#ifdef CULEBRA_HOST
  return culebra_emu::max_NaN_f32(a, b);
#else
  float result;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#endif
}

// min.NaN.f32 (sm_80): the smaller of two; NaN if either is NaN; -0 below +0.
__device__ __forceinline__ float min_NaN_f32(float a, float b) {
#ifdef CULEBRA_HOST
  return culebra_emu::min_NaN_f32(a, b);
#else
  float result;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
  return result;
#endif
}

// mov.u64 %globaltimer: nanoseconds of a clock common to the device. Its step is coarse
// (microseconds on some devices).
__device__ __forceinline__ uint64_t mov_u64_globaltimer() {
#ifdef CULEBRA_HOST
  return culebra_emu::mov_u64_globaltimer();
#else
  uint64_t nanoseconds;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds)::"memory");
  return nanoseconds;
#endif
}

// nanosleep.u32: lets the warp pause for about `nanoseconds`, at most 1 ms.
__device__ __forceinline__ void nanosleep_u32(uint32_t nanoseconds) {
#ifdef CULEBRA_HOST
  culebra_emu::nanosleep_u32(nanoseconds);
#else
  asm volatile("nanosleep.u32 %0;" : : "r"(nanoseconds) : "memory");
#endif
}

}  // namespace culebra::ptx

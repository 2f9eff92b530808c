// Loads and stores of shared memory by 32-bit addresses; those of ::cluster (sm_90) may be another
// block's.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// ld.shared.u32.
__device__ __forceinline__ uint32_t ld_shared_u32(uint32_t address) {
#ifdef CULEBRA_HOST
  return culebra_emu::ld_shared<uint32_t>(culebra_emu::own_shared_pointer(address));
#else
  uint32_t result = 0;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(result) : "r"(address) : "memory");
  return result;
#endif
}

// ld.shared.v4.u32: aligned to 16 bytes.
__device__ __forceinline__ uint4 ld_shared_v4_u32(uint32_t address) {
#ifdef CULEBRA_HOST
  return culebra_emu::ld_shared<uint4>(culebra_emu::own_shared_pointer(address));
#else
  uint4 result{};
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(result.x), "=r"(result.y), "=r"(result.z), "=r"(result.w)
               : "r"(address)
               : "memory");
  return result;
#endif
}

// st.shared.u32.
__device__ __forceinline__ void st_shared_u32(uint32_t address, uint32_t value) {
#ifdef CULEBRA_HOST
  culebra_emu::st_shared(culebra_emu::own_shared_pointer(address), value);
#else
  asm volatile("st.shared.u32 [%0], %1;" : : "r"(address), "r"(value) : "memory");
#endif
}

// st.shared.v4.u32: aligned to 16 bytes.
__device__ __forceinline__ void st_shared_v4_u32(uint32_t address, uint4 value) {
#ifdef CULEBRA_HOST
  culebra_emu::st_shared(culebra_emu::own_shared_pointer(address), value);
#else
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "r"(address), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
               : "memory");
#endif
}

// ld.shared::cluster.u32 (sm_90).
__device__ __forceinline__ uint32_t ld_shared_cluster_u32(uint32_t address) {
#ifdef CULEBRA_HOST
  return culebra_emu::ld_shared<uint32_t>(culebra_emu::shared_pointer(address));
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_90(asm volatile("ld.shared::cluster.u32 %0, [%1];"
                                   : "=r"(result)
                                   : "r"(address)
                                   : "memory"));
  return result;
#endif
}

// ld.shared::cluster.v4.u32 (sm_90): aligned to 16 bytes.
__device__ __forceinline__ uint4 ld_shared_cluster_v4_u32(uint32_t address) {
#ifdef CULEBRA_HOST
  return culebra_emu::ld_shared<uint4>(culebra_emu::shared_pointer(address));
#else
  uint4 result{};
  CULEBRA_NEEDS_SM_90(asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                                   : "=r"(result.x), "=r"(result.y), "=r"(result.z), "=r"(result.w)
                                   : "r"(address)
                                   : "memory"));
  return result;
#endif
}

// st.shared::cluster.u32 (sm_90).
__device__ __forceinline__ void st_shared_cluster_u32(uint32_t address, uint32_t value) {
#ifdef CULEBRA_HOST
  culebra_emu::st_shared(culebra_emu::shared_pointer(address), value);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("st.shared::cluster.u32 [%0], %1;"
                                   :
                                   : "r"(address), "r"(value)
                                   : "memory"));
#endif
}

// st.shared::cluster.v4.u32 (sm_90): aligned to 16 bytes.
__device__ __forceinline__ void st_shared_cluster_v4_u32(uint32_t address, uint4 value) {
#ifdef CULEBRA_HOST
  culebra_emu::st_shared(culebra_emu::shared_pointer(address), value);
#else
  CULEBRA_NEEDS_SM_90(
      asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};"
                   :
                   : "r"(address), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                   : "memory"));
#endif
}

}  // namespace culebra::ptx

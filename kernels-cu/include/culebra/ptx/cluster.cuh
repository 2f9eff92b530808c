// Clusters (sm_90): who a block is in its cluster, the cluster's barrier, and the addresses of
// another block's shared memory. In a launch without clusters each block is a cluster of its own.
//
// For older architectures these compile to a trap: a kernel that uses them belongs to sm_90 and up.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// mov.u32 %cluster_ctarank: the rank of the block in its cluster.
__device__ __forceinline__ uint32_t mov_u32_cluster_ctarank() {
#ifdef CULEBRA_HOST
  return culebra_emu::cluster_ctarank();
#else
  uint32_t rank = 0;
  CULEBRA_NEEDS_SM_90(asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank)));
  return rank;
#endif
}

// mov.u32 %cluster_nctarank: how many blocks the cluster has.
__device__ __forceinline__ uint32_t mov_u32_cluster_nctarank() {
#ifdef CULEBRA_HOST
  return culebra_emu::cluster_nctarank();
#else
  uint32_t blocks = 1;
  CULEBRA_NEEDS_SM_90(asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks)));
  return blocks;
#endif
}

// barrier.cluster.arrive.release.aligned: the first half of the cluster's barrier; all threads of
// the warp call it together. What the thread wrote before is visible behind the others' wait.
__device__ __forceinline__ void barrier_cluster_arrive_release(CULEBRA_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::barrier_cluster_arrive(where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("barrier.cluster.arrive.release.aligned;" : : : "memory"));
#endif
}

// barrier.cluster.arrive.relaxed.aligned: the same without making anything visible.
__device__ __forceinline__ void barrier_cluster_arrive_relaxed(CULEBRA_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::barrier_cluster_arrive_relaxed(where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("barrier.cluster.arrive.relaxed.aligned;" : :));
#endif
}

// barrier.cluster.wait.acquire.aligned: the second half; waits for all threads of the cluster.
__device__ __forceinline__ void barrier_cluster_wait_acquire(CULEBRA_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::barrier_cluster_wait(where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("barrier.cluster.wait.acquire.aligned;" : : : "memory"));
#endif
}

// mapa.u64: the address of the same shared variable in the cluster's block of that rank, for plain
// loads, stores and atomics.
template <class T>
__device__ __forceinline__ T* mapa_u64(T* address, uint32_t rank) {
#ifdef CULEBRA_HOST
  return culebra_emu::mapa(address, rank);
#else
  uint64_t there = 0;
  CULEBRA_NEEDS_SM_90(asm volatile("mapa.u64 %0, %1, %2;"
                                   : "=l"(there)
                                   : "l"(reinterpret_cast<uint64_t>(address)), "r"(rank)));
  return reinterpret_cast<T*>(there);
#endif
}

// mapa.shared::cluster.u32: the same for the 32-bit addresses that instructions take.
__device__ __forceinline__ uint32_t mapa_shared_cluster_u32(uint32_t address, uint32_t rank) {
#ifdef CULEBRA_HOST
  return culebra_emu::mapa_shared_cluster_u32(address, rank);
#else
  uint32_t there = 0;
  CULEBRA_NEEDS_SM_90(asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                                   : "=r"(there)
                                   : "r"(address), "r"(rank)));
  return there;
#endif
}

}  // namespace culebra::ptx

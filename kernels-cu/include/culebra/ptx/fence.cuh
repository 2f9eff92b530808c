// Fences: the order in which others see what a thread does.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// fence.proxy.async (sm_90): orders what the thread has written in the ordinary way before what
// copies through the asynchronous proxy do later.
__device__ __forceinline__ void fence_proxy_async() {
#ifdef CULEBRA_HOST
  culebra_emu::fence_proxy_async();
#else
  CULEBRA_NEEDS_SM_90(asm volatile("fence.proxy.async;" : : : "memory"));
#endif
}

// fence.proxy.async.shared::cta (sm_90): of the block's shared memory only.
__device__ __forceinline__ void fence_proxy_async_shared_cta() {
#ifdef CULEBRA_HOST
  culebra_emu::fence_proxy_async();
#else
  CULEBRA_NEEDS_SM_90(asm volatile("fence.proxy.async.shared::cta;" : : : "memory"));
#endif
}

// fence.mbarrier_init.release.cluster (sm_90): makes mbarriers that the thread has initialised
// known to the cluster and to copies; a barrier comes behind it.
__device__ __forceinline__ void fence_mbarrier_init_release_cluster() {
#ifdef CULEBRA_HOST
  static_cast<void>(0);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("fence.mbarrier_init.release.cluster;" : : : "memory"));
#endif
}

// fence.acq_rel.cta.
__device__ __forceinline__ void fence_acq_rel_cta() {
#ifdef CULEBRA_HOST
  culebra_emu::fence<culebra_emu::Scope::cta>();
#else
  asm volatile("fence.acq_rel.cta;" : : : "memory");
#endif
}

// fence.acq_rel.cluster (sm_90).
__device__ __forceinline__ void fence_acq_rel_cluster() {
#ifdef CULEBRA_HOST
  culebra_emu::fence<culebra_emu::Scope::cluster>();
#else
  CULEBRA_NEEDS_SM_90(asm volatile("fence.acq_rel.cluster;" : : : "memory"));
#endif
}

// fence.acq_rel.gpu.
__device__ __forceinline__ void fence_acq_rel_gpu() {
#ifdef CULEBRA_HOST
  culebra_emu::fence<culebra_emu::Scope::gpu>();
#else
  asm volatile("fence.acq_rel.gpu;" : : : "memory");
#endif
}

// fence.acq_rel.sys.
__device__ __forceinline__ void fence_acq_rel_sys() {
#ifdef CULEBRA_HOST
  culebra_emu::fence<culebra_emu::Scope::sys>();
#else
  asm volatile("fence.acq_rel.sys;" : : : "memory");
#endif
}

}  // namespace culebra::ptx

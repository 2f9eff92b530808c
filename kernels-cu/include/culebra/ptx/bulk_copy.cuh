// Bulk copies and stores (sm_90): copies of any multiple of 16 bytes that one thread asks for, and
// that end at an mbarrier or with the thread's bulk group. Addresses are aligned to 16 bytes; those
// of shared memory are 32-bit addresses.
//
// They read and write through the asynchronous proxy. A thread that has written to shared memory
// what a bulk copy shall read needs fence_proxy_async behind its stores, and then a barrier before
// the copy is asked for. Tensor copies (cp.async.bulk.tensor, from a map) will have their place
// here.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes: global to shared memory. The
// mbarrier, in the block of `to`, must expect `bytes`.
__device__ __forceinline__ void cp_async_bulk_shared_cluster_global(
    uint32_t to, const void* from, uint32_t bytes, uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_shared_cluster_global(to, from, bytes, barrier, where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier)
      : "memory"));
#endif
}

// The same with .L2::cache_hint and a policy of createpolicy.
__device__ __forceinline__ void cp_async_bulk_shared_cluster_global_L2_cache_hint(
    uint32_t to, const void* from, uint32_t bytes, uint32_t barrier,
    uint64_t policy CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  static_cast<void>(policy);
  culebra_emu::cp_async_bulk_shared_cluster_global(to, from, bytes, barrier, where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
      :
      : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "l"(policy)
      : "memory"));
#endif
}

// The same with .multicast::cluster: to the same place in each block of the cluster whose bit is
// set in `blocks`, telling the mbarrier at the same place there.
__device__ __forceinline__ void cp_async_bulk_shared_cluster_global_multicast_cluster(
    uint32_t to, const void* from, uint32_t bytes, uint32_t barrier,
    uint16_t blocks CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_multicast(to, from, bytes, barrier, blocks, where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;"
      :
      : "r"(to), "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(barrier), "h"(blocks)
      : "memory"));
#endif
}

// cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes: from this block's shared
// memory to that of a block of the cluster, whose mbarrier is told.
__device__ __forceinline__ void cp_async_bulk_shared_cluster_shared_cta(
    uint32_t to, uint32_t from, uint32_t bytes, uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_shared_cluster_shared_cta(to, from, bytes, barrier, where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
      :
      : "r"(to), "r"(from), "r"(bytes), "r"(barrier)
      : "memory"));
#endif
}

// cp.async.bulk.global.shared::cta.bulk_group: shared to global memory.
__device__ __forceinline__ void cp_async_bulk_global_shared_cta(void* to, uint32_t from,
                                                                uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_global_shared_cta(to, from, bytes, culebra_emu::BulkReduction::kNone,
                                               where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;"
                                   :
                                   : "l"(__cvta_generic_to_global(to)), "r"(from), "r"(bytes)
                                   : "memory"));
#endif
}

// cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32: adds to what is there, each element
// by itself.
__device__ __forceinline__ void cp_reduce_async_bulk_global_shared_cta_add_f32(
    void* to, uint32_t from, uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_global_shared_cta(to, from, bytes, culebra_emu::BulkReduction::kAddF32,
                                               where);
#else
  CULEBRA_NEEDS_SM_90(
      asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;"
                   :
                   : "l"(__cvta_generic_to_global(to)), "r"(from), "r"(bytes)
                   : "memory"));
#endif
}

// cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16: adds to what is there, each
// element by itself.
__device__ __forceinline__ void cp_reduce_async_bulk_global_shared_cta_add_noftz_f16(
    void* to, uint32_t from, uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_global_shared_cta(to, from, bytes, culebra_emu::BulkReduction::kAddF16,
                                               where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%0], [%1], %2;"
      :
      : "l"(__cvta_generic_to_global(to)), "r"(from), "r"(bytes)
      : "memory"));
#endif
}

// cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16: adds to what is there, each
// element by itself.
__device__ __forceinline__ void cp_reduce_async_bulk_global_shared_cta_add_noftz_bf16(
    void* to, uint32_t from, uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_global_shared_cta(to, from, bytes,
                                               culebra_emu::BulkReduction::kAddBf16, where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.bf16 [%0], [%1], %2;"
      :
      : "l"(__cvta_generic_to_global(to)), "r"(from), "r"(bytes)
      : "memory"));
#endif
}

// cp.async.bulk.commit_group: the thread's copies to global memory that are in no group become one.
__device__ __forceinline__ void cp_async_bulk_commit_group() {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_commit_group();
#else
  CULEBRA_NEEDS_SM_90(asm volatile("cp.async.bulk.commit_group;" : : : "memory"));
#endif
}

// cp.async.bulk.wait_group: until at most `kGroups` of the thread's bulk groups are on their way.
template <int kGroups>
__device__ __forceinline__ void cp_async_bulk_wait_group() {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_wait_group(kGroups, false);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("cp.async.bulk.wait_group %0;" : : "n"(kGroups) : "memory"));
#endif
}

// cp.async.bulk.wait_group.read: until all but the last `kGroups` have read their shared memory.
template <int kGroups>
__device__ __forceinline__ void cp_async_bulk_wait_group_read() {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_wait_group(kGroups, true);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("cp.async.bulk.wait_group.read %0;"
                                   :
                                   : "n"(kGroups)
                                   : "memory"));
#endif
}

// cp.async.bulk.prefetch.L2.global: brings global memory into the L2 cache.
__device__ __forceinline__ void cp_async_bulk_prefetch_L2_global(const void* from, uint32_t bytes) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_bulk_prefetch_L2(from, bytes);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;"
                                   :
                                   : "l"(__cvta_generic_to_global(from)), "r"(bytes)));
#endif
}

// st.async.shared::cluster.mbarrier::complete_tx::bytes.b32: a store to a block of the cluster that
// tells an mbarrier of that block.
__device__ __forceinline__ void st_async_shared_cluster_b32(uint32_t to, uint32_t value,
                                                            uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::st_async(to, value, barrier, where);
#else
  CULEBRA_NEEDS_SM_90(
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];"
                   :
                   : "r"(to), "r"(value), "r"(barrier)
                   : "memory"));
#endif
}

// st.async.shared::cluster.mbarrier::complete_tx::bytes.b64: a store to a block of the cluster that
// tells an mbarrier of that block.
__device__ __forceinline__ void st_async_shared_cluster_b64(uint32_t to, uint64_t value,
                                                            uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::st_async(to, value, barrier, where);
#else
  CULEBRA_NEEDS_SM_90(
      asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];"
                   :
                   : "r"(to), "l"(value), "r"(barrier)
                   : "memory"));
#endif
}

// st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32: a store to a block of the cluster
// that tells an mbarrier of that block.
__device__ __forceinline__ void st_async_shared_cluster_v4_b32(uint32_t to, uint4 value,
                                                               uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::st_async(to, value, barrier, where);
#else
  CULEBRA_NEEDS_SM_90(asm volatile(
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];"
      :
      : "r"(to), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w), "r"(barrier)
      : "memory"));
#endif
}

}  // namespace culebra::ptx

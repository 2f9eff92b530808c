// Barriers in shared memory (mbarrier, sm_80; what has bytes or clusters in it, sm_90). `barrier`
// is the 32-bit address of an object of 8 bytes, aligned to 8, that only these instructions touch.
//
// A phase is over when the expected arrivals have come and as many bytes as were expected. Waits
// name a phase by the state that an arrival gave, or by its parity: the first phase has parity 0.
// All of them look once: call them in a loop.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// mbarrier.init.shared::cta.b64: of `count` arrivals a phase, 1 to 2^20 - 1. Others may use it
// after a barrier (and fence_mbarrier_init_release_cluster, if they are of the cluster or copies).
__device__ __forceinline__ void mbarrier_init_shared_b64(uint32_t barrier,
                                                         uint32_t count CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::mbarrier(where, "mbarrier.init", culebra_emu::MbarrierOperation::kInit, barrier,
                        count);
#else
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" : : "r"(barrier), "r"(count) : "memory");
#endif
}

// mbarrier.inval.shared::cta.b64: the memory is free for other use.
__device__ __forceinline__ void mbarrier_inval_shared_b64(uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::mbarrier(where, "mbarrier.inval", culebra_emu::MbarrierOperation::kInval, barrier,
                        0);
#else
  asm volatile("mbarrier.inval.shared::cta.b64 [%0];" : : "r"(barrier) : "memory");
#endif
}

// mbarrier.arrive.shared::cta.b64: arrives once; gives the state of the phase.
__device__ __forceinline__ uint64_t mbarrier_arrive_shared_b64(uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.arrive", culebra_emu::MbarrierOperation::kArrive,
                               barrier, 1);
#else
  uint64_t result = 0;
  asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
               : "=l"(result)
               : "r"(barrier)
               : "memory");
  return result;
#endif
}

// mbarrier.arrive.shared::cta.b64 with a count (sm_90): arrives so many times.
__device__ __forceinline__ uint64_t mbarrier_arrive_shared_b64(uint32_t barrier,
                                                               uint32_t count CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.arrive", culebra_emu::MbarrierOperation::kArrive,
                               barrier, count);
#else
  uint64_t result = 0;
  CULEBRA_NEEDS_SM_90(asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;"
                                   : "=l"(result)
                                   : "r"(barrier), "r"(count)
                                   : "memory"));
  return result;
#endif
}

// mbarrier.arrive_drop.shared::cta.b64: arrives, and is not expected in later phases.
__device__ __forceinline__ uint64_t
mbarrier_arrive_drop_shared_b64(uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.arrive_drop",
                               culebra_emu::MbarrierOperation::kArriveDrop, barrier, 1);
#else
  uint64_t result = 0;
  asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];"
               : "=l"(result)
               : "r"(barrier)
               : "memory");
  return result;
#endif
}

// mbarrier.arrive.expect_tx.shared::cta.b64 (sm_90): expects `bytes` more, then arrives once.
__device__ __forceinline__ uint64_t
mbarrier_arrive_expect_tx_shared_b64(uint32_t barrier, uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.arrive.expect_tx",
                               culebra_emu::MbarrierOperation::kArriveExpectTx, barrier, bytes);
#else
  uint64_t result = 0;
  CULEBRA_NEEDS_SM_90(asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                                   : "=l"(result)
                                   : "r"(barrier), "r"(bytes)
                                   : "memory"));
  return result;
#endif
}

// mbarrier.arrive.release.cluster.shared::cluster.b64 (sm_90): at the mbarrier of another block of
// the cluster, which mapa gives the address of; there is no state to be had.
__device__ __forceinline__ void mbarrier_arrive_release_cluster_shared_cluster_b64(
    uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::mbarrier(where, "mbarrier.arrive", culebra_emu::MbarrierOperation::kArrive, barrier,
                        1, false);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];"
                                   :
                                   : "r"(barrier)
                                   : "memory"));
#endif
}

// mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 (sm_90).
__device__ __forceinline__ void mbarrier_arrive_expect_tx_release_cluster_shared_cluster_b64(
    uint32_t barrier, uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::mbarrier(where, "mbarrier.arrive.expect_tx",
                        culebra_emu::MbarrierOperation::kArriveExpectTx, barrier, bytes, false);
#else
  CULEBRA_NEEDS_SM_90(
      asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;"
                   :
                   : "r"(barrier), "r"(bytes)
                   : "memory"));
#endif
}

// mbarrier.expect_tx.relaxed.cta.shared::cta.b64 (sm_90): the phase waits for `bytes` more.
__device__ __forceinline__ void mbarrier_expect_tx_relaxed_cta_shared_b64(
    uint32_t barrier, uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::mbarrier(where, "mbarrier.expect_tx", culebra_emu::MbarrierOperation::kExpectTx,
                        barrier, bytes);
#else
  CULEBRA_NEEDS_SM_90(asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;"
                                   :
                                   : "r"(barrier), "r"(bytes)
                                   : "memory"));
#endif
}

// mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 (sm_90): as if so many bytes had come.
__device__ __forceinline__ void mbarrier_complete_tx_relaxed_cluster_shared_cluster_b64(
    uint32_t barrier, uint32_t bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::mbarrier(where, "mbarrier.complete_tx", culebra_emu::MbarrierOperation::kCompleteTx,
                        barrier, bytes, false);
#else
  CULEBRA_NEEDS_SM_90(
      asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;"
                   :
                   : "r"(barrier), "r"(bytes)
                   : "memory"));
#endif
}

// mbarrier.test_wait.shared::cta.b64: whether the phase of that state is over.
__device__ __forceinline__ bool mbarrier_test_wait_shared_b64(uint32_t barrier,
                                                              uint64_t state CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.test_wait",
                               culebra_emu::MbarrierOperation::kTestState, barrier, state) != 0;
#else
  uint32_t result = 0;
  asm volatile(
      "{\n\t.reg .pred p;\n\tmbarrier.test_wait.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(result)
      : "r"(barrier), "l"(state)
      : "memory");
  return result != 0;
#endif
}

// mbarrier.test_wait.parity.shared::cta.b64: whether the phase of that parity is over: the current
// one is of the other.
__device__ __forceinline__ bool mbarrier_test_wait_parity_shared_b64(
    uint32_t barrier, uint32_t parity CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.test_wait.parity",
                               culebra_emu::MbarrierOperation::kTestParity, barrier, parity) != 0;
#else
  uint32_t result = 0;
  asm volatile(
      "{\n\t.reg .pred p;\n\tmbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(result)
      : "r"(barrier), "r"(parity)
      : "memory");
  return result != 0;
#endif
}

// mbarrier.try_wait.shared::cta.b64 (sm_90): whether the phase of that state is over. A device may
// let the answer wait for a while, and goes on with the same thread as long as nothing needs it. So
// the answer is of a later time: a thread that asks, and then itself completes the phase, may get a
// yes (docs/decisions/0009-asynchronous-copies.md). Ask test_wait where that matters.
__device__ __forceinline__ bool mbarrier_try_wait_shared_b64(uint32_t barrier,
                                                             uint64_t state CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.try_wait",
                               culebra_emu::MbarrierOperation::kTestState, barrier, state) != 0;
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_90(asm volatile(
      "{\n\t.reg .pred p;\n\tmbarrier.try_wait.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(result)
      : "r"(barrier), "l"(state)
      : "memory"));
  return result != 0;
#endif
}

// mbarrier.try_wait.parity.shared::cta.b64 (sm_90): whether the phase of that parity is over: the
// current one is of the other. The answer is of a later time, as above.
__device__ __forceinline__ bool mbarrier_try_wait_parity_shared_b64(
    uint32_t barrier, uint32_t parity CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::mbarrier(where, "mbarrier.try_wait.parity",
                               culebra_emu::MbarrierOperation::kTestParity, barrier, parity) != 0;
#else
  uint32_t result = 0;
  CULEBRA_NEEDS_SM_90(asm volatile(
      "{\n\t.reg .pred p;\n\tmbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n\tselp.u32 %0, 1, 0, p;\n\t}"
      : "=r"(result)
      : "r"(barrier), "r"(parity)
      : "memory"));
  return result != 0;
#endif
}

// mbarrier.pending_count.b64: how many arrivals were to come when that state was given.
__device__ __forceinline__ uint32_t mbarrier_pending_count_b64(uint64_t state) {
#ifdef CULEBRA_HOST
  return static_cast<uint32_t>(state & 0xFFFFFu);
#else
  uint32_t result = 0;
  asm("mbarrier.pending_count.b64 %0, %1;" : "=r"(result) : "l"(state));
  return result;
#endif
}

}  // namespace culebra::ptx

// The numbered barriers of a block: 0 to 15, of which 0 is the one of __syncthreads. `threads` is a
// multiple of 32 and counts those that sync and those that arrive; the same number from all. These
// are the aligned forms: the threads of a warp call them together.
#pragma once

#include "culebra/platform.cuh"

namespace culebra::ptx {

// bar.sync a: waits for all threads of the block.
__device__ __forceinline__ void bar_sync(uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::bar_sync(barrier, where);
#else
  asm volatile("bar.sync %0;" : : "r"(barrier) : "memory");
#endif
}

// bar.sync a, b: waits until `threads` threads have come.
__device__ __forceinline__ void bar_sync(uint32_t barrier, uint32_t threads CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::bar_sync(barrier, threads, where);
#else
  asm volatile("bar.sync %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
#endif
}

// bar.arrive a, b: counts, and does not wait. What was written before is visible to those that
// sync.
__device__ __forceinline__ void bar_arrive(uint32_t barrier, uint32_t threads CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::bar_arrive(barrier, threads, where);
#else
  asm volatile("bar.arrive %0, %1;" : : "r"(barrier), "r"(threads) : "memory");
#endif
}

// bar.red.popc.u32: as bar.sync; for how many of the threads the predicate holds.
__device__ __forceinline__ uint32_t bar_red_popc_u32(uint32_t barrier, uint32_t threads,
                                                     bool predicate CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::bar_red_popc_u32(barrier, threads, predicate, where);
#else
  uint32_t count;
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t"
      "bar.red.popc.u32 %0, %1, %2, p;\n\t}"
      : "=r"(count)
      : "r"(barrier), "r"(threads), "r"(static_cast<uint32_t>(predicate))
      : "memory");
  return count;
#endif
}

// bar.red.and.pred: as bar.sync; whether the predicate holds for all of the threads.
__device__ __forceinline__ bool bar_red_and_pred(uint32_t barrier, uint32_t threads,
                                                 bool predicate CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::bar_red_and_pred(barrier, threads, predicate, where);
#else
  uint32_t all;
  asm volatile(
      "{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %3, 0;\n\t"
      "bar.red.and.pred q, %1, %2, p;\n\tselp.u32 %0, 1, 0, q;\n\t}"
      : "=r"(all)
      : "r"(barrier), "r"(threads), "r"(static_cast<uint32_t>(predicate))
      : "memory");
  return all != 0;
#endif
}

// bar.red.or.pred: as bar.sync; whether the predicate holds for any of the threads.
__device__ __forceinline__ bool bar_red_or_pred(uint32_t barrier, uint32_t threads,
                                                bool predicate CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  return culebra_emu::bar_red_or_pred(barrier, threads, predicate, where);
#else
  uint32_t any;
  asm volatile(
      "{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %3, 0;\n\t"
      "bar.red.or.pred q, %1, %2, p;\n\tselp.u32 %0, 1, 0, q;\n\t}"
      : "=r"(any)
      : "r"(barrier), "r"(threads), "r"(static_cast<uint32_t>(predicate))
      : "memory");
  return any != 0;
#endif
}

}  // namespace culebra::ptx

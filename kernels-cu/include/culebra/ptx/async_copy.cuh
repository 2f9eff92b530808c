// Copies from global to shared memory that go on beside the thread (cp.async, sm_80). `to` is a
// 32-bit address of the block's own shared memory; both addresses are aligned to the size.
//
// What is copied can be read by the thread after its wait, and by others after a barrier behind it.
// On the emulator the destination is poison until then.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx/arch.cuh"

namespace culebra::ptx {

// cp.async.ca.shared.global: 4, 8 or 16 bytes, through L1.
template <int kBytes>
__device__ __forceinline__ void cp_async_ca_shared_global(uint32_t to,
                                                          const void* from CULEBRA_AND_WHERE) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#ifdef CULEBRA_HOST
  culebra_emu::cp_async(where, "cp.async.ca", to, from, kBytes, kBytes);
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;"
               :
               : "r"(to), "l"(__cvta_generic_to_global(from)), "n"(kBytes)
               : "memory");
#endif
}

// The same; only `source_bytes` are read, and the rest of the destination becomes zero.
template <int kBytes>
__device__ __forceinline__ void cp_async_ca_shared_global(uint32_t to, const void* from,
                                                          uint32_t source_bytes CULEBRA_AND_WHERE) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#ifdef CULEBRA_HOST
  culebra_emu::cp_async(where, "cp.async.ca", to, from, kBytes, source_bytes);
#else
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(to), "l"(__cvta_generic_to_global(from)), "n"(kBytes), "r"(source_bytes)
               : "memory");
#endif
}

// The same; if `ignore_source`, nothing is read and the destination becomes zero.
template <int kBytes>
__device__ __forceinline__ void cp_async_ca_shared_global_ignore_src(
    uint32_t to, const void* from, bool ignore_source CULEBRA_AND_WHERE) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
#ifdef CULEBRA_HOST
  culebra_emu::cp_async(where, "cp.async.ca", to, from, kBytes, ignore_source ? 0 : kBytes);
#else
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t"
      "cp.async.ca.shared.global [%0], [%1], %2, p;\n\t}"
      :
      : "r"(to), "l"(__cvta_generic_to_global(from)), "n"(kBytes),
        "r"(static_cast<uint32_t>(ignore_source))
      : "memory");
#endif
}

// cp.async.cg.shared.global: 16 bytes, past L1.
__device__ __forceinline__ void cp_async_cg_shared_global_16(uint32_t to,
                                                             const void* from CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async(where, "cp.async.cg", to, from, 16, 16);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2;"
               :
               : "r"(to), "l"(__cvta_generic_to_global(from)), "n"(16)
               : "memory");
#endif
}

// The same; only `source_bytes` are read, and the rest of the destination becomes zero.
__device__ __forceinline__ void cp_async_cg_shared_global_16(
    uint32_t to, const void* from, uint32_t source_bytes CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async(where, "cp.async.cg", to, from, 16, source_bytes);
#else
  asm volatile("cp.async.cg.shared.global [%0], [%1], %2, %3;"
               :
               : "r"(to), "l"(__cvta_generic_to_global(from)), "n"(16), "r"(source_bytes)
               : "memory");
#endif
}

// The same; if `ignore_source`, nothing is read and the destination becomes zero.
__device__ __forceinline__ void cp_async_cg_shared_global_16_ignore_src(
    uint32_t to, const void* from, bool ignore_source CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async(where, "cp.async.cg", to, from, 16, ignore_source ? 0 : 16);
#else
  asm volatile(
      "{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t"
      "cp.async.cg.shared.global [%0], [%1], %2, p;\n\t}"
      :
      : "r"(to), "l"(__cvta_generic_to_global(from)), "n"(16),
        "r"(static_cast<uint32_t>(ignore_source))
      : "memory");
#endif
}

// cp.async.commit_group: the thread's copies that are in no group become one.
__device__ __forceinline__ void cp_async_commit_group() {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_commit_group();
#else
  asm volatile("cp.async.commit_group;" : : : "memory");
#endif
}

// cp.async.wait_group: until at most `kGroups` of the thread's groups are on their way.
template <int kGroups>
__device__ __forceinline__ void cp_async_wait_group() {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_wait_group(kGroups);
#else
  asm volatile("cp.async.wait_group %0;" : : "n"(kGroups) : "memory");
#endif
}

// cp.async.wait_all: until none of the thread's copies is, in a group or not.
__device__ __forceinline__ void cp_async_wait_all() {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_wait_all();
#else
  asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

// cp.async.mbarrier.arrive.shared.b64: arrives when the thread's copies so far have landed. The
// mbarrier expects that arrival from now on only: its pending count grows by one.
__device__ __forceinline__ void cp_async_mbarrier_arrive_shared_b64(
    uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_mbarrier_arrive(where, barrier, false);
#else
  asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" : : "r"(barrier) : "memory");
#endif
}

// cp.async.mbarrier.arrive.noinc.shared.b64: the same; the arrival is one of those of the init.
__device__ __forceinline__ void cp_async_mbarrier_arrive_noinc_shared_b64(
    uint32_t barrier CULEBRA_AND_WHERE) {
#ifdef CULEBRA_HOST
  culebra_emu::cp_async_mbarrier_arrive(where, barrier, true);
#else
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" : : "r"(barrier) : "memory");
#endif
}

}  // namespace culebra::ptx

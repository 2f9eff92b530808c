// Ordered loads, stores and atomics, and the fences, of each scope. One block of 64 threads.
#pragma once

// out [6 + 4 * 64], zero at first; in [64]. Sums: 64 arrivals of 1; t times `wide`; t; 2 t. Then
// the one of t + 1 that was first, and how many were. Then, each of 64: what came after how many
// arrivals (all ones); in + 1 and in + 2; and the neighbour's t + 1, behind a flag and two fences.
#define CULEBRA_SYNC_TEST(scope, type, bits, Word, kWide)                                 \
  extern "C" __global__ void __launch_bounds__(64)                                        \
      culebra_ptx_sync_##scope##_##type(Word* out, const Word* in) {                      \
    using namespace culebra::ptx;                                                         \
    constexpr Word wide = kWide;                                                          \
    const Word t = threadIdx.x;                                                           \
    Word* const rows = out + 6;                                                           \
    const Word turn = atom_add_acq_rel_##scope##_##type(out, 1);                          \
    if (turn < 64) st_relaxed_##scope##_##type(&rows[turn], 1);                           \
    atom_add_relaxed_##scope##_##type(out + 1, wide * t);                                 \
    red_add_release_##scope##_##type(out + 2, t);                                         \
    if (atom_cas_acq_rel_##scope##_##bits(out + 4, Word{0}, Word(t + 1)) == 0) {          \
      red_add_relaxed_##scope##_##type(out + 5, 1);                                       \
    }                                                                                     \
    st_release_##scope##_##type(&rows[64 + t], ld_acquire_##scope##_##type(in + t) + 1);  \
    st_relaxed_##scope##_##type(&rows[128 + t], ld_relaxed_##scope##_##type(in + t) + 2); \
    /* The flag is the sum of 2 t, which is whole when all have come. */                  \
    CULEBRA_SHARED(Word, slots, 64);                                                      \
    st_relaxed_##scope##_##type(&slots[t], t + 1);                                        \
    fence_acq_rel_##scope();                                                              \
    red_add_relaxed_##scope##_##type(out + 3, 2 * t);                                     \
    while (ld_relaxed_##scope##_##type(out + 3) != 64 * 63) {                             \
    }                                                                                     \
    fence_acq_rel_##scope();                                                              \
    rows[192 + t] = ld_relaxed_##scope##_##type(&slots[(t + 1) % 64]);                    \
  }                                                                                       \
  CULEBRA_KERNEL(culebra_ptx_sync_##scope##_##type, 64, out, in)

CULEBRA_SYNC_TEST(cta, u32, b32, uint32_t, 1u << 20)
CULEBRA_SYNC_TEST(cta, u64, b64, uint64_t, 1ull << 40)
CULEBRA_SYNC_TEST(gpu, u32, b32, uint32_t, 1u << 20)
CULEBRA_SYNC_TEST(gpu, u64, b64, uint64_t, 1ull << 40)
CULEBRA_SYNC_TEST(sys, u32, b32, uint32_t, 1u << 20)
CULEBRA_SYNC_TEST(sys, u64, b64, uint64_t, 1ull << 40)
#undef CULEBRA_SYNC_TEST

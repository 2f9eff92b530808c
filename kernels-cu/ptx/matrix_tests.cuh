// mma.sync, ldmatrix, stmatrix, movmatrix: one warp, each lane with its own registers.
#pragma once

// d, c [lane][kD], a [lane][kA], b [lane][kB] are the registers of the fragments.
#define CULEBRA_MMA_TEST(name, Number, kD, kA, kB)                              \
  extern "C" __global__ void __launch_bounds__(32) culebra_ptx_mma_sync_##name( \
      Number* d, const uint32_t* a, const uint32_t* b, const Number* c) {       \
    Number sums[kD], start[kD];                                                 \
    uint32_t left[kA], right[kB];                                               \
    for (int i = 0; i < kD; ++i) start[i] = c[kD * threadIdx.x + i];            \
    for (int i = 0; i < kA; ++i) left[i] = a[kA * threadIdx.x + i];             \
    for (int i = 0; i < kB; ++i) right[i] = b[kB * threadIdx.x + i];            \
    culebra::ptx::mma_sync_##name(sums, left, right, start);                    \
    for (int i = 0; i < kD; ++i) d[kD * threadIdx.x + i] = sums[i];             \
  }                                                                             \
  CULEBRA_KERNEL(culebra_ptx_mma_sync_##name, 32, d, a, b, c)

CULEBRA_MMA_TEST(m16n8k16_f32_f16_f16_f32, float, 4, 4, 2)
CULEBRA_MMA_TEST(m16n8k8_f32_f16_f16_f32, float, 4, 2, 1)
CULEBRA_MMA_TEST(m16n8k16_f32_bf16_bf16_f32, float, 4, 4, 2)
CULEBRA_MMA_TEST(m16n8k8_f32_bf16_bf16_f32, float, 4, 2, 1)
CULEBRA_MMA_TEST(m16n8k8_f32_tf32_tf32_f32, float, 4, 4, 2)
CULEBRA_MMA_TEST(m16n8k4_f32_tf32_tf32_f32, float, 4, 2, 1)
CULEBRA_MMA_TEST(m16n8k16_f16_f16_f16_f16, uint32_t, 2, 4, 2)
CULEBRA_MMA_TEST(m16n8k8_f16_f16_f16_f16, uint32_t, 2, 2, 1)
CULEBRA_MMA_TEST(m16n8k32_s32_s8_s8_s32, uint32_t, 4, 4, 2)
CULEBRA_MMA_TEST(m16n8k16_s32_s8_s8_s32, uint32_t, 4, 2, 1)
CULEBRA_MMA_TEST(m16n8k32_s32_u8_u8_s32, uint32_t, 4, 4, 2)
CULEBRA_MMA_TEST(m16n8k32_f32_e4m3_e4m3_f32, float, 4, 4, 2)
CULEBRA_MMA_TEST(m16n8k32_f32_e5m2_e5m2_f32, float, 4, 4, 2)
#undef CULEBRA_MMA_TEST

// out [lane][kCount] = what ldmatrix gives of the 512 bytes of `in`, lane l naming the row at
// 16 * rows[l].
#define CULEBRA_LDMATRIX_TEST(name, kCount)                                             \
  extern "C" __global__ void __launch_bounds__(32)                                      \
      culebra_ptx_##name(uint32_t* out, const uint32_t* in, const uint32_t* rows) {     \
    CULEBRA_SHARED(uint4, tile, 32);                                                    \
    uint32_t* const words = reinterpret_cast<uint32_t*>(tile);                          \
    for (int i = 0; i < 4; ++i) words[32 * i + threadIdx.x] = in[32 * i + threadIdx.x]; \
    __syncwarp(); /* the tile is there */                                               \
    const uint32_t row =                                                                \
        static_cast<uint32_t>(__cvta_generic_to_shared(tile + rows[threadIdx.x]));      \
    uint32_t registers[kCount];                                                         \
    culebra::ptx::name(registers, row);                                                 \
    for (int i = 0; i < kCount; ++i) out[kCount * threadIdx.x + i] = registers[i];      \
  }                                                                                     \
  CULEBRA_KERNEL(culebra_ptx_##name, 32, out, in, rows)

CULEBRA_LDMATRIX_TEST(ldmatrix_x1, 1)
CULEBRA_LDMATRIX_TEST(ldmatrix_x2, 2)
CULEBRA_LDMATRIX_TEST(ldmatrix_x4, 4)
CULEBRA_LDMATRIX_TEST(ldmatrix_x1_trans, 1)
CULEBRA_LDMATRIX_TEST(ldmatrix_x2_trans, 2)
CULEBRA_LDMATRIX_TEST(ldmatrix_x4_trans, 4)
#undef CULEBRA_LDMATRIX_TEST

// out = the 512 bytes of shared memory after stmatrix of in [lane][kCount], lane l naming the row
// at 16 * rows[l]; all ones where nothing was stored.
#define CULEBRA_STMATRIX_TEST(name, kCount)                                              \
  extern "C" __global__ void __launch_bounds__(32)                                       \
      culebra_ptx_##name(uint32_t* out, const uint32_t* in, const uint32_t* rows) {      \
    CULEBRA_SHARED(uint4, tile, 32);                                                     \
    uint32_t* const words = reinterpret_cast<uint32_t*>(tile);                           \
    for (int i = 0; i < 4; ++i) words[32 * i + threadIdx.x] = 0xFFFFFFFFu;               \
    __syncwarp(); /* the tile is empty */                                                \
    const uint32_t row =                                                                 \
        static_cast<uint32_t>(__cvta_generic_to_shared(tile + rows[threadIdx.x]));       \
    uint32_t registers[kCount];                                                          \
    for (int i = 0; i < kCount; ++i) registers[i] = in[kCount * threadIdx.x + i];        \
    culebra::ptx::name(row, registers);                                                  \
    __syncwarp(); /* all rows are stored */                                              \
    for (int i = 0; i < 4; ++i) out[32 * i + threadIdx.x] = words[32 * i + threadIdx.x]; \
  }                                                                                      \
  CULEBRA_KERNEL(culebra_ptx_##name, 32, out, in, rows)

CULEBRA_STMATRIX_TEST(stmatrix_x1, 1)
CULEBRA_STMATRIX_TEST(stmatrix_x2, 2)
CULEBRA_STMATRIX_TEST(stmatrix_x4, 4)
CULEBRA_STMATRIX_TEST(stmatrix_x1_trans, 1)
CULEBRA_STMATRIX_TEST(stmatrix_x2_trans, 2)
CULEBRA_STMATRIX_TEST(stmatrix_x4_trans, 4)
#undef CULEBRA_STMATRIX_TEST

extern "C" __global__ void __launch_bounds__(32)
    culebra_ptx_movmatrix_trans_b16(uint32_t* out, const uint32_t* in) {
  out[threadIdx.x] = culebra::ptx::movmatrix_trans_b16(in[threadIdx.x]);
}
CULEBRA_KERNEL(culebra_ptx_movmatrix_trans_b16, 32, out, in)

// `repeats` times the same product, each on top of the last one's sums, in each warp: for measures.
// in [lane][6]: the lane's registers of a and of b; out [thread][4].
extern "C" __global__ void __launch_bounds__(1024)
    culebra_ptx_mma_repeated(float* out, const uint32_t* in, uint32_t repeats) {
  float sums[4] = {0, 0, 0, 0};
  const uint32_t* const mine = in + 6 * (threadIdx.x % 32);
  const uint32_t a[4] = {mine[0], mine[1], mine[2], mine[3]};
  const uint32_t b[2] = {mine[4], mine[5]};
  for (uint32_t i = 0; i < repeats; ++i) {
    culebra::ptx::mma_sync_m16n8k16_f32_bf16_bf16_f32(sums, a, b, sums);
  }
  const uint64_t thread = static_cast<uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  for (int i = 0; i < 4; ++i) out[4 * thread + i] = sums[i];
}
CULEBRA_KERNEL(culebra_ptx_mma_repeated, 1024, out, in, repeats)

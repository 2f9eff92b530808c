// A small exact attention in the shape of the real ones, as a measure: cp.async, ldmatrix,
// mma.sync, an online softmax. Not tuned; the shipped kernels are in attention/.
#pragma once

#include "culebra/ptx.cuh"

#include "shared_address.cuh"

// out [heads][length][64] = softmax(scale q k^T) v, q, k, v [heads][length][64] in bf16; length is
// a multiple of 64. Block: 64 queries of one head, 16 a warp; grid: heads * length / 64.
extern "C" __global__ void __launch_bounds__(128)
    culebra_ptx_attention(float* out, const uint4* q, const uint4* k, const uint4* v,
                          uint32_t length, float scale_log2) {
  using namespace culebra::ptx;
  constexpr uint32_t kRows = 64;     // queries of a block, keys of a tile
  constexpr uint32_t kRowPacks = 8;  // 16 bytes each: 64 elements
  constexpr uint32_t kStride = 9;    // one pack of padding: rows of a matrix in different banks
  CULEBRA_SHARED(uint4, queries, kRows * kStride);
  CULEBRA_SHARED(uint4, keys, kRows * kStride);
  CULEBRA_SHARED(uint4, values, kRows * kStride);
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t tiles = length / kRows;
  const uint64_t head = static_cast<uint64_t>(blockIdx.x / tiles) * length * kRowPacks;
  const uint64_t first_query = static_cast<uint64_t>(blockIdx.x % tiles) * kRows;

  const auto load = [&](uint4* tile, const uint4* from) {
    for (uint32_t i = threadIdx.x; i < kRows * kRowPacks; i += blockDim.x) {
      cp_async_cg_shared_global_16(shared_address(&tile[i / kRowPacks * kStride + i % kRowPacks]),
                                   from + i);
    }
    cp_async_commit_group();
  };
  // The address of a lane's row of the matrices at (row, 8 * pack), which are two high or two wide.
  const auto high_then_wide = [&](const uint4* tile, uint32_t row, uint32_t pack) {
    return shared_address(&tile[(row + lane % 16) * kStride + pack + lane / 16]);
  };
  const auto wide_then_high = [&](const uint4* tile, uint32_t row, uint32_t pack) {
    return shared_address(&tile[(row + lane % 8 + lane / 16 * 8) * kStride + pack + lane / 8 % 2]);
  };

  load(queries, q + head + first_query * kRowPacks);
  load(keys, k + head);
  cp_async_wait_all();
  __syncthreads();  // all queries and the first keys are there
  uint32_t a[4][4];
  for (int step = 0; step < 4; ++step) {
    ldmatrix_x4(a[step], high_then_wide(queries, 16 * warp, 2 * step));
  }

  // Of the rows lane / 4 and lane / 4 + 8 of the warp.
  float o[8][4] = {}, largest[2] = {-INFINITY, -INFINITY}, sum[2] = {0, 0};
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    const uint64_t place = head + static_cast<uint64_t>(tile) * kRows * kRowPacks;
    load(values, v + place);
    float s[8][4] = {};
    for (int step = 0; step < 4; ++step) {
      for (int pair = 0; pair < 4; ++pair) {
        uint32_t both[4];
        ldmatrix_x4(both, wide_then_high(keys, 16 * pair, 2 * step));
        const uint32_t first[2] = {both[0], both[1]}, second[2] = {both[2], both[3]};
        mma_sync_m16n8k16_f32_bf16_bf16_f32(s[2 * pair], a[step], first, s[2 * pair]);
        mma_sync_m16n8k16_f32_bf16_bf16_f32(s[2 * pair + 1], a[step], second, s[2 * pair + 1]);
      }
    }
    for (int row = 0; row < 2; ++row) {
      float m = largest[row];
      for (int j = 0; j < 8; ++j) m = fmaxf(m, fmaxf(s[j][2 * row], s[j][2 * row + 1]));
      m = fmaxf(m, __shfl_xor_sync(0xFFFFFFFFu, m, 1));
      m = fmaxf(m, __shfl_xor_sync(0xFFFFFFFFu, m, 2));
      const float rescale = ex2_approx_ftz_f32((largest[row] - m) * scale_log2);
      largest[row] = m;
      sum[row] *= rescale;
      for (int j = 0; j < 8; ++j) {
        for (int i = 2 * row; i < 2 * row + 2; ++i) {
          o[j][i] *= rescale;
          s[j][i] = ex2_approx_ftz_f32((s[j][i] - m) * scale_log2);
          sum[row] += s[j][i];
        }
      }
    }
    cp_async_wait_all();
    __syncthreads();  // all values are there, and nobody reads these keys any more
    if (tile + 1 < tiles) load(keys, k + place + kRows * kRowPacks);
    for (int step = 0; step < 4; ++step) {
      const float* const left = s[2 * step];
      const float* const right = s[2 * step + 1];
      const uint32_t p[4] = {
          cvt_rn_bf16x2_f32(left[1], left[0]), cvt_rn_bf16x2_f32(left[3], left[2]),
          cvt_rn_bf16x2_f32(right[1], right[0]), cvt_rn_bf16x2_f32(right[3], right[2])};
      for (int pair = 0; pair < 4; ++pair) {
        uint32_t both[4];
        ldmatrix_x4_trans(both, high_then_wide(values, 16 * step, 2 * pair));
        const uint32_t first[2] = {both[0], both[1]}, second[2] = {both[2], both[3]};
        mma_sync_m16n8k16_f32_bf16_bf16_f32(o[2 * pair], p, first, o[2 * pair]);
        mma_sync_m16n8k16_f32_bf16_bf16_f32(o[2 * pair + 1], p, second, o[2 * pair + 1]);
      }
    }
    cp_async_wait_all();
    __syncthreads();  // the next keys are there, and nobody reads these values any more
  }
  for (int row = 0; row < 2; ++row) {
    float total = sum[row];
    total += __shfl_xor_sync(0xFFFFFFFFu, total, 1);
    total += __shfl_xor_sync(0xFFFFFFFFu, total, 2);
    const uint64_t query = first_query + 16 * warp + lane / 4 + 8 * row;
    float* const to = out + 8 * (head + query * kRowPacks) + 2 * (lane % 4);
    for (int j = 0; j < 8; ++j) {
      to[8 * j] = o[j][2 * row] / total;
      to[8 * j + 1] = o[j][2 * row + 1] / total;
    }
  }
}
CULEBRA_KERNEL(culebra_ptx_attention, 128, out, q, k, v, length, scale_log2)

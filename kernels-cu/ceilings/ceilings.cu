// What a device can do at most, and what a benchmark needs to prove its work.
//
// Not shipped: they are in the test roots only (the emulator's, and the GPU bundle's). Symbols:
//
//   culebra_ceilings_copy             16 bytes in, 16 bytes out
//   culebra_ceilings_read             16 bytes in, a checksum out
//   culebra_ceilings_ex2              exponentials, in registers
//   culebra_ceilings_mma_bf16         mma.sync m16n8k16, in registers
//   culebra_ceilings_wgmma_bf16       wgmma m64n256k16, of shared memory; sm_90a only, see there
//   culebra_ceilings_random_<type>    random values, each a function of a seed and its place
//   culebra_ceilings_count_nan_<type> how many elements are NaN
//
// Each gives a result that the host can compute as well: a ceiling that is not checked proves
// nothing.
#include "culebra/platform.cuh"

#include "culebra/ptx.cuh"
#include "culebra/ptx/wgmma.cuh"
#include "culebra/types.cuh"
#include "culebra/vec.cuh"

namespace culebra {
namespace {

constexpr int kThreads = 256;
// Loads in flight of each thread: one alone does not cover the memory's latency.
constexpr int kUnroll = 4;

__device__ __forceinline__ int64_t global_thread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ int64_t global_threads() {
  return static_cast<int64_t>(gridDim.x) * blockDim.x;
}

// Calls visit(pack numbers) for every pack of the array, kUnroll of them at once where there are so
// many, a grid apart; the rest one by one.
template <class VisitMany, class VisitOne>
__device__ __forceinline__ void for_packs_of_grid(int64_t packs, VisitMany many, VisitOne one) {
  const int64_t step = global_threads();
  int64_t i = global_thread();
  for (; i + (kUnroll - 1) * step < packs; i += kUnroll * step) many(i, step);
  for (; i < packs; i += step) one(i);
}

// The finaliser of SplitMix64 over a Weyl sequence. The host makes the same values again
// (RandomValues.java), so every step is exact: 24 random bits, of integers themselves, else as a
// multiple of 2^-20 in [-8, 8).
__device__ __forceinline__ int32_t random_bits(uint64_t seed, int64_t place) {
  uint64_t z = seed + static_cast<uint64_t>(place + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return static_cast<int32_t>(z >> 40);
}

__device__ __forceinline__ float random_value(uint64_t seed, int64_t place) {
  return static_cast<float>(random_bits(seed, place) - (1 << 23)) * 0x1p-20f;
}

template <class T>
__device__ __forceinline__ void fill_random(T* out, int64_t count, uint64_t seed) {
  for (int64_t i = global_thread(); i < count; i += global_threads()) {
    out[i] = from_accumulator<T>(random_value(seed, i));
  }
}

template <class T>
__device__ __forceinline__ void fill_random_integers(T* out, int64_t count, uint64_t seed) {
  for (int64_t i = global_thread(); i < count; i += global_threads()) out[i] = random_bits(seed, i);
}

template <class T>
__device__ __forceinline__ void count_nan(uint32_t* count, const T* in, int64_t length) {
  uint32_t found = 0;
  for (int64_t i = global_thread(); i < length; i += global_threads()) {
    const Accumulator<T> x = to_accumulator(in[i]);
    if (x != x) ++found;
  }
  if (found != 0) atomicAdd(count, found);
}

}  // namespace
}  // namespace culebra

#define CULEBRA_CEILINGS_DATA(type)                                                      \
  extern "C" __global__ void __launch_bounds__(culebra::kThreads)                        \
      culebra_ceilings_random_##type(culebra::type* out, int64_t count, uint64_t seed) { \
    culebra::fill_random(out, count, seed);                                              \
  }                                                                                      \
  CULEBRA_KERNEL(culebra_ceilings_random_##type, culebra::kThreads, out, count, seed)    \
  extern "C" __global__ void __launch_bounds__(culebra::kThreads)                        \
      culebra_ceilings_count_nan_##type(uint32_t* count, const culebra::type* in,        \
                                        int64_t length) {                                \
    culebra::count_nan(count, in, length);                                               \
  }                                                                                      \
  CULEBRA_KERNEL(culebra_ceilings_count_nan_##type, culebra::kThreads, count, in, length)

CULEBRA_CEILINGS_DATA(f16)
CULEBRA_CEILINGS_DATA(bf16)
CULEBRA_CEILINGS_DATA(f32)
CULEBRA_CEILINGS_DATA(f64)

#define CULEBRA_CEILINGS_INTEGERS(type)                                                  \
  extern "C" __global__ void __launch_bounds__(culebra::kThreads)                        \
      culebra_ceilings_random_##type(culebra::type* out, int64_t count, uint64_t seed) { \
    culebra::fill_random_integers(out, count, seed);                                     \
  }                                                                                      \
  CULEBRA_KERNEL(culebra_ceilings_random_##type, culebra::kThreads, out, count, seed)

CULEBRA_CEILINGS_INTEGERS(i32)
CULEBRA_CEILINGS_INTEGERS(i64)

// out = in, of `packs` packs of 16 bytes. Any grid.
extern "C" __global__ void __launch_bounds__(culebra::kThreads)
    culebra_ceilings_copy(uint32_t* out, const uint32_t* in, int64_t packs) {
  using namespace culebra;
  constexpr int kWords = kPackBytes / sizeof(uint32_t);
  for_packs_of_grid(
      packs,
      [&](int64_t first, int64_t step) {
        uint4 values[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
          values[u] = ptx::ld_global_v4_u32(in + (first + u * step) * kWords);
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
          ptx::st_global_v4_u32(out + (first + u * step) * kWords, values[u]);
      },
      [&](int64_t i) {
        ptx::st_global_v4_u32(out + i * kWords, ptx::ld_global_v4_u32(in + i * kWords));
      });
}
CULEBRA_KERNEL(culebra_ceilings_copy, culebra::kThreads, out, in, packs)

// sums[t] = the exclusive or of the words that thread t of the grid read, over `packs` packs of 16
// bytes. Any grid; the exclusive or of all sums is that of the array.
extern "C" __global__ void __launch_bounds__(culebra::kThreads)
    culebra_ceilings_read(uint32_t* sums, const uint32_t* in, int64_t packs) {
  using namespace culebra;
  constexpr int kWords = kPackBytes / sizeof(uint32_t);
  uint32_t sum = 0;
  const auto absorb = [&](uint4 value) { sum ^= value.x ^ value.y ^ value.z ^ value.w; };
  for_packs_of_grid(
      packs,
      [&](int64_t first, int64_t step) {
        uint4 values[kUnroll];
#pragma unroll
        for (int u = 0; u < kUnroll; ++u)
          values[u] = ptx::ld_global_v4_u32(in + (first + u * step) * kWords);
#pragma unroll
        for (int u = 0; u < kUnroll; ++u) absorb(values[u]);
      },
      [&](int64_t i) { absorb(ptx::ld_global_v4_u32(in + i * kWords)); });
  sums[global_thread()] = sum;
}
CULEBRA_KERNEL(culebra_ceilings_read, culebra::kThreads, sums, in, packs)

namespace culebra {
namespace {

// Independent chains of a thread: one alone waits for itself.
constexpr int kChains = 8;

// Tiles of a warp in the mma loop: kTilesM fragments of a with kTilesN of b make as many
// accumulators as their product, enough to keep the tensor cores busy.
constexpr int kTilesM = 2;
constexpr int kTilesN = 4;
constexpr int kMmaElements = kTilesM * 16 * 16 + kTilesN * 16 * 8;  // of a warp's inputs

// Tiles of a block in the wgmma loop: each of two warpgroups has an a of its own, b is common.
constexpr int kWgmmaM = 64;
constexpr int kWgmmaN = 256;
constexpr int kWgmmaK = 64;  // one swizzled row of 128 bytes: four steps of 16
constexpr int kWarpgroups = 2;
constexpr int kWgmmaElements = (kWarpgroups * kWgmmaM + kWgmmaN) * kWgmmaK;

}  // namespace
}  // namespace culebra

// out[t][chain] = x after `iterations` times x = 2^-x, from in[t][chain]. From any start the chains
// come to the same place, where x = 2^-x.
extern "C" __global__ void __launch_bounds__(culebra::kThreads)
    culebra_ceilings_ex2(float* out, const float* in, int64_t iterations) {
  using namespace culebra;
  float x[kChains];
  const int64_t first = global_thread() * kChains;
#pragma unroll
  for (int i = 0; i < kChains; ++i) x[i] = in[first + i];
  for (int64_t step = 0; step < iterations; ++step) {
#pragma unroll
    for (int i = 0; i < kChains; ++i) x[i] = ptx::ex2_approx_ftz_f32(-x[i]);
  }
#pragma unroll
  for (int i = 0; i < kChains; ++i) out[first + i] = x[i];
}
CULEBRA_KERNEL(culebra_ceilings_ex2, culebra::kThreads, out, in, iterations)

// For each warp w of the grid, `iterations` times the products of its kTilesM matrices a (16 x 16,
// row-major) with its kTilesN matrices b (16 x 8, column-major), which lie behind each other in
// in[w]. out[w][m][n][lane][r] is register r of the accumulator; see ptx/mma.cuh for its place.
extern "C" __global__ void __launch_bounds__(culebra::kThreads)
    culebra_ceilings_mma_bf16(float* out, const culebra::bf16* in, int64_t iterations) {
  using namespace culebra;
  const int64_t warp = global_thread() / 32;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int group = lane / 4;
  const int place = lane % 4;
  const bf16* matrices = in + warp * kMmaElements;

  uint32_t a[kTilesM][4];
  uint32_t b[kTilesN][2];
#pragma unroll
  for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
    for (int r = 0; r < 4; ++r) {
      const int row = group + 8 * (r % 2);
      const int column = 8 * (r / 2) + 2 * place;
      memcpy(&a[m][r], matrices + m * 256 + row * 16 + column, 4);
    }
  }
  matrices += kTilesM * 256;
#pragma unroll
  for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      memcpy(&b[n][r], matrices + n * 128 + group * 16 + 8 * r + 2 * place, 4);
    }
  }

  float sums[kTilesM][kTilesN][4] = {};
  for (int64_t step = 0; step < iterations; ++step) {
#pragma unroll
    for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
      for (int n = 0; n < kTilesN; ++n) {
        ptx::mma_sync_m16n8k16_f32_bf16_bf16_f32(sums[m][n], a[m], b[n], sums[m][n]);
      }
    }
  }
#pragma unroll
  for (int m = 0; m < kTilesM; ++m) {
#pragma unroll
    for (int n = 0; n < kTilesN; ++n) {
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        out[(((warp * kTilesM + m) * kTilesN + n) * 32 + lane) * 4 + r] = sums[m][n][r];
      }
    }
  }
}
CULEBRA_KERNEL(culebra_ceilings_mma_bf16, culebra::kThreads, out, in, iterations)

// wgmma has no CPU meaning, so this kernel is not in the emulator's image, and not in the index,
// which is made from the host build: who launches it states its signature.
#ifndef CULEBRA_HOST

// For each block, `iterations` times the products of each warpgroup's a (64 x 64, row-major) with
// the block's b (256 x 64, row-major, so that out = a * b^T); in[block] has the a of both
// warpgroups and then b. out[block][warpgroup][thread][i] is register i of the accumulator; see
// ptx/wgmma.cuh for its place. Blocks of 256 threads, 48 KiB of dynamic shared memory.
extern "C" __global__ void __launch_bounds__(culebra::kThreads)
    culebra_ceilings_wgmma_bf16(float* out, const culebra::bf16* in, int64_t iterations) {
  using namespace culebra;
  CULEBRA_SHARED_DYNAMIC(bf16, tiles);
  constexpr int kChunk = kPackBytes / sizeof(bf16);
  const bf16* mine = in + static_cast<int64_t>(blockIdx.x) * kWgmmaElements;
  // All tiles have rows of kWgmmaK, so they are swizzled as one tall matrix.
  for (int i = threadIdx.x * kChunk; i < kWgmmaElements; i += kThreads * kChunk) {
    const int row = i / kWgmmaK;
    const int chunk = i % kWgmmaK / kChunk;
    const uint4 bits = ptx::ld_global_v4_u32(mine + i);
    memcpy(tiles + row * kWgmmaK + (chunk ^ (row % 8)) * kChunk, &bits, kPackBytes);
  }
  // wgmma reads through the async proxy what was written through the generic one.
  ptx::wgmma_fence_proxy_async();
  __syncthreads();  // for everybody's part of the tiles

  const int warpgroup = static_cast<int>(threadIdx.x / 128);
  const uint64_t a = ptx::wgmma_descriptor_swizzle_128(tiles + warpgroup * kWgmmaM * kWgmmaK);
  const uint64_t b = ptx::wgmma_descriptor_swizzle_128(tiles + kWarpgroups * kWgmmaM * kWgmmaK);
  float sums[128];
#pragma unroll
  for (float& sum : sums) sum = 0;
  for (int64_t step = 0; step < iterations; ++step) {
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < kWgmmaK / 16; ++k) {
      // A descriptor has its address in units of 16 bytes; a step of 16 elements is 32 bytes.
      ptx::wgmma_m64n256k16_f32_bf16_bf16(sums, a + 2 * k, b + 2 * k);
    }
    ptx::wgmma_commit_group();
    ptx::wgmma_wait_group<1>();
  }
  ptx::wgmma_wait_group<0>();
  float* result = out + (static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x) * 128;
#pragma unroll
  for (int i = 0; i < 128; ++i) result[i] = sums[i];
}

#endif

// What a device can do at most, and what a benchmark needs to prove its work.
//
// Not shipped: they are in the test roots only (the emulator's, and the GPU bundle's). Symbols:
//
//   culebra_ceilings_copy             16 bytes in, 16 bytes out
//   culebra_ceilings_read             16 bytes in, a checksum out
//   culebra_ceilings_random_<type>    random values, each a function of a seed and its place
//   culebra_ceilings_count_nan_<type> how many elements are NaN
//
// Each gives a result that the host can compute as well: a ceiling that is not checked proves
// nothing.
#include "culebra/platform.cuh"

#include "culebra/ptx.cuh"
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
// (RandomValues.java), so every step is exact: 24 random bits as a multiple of 2^-20 in [-8, 8).
__device__ __forceinline__ float random_value(uint64_t seed, int64_t place) {
  uint64_t z = seed + static_cast<uint64_t>(place + 1) * 0x9E3779B97F4A7C15ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  z ^= z >> 31;
  return static_cast<float>(static_cast<int32_t>(z >> 40) - (1 << 23)) * 0x1p-20f;
}

template <class T>
__device__ __forceinline__ void fill_random(T* out, int64_t count, uint64_t seed) {
  for (int64_t i = global_thread(); i < count; i += global_threads()) {
    out[i] = from_accumulator<T>(random_value(seed, i));
  }
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

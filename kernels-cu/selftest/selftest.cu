// Kernels that test what real kernels are made of, and the host program's launches.
//
// Not shipped: they are in the test roots only (the emulator's, and the GPU bundle's). Symbols:
//
//   culebra_selftest_warp_<sum|max|min>_<f32|f64>    one reduction over each warp of a block
//   culebra_selftest_block_<sum|max|min>_<f32|f64>   many block reductions in a row, reusing
//   scratch culebra_selftest_online_merge_<f32|f64>          pairs of (m, d) states
//   culebra_selftest_online_block_<f32|f64>          a block's merge of one element a thread
//   culebra_selftest_echo_<f16|bf16|f32|f64>         a row through the accumulator's type and back
//   culebra_selftest_reverse_f32                     dynamic shared memory
//   culebra_selftest_axpy_f32, _fill_f32             the smallest useful kernels
//   culebra_selftest_write_at_u32                    writes where it is told to, also out of range
//   culebra_selftest_spin_u32                        runs as long as it is told to
#include "culebra/platform.cuh"

#include "culebra/block.cuh"
#include "culebra/online.cuh"
#include "culebra/operators.cuh"
#include "culebra/ptx.cuh"
#include "culebra/resident_row.cuh"
#include "culebra/types.cuh"
#include "culebra/warp.cuh"

namespace {

// The launch bound of kernels that do not care.
constexpr int kThreads = 1024;

__device__ int64_t global_thread() {
  return static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ int64_t global_threads() { return static_cast<int64_t>(gridDim.x) * blockDim.x; }

}  // namespace

// out[t] = the reduction of in over thread t's warp. One block of any size.
#define CULEBRA_WARP_TEST(name, Op, type)                                                   \
  extern "C" __global__ void __launch_bounds__(1024)                                        \
      culebra_selftest_warp_##name##_##type(culebra::type* out, const culebra::type* in) {  \
    out[threadIdx.x] = culebra::warp_reduce(in[threadIdx.x], culebra::Op<culebra::type>()); \
  }                                                                                         \
  CULEBRA_KERNEL(culebra_selftest_warp_##name##_##type, 1024, out, in)

// out[i, t] = the reduction of row i of in over the block, for each of `repeats` rows of blockDim.x
// elements. Nothing but the reduction's own barriers keeps one repeat from running into the next.
#define CULEBRA_BLOCK_TEST(name, Op, type)                                                   \
  extern "C" __global__ void __launch_bounds__(1024) culebra_selftest_block_##name##_##type( \
      culebra::type* out, const culebra::type* in, int64_t repeats) {                        \
    for (int64_t i = 0; i < repeats; ++i) {                                                  \
      const int64_t place = i * blockDim.x + threadIdx.x;                                    \
      out[place] = culebra::block_reduce(in[place], culebra::Op<culebra::type>());           \
    }                                                                                        \
  }                                                                                          \
  CULEBRA_KERNEL(culebra_selftest_block_##name##_##type, 1024, out, in, repeats)

// (m, d)[i] = the merge of (a_m, a_d)[i] and (b_m, b_d)[i], i < count. Any grid.
//
// and: (m, d)[t] = the merge of the states of all elements of a block, one element a thread.
#define CULEBRA_ONLINE_TEST(type)                                                                  \
  extern "C" __global__ void __launch_bounds__(1024) culebra_selftest_online_merge_##type(         \
      culebra::type* m, culebra::type* d, const culebra::type* a_m, const culebra::type* a_d,      \
      const culebra::type* b_m, const culebra::type* b_d, int64_t count, culebra::type scale) {    \
    const culebra::OnlineMerge<culebra::type> merge{scale};                                        \
    for (int64_t i = global_thread(); i < count; i += global_threads()) {                          \
      const culebra::OnlineState<culebra::type> state = merge({a_m[i], a_d[i]}, {b_m[i], b_d[i]}); \
      m[i] = state.m;                                                                              \
      d[i] = state.d;                                                                              \
    }                                                                                              \
  }                                                                                                \
  CULEBRA_KERNEL(culebra_selftest_online_merge_##type, 1024, m, d, a_m, a_d, b_m, b_d, count,      \
                 scale)                                                                            \
  extern "C" __global__ void __launch_bounds__(1024) culebra_selftest_online_block_##type(         \
      culebra::type* m, culebra::type* d, const culebra::type* in, culebra::type scale) {          \
    const culebra::OnlineState<culebra::type> state =                                              \
        culebra::block_reduce(culebra::OnlineState<culebra::type>::of(in[threadIdx.x]),            \
                              culebra::OnlineMerge<culebra::type>{scale});                         \
    m[threadIdx.x] = state.m;                                                                      \
    d[threadIdx.x] = state.d;                                                                      \
  }                                                                                                \
  CULEBRA_KERNEL(culebra_selftest_online_block_##type, 1024, m, d, in, scale)

// out[i] = in[i], i < count, read and written as a row of a softmax is. One block of any size. All
// bits but a NaN's payload come through.
#define CULEBRA_ECHO_TEST(type)                                                                  \
  extern "C" __global__ void __launch_bounds__(1024)                                             \
      culebra_selftest_echo_##type(culebra::type* out, const culebra::type* in, int64_t count) { \
    culebra::for_each_part<culebra::type, 2>(                                                    \
        in, count, culebra::from_accumulator<culebra::type>(0),                                  \
        [&](const auto& part, int64_t first, int part_count) {                                   \
          part.store(out + first, part_count, [](auto x) { return x; });                         \
        });                                                                                      \
  }                                                                                              \
  CULEBRA_KERNEL(culebra_selftest_echo_##type, 1024, out, in, count)

CULEBRA_WARP_TEST(sum, Sum, f32)
CULEBRA_WARP_TEST(sum, Sum, f64)
CULEBRA_WARP_TEST(max, Max, f32)
CULEBRA_WARP_TEST(max, Max, f64)
CULEBRA_WARP_TEST(min, Min, f32)
CULEBRA_WARP_TEST(min, Min, f64)

CULEBRA_BLOCK_TEST(sum, Sum, f32)
CULEBRA_BLOCK_TEST(sum, Sum, f64)
CULEBRA_BLOCK_TEST(max, Max, f32)
CULEBRA_BLOCK_TEST(max, Max, f64)
CULEBRA_BLOCK_TEST(min, Min, f32)
CULEBRA_BLOCK_TEST(min, Min, f64)

CULEBRA_ONLINE_TEST(f32)
CULEBRA_ONLINE_TEST(f64)

CULEBRA_ECHO_TEST(f16)
CULEBRA_ECHO_TEST(bf16)
CULEBRA_ECHO_TEST(f32)
CULEBRA_ECHO_TEST(f64)

// out[t] = in[blockDim.x - 1 - t]. One block of any size; 4 bytes of dynamic shared memory a
// thread.
extern "C" __global__ void __launch_bounds__(kThreads)
    culebra_selftest_reverse_f32(float* out, const float* in) {
  CULEBRA_SHARED_DYNAMIC(float, mirror);
  mirror[threadIdx.x] = in[threadIdx.x];
  // Each thread waits for the one at the other end.
  __syncthreads();
  out[threadIdx.x] = mirror[blockDim.x - 1 - threadIdx.x];
}
CULEBRA_KERNEL(culebra_selftest_reverse_f32, kThreads, out, in)

// y[i] += a * x[i], i < count. Any grid.
extern "C" __global__ void __launch_bounds__(kThreads)
    culebra_selftest_axpy_f32(float* y, const float* x, float a, int64_t count) {
  for (int64_t i = global_thread(); i < count; i += global_threads()) y[i] += a * x[i];
}
CULEBRA_KERNEL(culebra_selftest_axpy_f32, kThreads, y, x, a, count)

// out[i] = value, i < count. Any grid. Three parameters: the launch benchmark's kernel.
extern "C" __global__ void __launch_bounds__(kThreads)
    culebra_selftest_fill_f32(float* out, float value, int64_t count) {
  for (int64_t i = global_thread(); i < count; i += global_threads()) out[i] = value;
}
CULEBRA_KERNEL(culebra_selftest_fill_f32, kThreads, out, value, count)

// out[index] = value, by one thread; no check of any kind. With an index far outside of any
// allocation the launch fails, and with it the context.
extern "C" __global__ void __launch_bounds__(kThreads)
    culebra_selftest_write_at_u32(uint32_t* out, int64_t index, uint32_t value) {
  if (global_thread() == 0) out[index] = value;
}
CULEBRA_KERNEL(culebra_selftest_write_at_u32, kThreads, out, index, value)

// Lets `nanoseconds` pass, then out[0] = value. One thread is enough. Whatever reads out[0] earlier
// was not ordered behind this kernel.
extern "C" __global__ void __launch_bounds__(kThreads)
    culebra_selftest_spin_u32(uint32_t* out, uint32_t value, uint64_t nanoseconds) {
  const uint64_t start = culebra::ptx::mov_u64_globaltimer();
  while (culebra::ptx::mov_u64_globaltimer() - start < nanoseconds) {
    culebra::ptx::nanosleep_u32(1000);
  }
  if (global_thread() == 0) out[0] = value;
}
CULEBRA_KERNEL(culebra_selftest_spin_u32, kThreads, out, value, nanoseconds)

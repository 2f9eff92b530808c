// Two kernels of a user's own: what docs/your-own-kernels.md explains, whole.
#include "culebra/platform.cuh"

constexpr int kThreads = 256;

// y[i] += a * x[i], i < count. Any grid of blocks of up to kThreads threads.
extern "C" __global__ void __launch_bounds__(kThreads)
    saxpy(float* y, const float* x, float a, int64_t count) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += stride) {
    y[i] += a * x[i];
  }
}
CULEBRA_KERNEL(saxpy, kThreads, y, x, a, count)

// out[0] = the sum of x[i], i < count. One block of kThreads threads, a power of two.
extern "C" __global__ void __launch_bounds__(kThreads)
    block_sum(float* out, const float* x, int64_t count) {
  CULEBRA_SHARED(float, partial, kThreads);
  float sum = 0;
  for (int64_t i = threadIdx.x; i < count; i += kThreads) sum += x[i];
  partial[threadIdx.x] = sum;
  for (unsigned half = kThreads / 2; half != 0; half /= 2) {
    // Waits for the threads that wrote the upper half.
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) *out = partial[0];
}
CULEBRA_KERNEL(block_sum, kThreads, out, x, count)

// Kernels for the emulator's own tests: each shows one behaviour, right or wrong.
#include <cassert>

#include "culebra_emu/cuda.h"

namespace culebra_test {

struct Everything {
  signed char i8;
  short i16;
  int i32;
  long long i64;
  unsigned char u8;
  float f32;
  double f64;
  __half f16;
  __nv_bfloat16 bf16;
  const float* pointer;
};
CULEBRA_STRUCT(Everything, i8, i16, i32, i64, u8, f32, f64, f16, bf16, pointer)

template <class T>
__device__ T block_sum(T value) {
  CULEBRA_SHARED(T, partial, 32);
  for (int offset = 16; offset > 0; offset /= 2) {
    value += __shfl_xor_sync(0xFFFFFFFFu, value, offset);
  }
  __syncthreads();  // the last call's reads are over
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = value;
  __syncthreads();  // every warp's sum is there
  T sum = 0;
  for (unsigned i = 0; i < (blockDim.x + 31) / 32; ++i) sum += partial[i];
  return sum;
}

__device__ unsigned linear_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}

// Larger than any stack.
__device__ __noinline__ int recurse(int depth) {
  volatile char frame[1024];
  frame[0] = static_cast<char>(depth);
  return depth == 1000 ? 0 : recurse(depth + 1) + frame[0];
}

}  // namespace culebra_test

extern "C" __global__ void axpy(float* y, const float* x, float a, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
}
CULEBRA_KERNEL(axpy, 1024, y, x, a, n)

extern "C" __global__ void fill(unsigned* out, unsigned value, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}
CULEBRA_KERNEL(fill, 256, out, value, n)

extern "C" __global__ void nothing() {}
CULEBRA_KERNEL(nothing, 1024)

extern "C" __global__ void echo(culebra_test::Everything* out, culebra_test::Everything in) {
  *out = in;
}
CULEBRA_KERNEL(echo, 1, out, in)

// out[global thread] = its coordinates, packed.
extern "C" __global__ void coordinates(unsigned long long* out) {
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[static_cast<unsigned long long>(block) * threads + culebra_test::linear_thread()] =
      (static_cast<unsigned long long>(blockIdx.x) << 40) |
      (static_cast<unsigned long long>(blockIdx.y) << 32) |
      (static_cast<unsigned long long>(blockIdx.z) << 24) | (threadIdx.x << 12) |
      (threadIdx.y << 6) | threadIdx.z;
}
CULEBRA_KERNEL(coordinates, 1024, out)

// One row of 32 results for each collective.
extern "C" __global__ void collectives(unsigned* out) {
  const unsigned lane = threadIdx.x;
  unsigned row = 0;
  const auto put = [&](unsigned value) { out[32 * row++ + lane] = value; };
  const unsigned all = 0xFFFFFFFFu;
  put(__shfl_sync(all, lane * 10, 5));
  put(__shfl_sync(all, lane * 10, static_cast<int>(lane) + 1));
  put(__shfl_sync(all, lane * 10, 2, 8));
  put(__shfl_up_sync(all, lane * 10, 3));
  put(__shfl_down_sync(all, lane * 10, 3));
  put(__shfl_up_sync(all, lane * 10, 1, 4));
  put(__shfl_down_sync(all, lane * 10, 1, 4));
  put(__shfl_xor_sync(all, lane * 10, 7));
  put(__ballot_sync(all, lane % 3 == 0));
  put(static_cast<unsigned>(__any_sync(all, lane == 9)));
  put(static_cast<unsigned>(__any_sync(all, lane == 99)));
  put(static_cast<unsigned>(__all_sync(all, lane < 32)));
  put(static_cast<unsigned>(__all_sync(all, lane < 31)));
  put(__match_any_sync(all, lane / 8));
  put(__reduce_add_sync(all, lane));
  put(static_cast<unsigned>(__reduce_min_sync(all, static_cast<int>(lane) - 7)));
  put(__reduce_xor_sync(all, 1u << lane));
  // Two halves that do different things at the same time.
  unsigned half;
  if (lane < 16) {
    half = __shfl_xor_sync(0x0000FFFFu, lane, 1);
  } else {
    half = __ballot_sync(0xFFFF0000u, lane % 2);
  }
  put(half);
  put(__double_as_longlong(__shfl_sync(all, lane * 0.5, 31)) == __double_as_longlong(15.5));
  put(__activemask());
  __syncwarp();
  put(static_cast<unsigned>(__syncthreads_count(lane < 5)));
  put(static_cast<unsigned>(__syncthreads_and(lane < 31)));
  put(static_cast<unsigned>(__syncthreads_or(lane == 31)));
}
CULEBRA_KERNEL(collectives, 32, out)

extern "C" __global__ void block_sums(float* out, const float* in, int rounds) {
  float sum = 0;
  for (int i = 0; i < rounds; ++i) sum = culebra_test::block_sum(in[threadIdx.x]);
  const double wide = culebra_test::block_sum(static_cast<double>(in[threadIdx.x]));
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum + static_cast<float>(wide);
}
CULEBRA_KERNEL(block_sums, 1024, out, in, rounds)

extern "C" __global__ void atomics(unsigned* counters, float* sum) {
  atomicAdd(&counters[0], 1);
  atomicMax(&counters[1], blockIdx.x * blockDim.x + threadIdx.x);
  atomicInc(&counters[2], 9);
  atomicMin(&counters[3], 1000 - threadIdx.x);
  atomicAdd(sum, 0.5f);
  if (atomicCAS(&counters[4], 0, 7) == 0) atomicExch(&counters[5], 3);
}
CULEBRA_KERNEL(atomics, 256, counters, sum)

// What shared memory holds before anything is stored there, and that the next block does not see
// it.
extern "C" __global__ void shared_poison(unsigned* out, unsigned words) {
  CULEBRA_SHARED(unsigned, fixed, 64);
  CULEBRA_SHARED_DYNAMIC(unsigned, dynamic);
  out[4 * blockIdx.x] = fixed[63];
  out[4 * blockIdx.x + 1] = dynamic[words - 1];
  fixed[63] = 1;
  dynamic[words - 1] = 2;
  out[4 * blockIdx.x + 2] = fixed[63];
  out[4 * blockIdx.x + 3] = dynamic[words - 1];
}
CULEBRA_KERNEL(shared_poison, 1, out, words)

// Uses one array, or both.
extern "C" __global__ void shared_in_branches(unsigned* out, unsigned both) {
  CULEBRA_SHARED(unsigned, always, 100);
  always[0] = 1;
  if (both != 0) {
    CULEBRA_SHARED(unsigned, sometimes, 200);
    sometimes[0] = 1;
    always[0] += sometimes[0];
  }
  out[0] = always[0];
}
CULEBRA_KERNEL(shared_in_branches, 1, out, both)

// Odd threads leave; the rest meet at a barrier all the same, as on the hardware.
extern "C" __global__ void early_exit(unsigned* out) {
  if (threadIdx.x % 2 == 1) return;
  out[threadIdx.x] = static_cast<unsigned>(__syncthreads_count(1));
  out[threadIdx.x + 1] = __ballot_sync(0xFFFFFFFFu, 1);
}
CULEBRA_KERNEL(early_exit, 1024, out)

// Thread 0 polls for what the last thread writes.
extern "C" __global__ void poll(volatile unsigned* flag) {
  if (threadIdx.x == blockDim.x - 1) *flag = 1;
  if (threadIdx.x == 0) {
    while (*flag == 0) __nanosleep(10);
    *flag = 2;
  }
}
CULEBRA_KERNEL(poll, 1024, flag)

// Thread 0 polls for what comes from outside, and all others wait for it.
extern "C" __global__ void wait_for(volatile unsigned* flag) {
  if (threadIdx.x == 0) {
    while (*flag == 0) __nanosleep(1000);
  }
  __syncthreads();
}
CULEBRA_KERNEL(wait_for, 1024, flag)

extern "C" __global__ void spin(unsigned long long nanoseconds) {
  const long long end = clock64() + static_cast<long long>(nanoseconds);
  while (clock64() < end) __nanosleep(1000);
}
CULEBRA_KERNEL(spin, 1024, nanoseconds)

// list[++list[0]] = value: the order in which launches ran.
extern "C" __global__ void append(unsigned* list, unsigned value) { list[++list[0]] = value; }
CULEBRA_KERNEL(append, 1, list, value)

extern "C" __global__ void divergent_barrier(unsigned* out) {
  if (threadIdx.x < 32) {
    __syncthreads();
    out[0] = 1;
  } else {
    __syncthreads();
    out[1] = 1;
  }
}
CULEBRA_KERNEL(divergent_barrier, 1024, out)

extern "C" __global__ void barrier_deadlock() {
  if (threadIdx.x == 7) {
    __syncwarp(0x00000180u);  // with lane 8, which is at the block's barrier
  }
  __syncthreads();
}
CULEBRA_KERNEL(barrier_deadlock, 64)

extern "C" __global__ void mixed_collectives(unsigned* out) {
  if (threadIdx.x == 3) {
    out[0] = __ballot_sync(0xFFFFFFFFu, 1);
  } else {
    out[threadIdx.x] = __shfl_sync(0xFFFFFFFFu, 1u, 0);
  }
}
CULEBRA_KERNEL(mixed_collectives, 32, out)

extern "C" __global__ void not_in_mask() { __syncwarp(threadIdx.x == 2 ? 1u : 0xFFFFFFFFu); }
CULEBRA_KERNEL(not_in_mask, 32)

extern "C" __global__ void store(int* address, int value) { *address = value; }
CULEBRA_KERNEL(store, 1, address, value)

extern "C" __global__ void load_vector(const uint4* address, uint4* out) {
  *out = culebra_emu::ld_global_v4_u32(address);
}
CULEBRA_KERNEL(load_vector, 1, address, out)

extern "C" __global__ void overflow_stack(int* out) { *out = culebra_test::recurse(0); }
CULEBRA_KERNEL(overflow_stack, 1, out)

// Touches the far end of 120,000 bytes, and no more of them than that.
extern "C" __global__ void use_large_frame(int* out) {
  volatile char frame[120'000];
  frame[0] = 7;
  *out = frame[0];
}
CULEBRA_KERNEL(use_large_frame, 1, out)

extern "C" __global__ void trap() { __trap(); }
CULEBRA_KERNEL(trap, 1)

extern "C" __global__ void builtin_trap() { __builtin_trap(); }
CULEBRA_KERNEL(builtin_trap, 1)

extern "C" __global__ void assert_below(unsigned limit) { assert(threadIdx.x < limit); }
CULEBRA_KERNEL(assert_below, 64, limit)

#if defined(__x86_64__)
// An instruction that no processor has.
extern "C" __global__ void illegal_instruction() { asm volatile(".byte 0x0f, 0xff, 0xc0"); }
CULEBRA_KERNEL(illegal_instruction, 1)
#endif

// What sanitizers report is what this is for.
extern "C" __global__
    __attribute__((no_sanitize("integer-divide-by-zero", "signed-integer-overflow"))) void
    divide(int* out, int by) {
  *out = *out / by;
}
CULEBRA_KERNEL(divide, 1, out, by)

extern "C" __global__ void beyond_shared(int bytes) {
  CULEBRA_SHARED_DYNAMIC(char, dynamic);
  dynamic[bytes] = 1;
}
CULEBRA_KERNEL(beyond_shared, 1, bytes)

extern "C" __global__ void read_shared(int index) {
  CULEBRA_SHARED_DYNAMIC(volatile char, dynamic);
  static_cast<void>(dynamic[index]);
}
CULEBRA_KERNEL(read_shared, 1, index)

extern "C" __global__ void beyond_static_shared(int index) {
  CULEBRA_SHARED(int, first, 10);
  CULEBRA_SHARED(int, second, 10);
  int* const start = first;  // its length is forgotten, or a sanitizer would end the process
  start[index] = 1;
  second[0] = first[0];
}
CULEBRA_KERNEL(beyond_static_shared, 1, index)

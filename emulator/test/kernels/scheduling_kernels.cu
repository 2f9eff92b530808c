// Kernels whose result or whose end depends on who runs when, and those for whom it must not.
#include "culebra/platform.cuh"

#include "culebra/grid.cuh"
#include "culebra/ptx/special_registers.cuh"
#include "culebra/ptx/sync.cuh"

namespace {

__device__ unsigned global_thread() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace

// order[i] = the thread that was the i-th to come, at the start and behind a barrier.
extern "C" __global__ void order_of_threads(unsigned* counters, unsigned* order) {
  order[atomicAdd(&counters[0], 1)] = global_thread();
  __syncthreads();
  order[gridDim.x * blockDim.x + atomicAdd(&counters[1], 1)] = global_thread();
}
CULEBRA_KERNEL(order_of_threads, 1024, counters, order)

// Every thread takes a lock by spinning on it, with no call that is made for waiting.
extern "C" __global__ void spin_lock(unsigned* lock, unsigned* count) {
  while (atomicCAS(lock, 0u, 1u) != 0) {
  }
  // Someone else may run while the lock is held.
  const unsigned before = *count;
  for (int i = 0; i < 3; ++i) culebra::ptx::ld_acquire_gpu_u32(lock);
  *count = before + 1;
  atomicExch(lock, 0u);
}
CULEBRA_KERNEL(spin_lock, 1024, lock, count)

// The first thread waits for the last one's flag, by an acquiring load.
extern "C" __global__ void acquire_flag(uint64_t* flag, unsigned* out) {
  CULEBRA_SHARED(unsigned, data, 1);
  if (threadIdx.x == blockDim.x - 1) {
    data[0] = 42;
    culebra::ptx::st_release_cta_u64(&flag[blockIdx.x], 1);
  }
  if (threadIdx.x == 0) {
    while (culebra::ptx::ld_acquire_cta_u64(&flag[blockIdx.x]) == 0) {
    }
    out[blockIdx.x] = data[0];
  }
}
CULEBRA_KERNEL(acquire_flag, 1024, flag, out)

// A flag that nobody sets.
extern "C" __global__ void poll_forever(const uint32_t* flag) {
  if (threadIdx.x == 3) {
    while (culebra::ptx::ld_acquire_gpu_u32(flag) == 0) {
    }
  }
  __syncthreads();
}
CULEBRA_KERNEL(poll_forever, 1024, flag)

// Loops that tell the emulator nothing: over a volatile load (0), over arithmetic (1), mostly in
// the C library (2), over loads of a flag that a thread would set which never gets to run (3).
// Other threads wait at a barrier.
extern "C" __global__ void loop_forever(volatile uint32_t* flag, float* out, unsigned how) {
  if (how == 3 && threadIdx.x == blockDim.x - 1) flag[0] = 1;
  if (threadIdx.x == 0) {
    float x = 1;
    while (flag[0] == 0) {
      if (how == 1) x = x * 1.0001f + 1.0f;
      if (how == 2) x = expf(sinf(x)) + static_cast<float>(clock64());
    }
    out[0] = x;
  }
  __syncthreads();
}
CULEBRA_KERNEL(loop_forever, 1024, flag, out, how)

// Lanes that meet in a collective again and again, and never end.
extern "C" __global__ void meet_forever(unsigned* out) {
  while (__any_sync(0xFFFFFFFFu, threadIdx.x < 99) != 0) out[0] += threadIdx.x == 0;
}
CULEBRA_KERNEL(meet_forever, 32, out)

// In each round every block adds its neighbour's value of the round before: wrong if a block is
// ahead.
extern "C" __global__ void rounds_of_grid(unsigned* values, uint64_t* arrived, unsigned rounds) {
  const unsigned blocks = gridDim.x;
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned* const from = values + (round % 2) * blocks;
    unsigned* const to = values + (1 - round % 2) * blocks;
    if (threadIdx.x == 0) to[blockIdx.x] = from[(blockIdx.x + 1) % blocks] + from[blockIdx.x];
    culebra::grid_sync(arrived);
  }
}
CULEBRA_KERNEL(rounds_of_grid, 1024, values, arrived, rounds)

extern "C" __global__ void special_registers(unsigned* out) {
  using namespace culebra::ptx;
  unsigned* const mine = out + 9 * global_thread();
  mine[0] = mov_u32_laneid();
  mine[1] = mov_u32_warpid();
  mine[2] = mov_u32_lanemask_eq();
  mine[3] = mov_u32_lanemask_lt();
  mine[4] = mov_u32_lanemask_le();
  mine[5] = mov_u32_lanemask_gt();
  mine[6] = mov_u32_lanemask_ge();
  mine[7] = mov_u32_dynamic_smem_size();
  mine[8] = mov_u32_smid() < mov_u32_nsmid() && mov_u32_nsmid() == 132 && mov_u32_nwarpid() == 64;
}
CULEBRA_KERNEL(special_registers, 1024, out)

struct alignas(16) Pair {
  unsigned long long low, high;
  bool operator==(const Pair&) const = default;
};

// Every type that atomics have, on places that all threads share.
extern "C" __global__ void atomic_types(void* place) {
  char* const at = static_cast<char*>(place);
  atomicAdd(reinterpret_cast<int*>(at), -1);
  atomicAdd_system(reinterpret_cast<unsigned long long*>(at + 8), 1ull << 33);
  atomicAdd_block(reinterpret_cast<double*>(at + 16), 0.5);
  atomicMin(reinterpret_cast<long long*>(at + 24), -static_cast<long long>(threadIdx.x) << 32);
  atomicMax_system(reinterpret_cast<int*>(at + 32), static_cast<int>(threadIdx.x) - 5);
  atomicAdd(reinterpret_cast<__half*>(at + 36), __float2half(1.0f));
  atomicAdd(reinterpret_cast<__half2*>(at + 40), __floats2half2_rn(1.0f, 2.0f));
  atomicAdd(reinterpret_cast<__nv_bfloat162*>(at + 44),
            __nv_bfloat162{__float2bfloat16(1.0f), __float2bfloat16(0.5f)});
  atomicAdd(reinterpret_cast<float4*>(at + 48), make_float4(1, 2, 3, 4));
  culebra::ptx::red_add_relaxed_gpu_u32(reinterpret_cast<uint32_t*>(at + 64), 3);
  culebra::ptx::atom_add_acq_rel_sys_u64(reinterpret_cast<uint64_t*>(at + 72), 5);
  // 128 bits: both halves grow together, or the sum of some thread is lost.
  auto* const pair = reinterpret_cast<Pair*>(at + 80);
  Pair seen = {0, 0};
  for (;;) {
    const Pair old = atomicCAS(pair, seen, Pair{seen.low + 1, seen.high + 2});
    if (old == seen) break;
    seen = old;
  }
  atomicExch(reinterpret_cast<Pair*>(at + 96), Pair{7, 8});
}
CULEBRA_KERNEL(atomic_types, 1024, place)

extern "C" __global__ void misaligned_atomic(char* place) {
  atomicAdd(reinterpret_cast<unsigned*>(place + 2), 1u);
}
CULEBRA_KERNEL(misaligned_atomic, 1, place)

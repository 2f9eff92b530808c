// Mistakes with asynchronous copies and mbarriers, and with the warp's matrix instructions; each
// kernel makes one.
#include "culebra/platform.cuh"

#include "culebra/ptx.cuh"

namespace {

using namespace culebra::ptx;

__device__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace

// out[t] = what a copy brought, read too early: before any wait (0), behind a wait for another
// group (1), behind another thread's wait (2), and behind its own wait (3). One block of 32.
extern "C" __global__ void async_early_read(uint32_t* out, const uint32_t* in, uint32_t how) {
  CULEBRA_SHARED(uint32_t, words, 64);
  cp_async_ca_shared_global<4>(shared_address(&words[32 + threadIdx.x]), in + threadIdx.x);
  cp_async_commit_group();
  cp_async_ca_shared_global<4>(shared_address(&words[threadIdx.x]), in + threadIdx.x);
  cp_async_commit_group();
  if (how == 1) cp_async_wait_group<1>();
  if (how == 2 && threadIdx.x >= 16) cp_async_wait_all();
  if (how == 3) cp_async_wait_all();
  __syncthreads();
  out[threadIdx.x] = words[threadIdx.x];
}
CULEBRA_KERNEL(async_early_read, 32, out, in, how)

// The source is overwritten before the wait.
extern "C" __global__ void async_overwritten_source(uint32_t* out, uint32_t* in) {
  CULEBRA_SHARED(uint32_t, words, 32);
  cp_async_ca_shared_global<4>(shared_address(&words[threadIdx.x]), in + threadIdx.x);
  in[threadIdx.x] = 7;
  cp_async_wait_all();
  out[threadIdx.x] = words[threadIdx.x];
}
CULEBRA_KERNEL(async_overwritten_source, 32, out, in)

extern "C" __global__ void async_misaligned(const char* in) {
  CULEBRA_SHARED(uint32_t, words, 32);
  cp_async_ca_shared_global<8>(shared_address(words), in + 4);
}
CULEBRA_KERNEL(async_misaligned, 32, in)

extern "C" __global__ void async_bad_source(const char* in) {
  CULEBRA_SHARED(uint32_t, words, 32);
  cp_async_ca_shared_global<4>(shared_address(words), in);
}
CULEBRA_KERNEL(async_bad_source, 32, in)

// One thread does with an mbarrier what `how` says; object[1] is never initialised.
extern "C" __global__ void mbarrier_mistake(uint32_t how) {
  CULEBRA_SHARED(uint64_t, object, 2);
  const uint32_t barrier = shared_address(object);
  mbarrier_init_shared_b64(barrier, how == 0 ? 0 : 2);
  switch (how) {
    case 1:
      mbarrier_arrive_shared_b64(barrier + 8);
      break;
    case 2:
      mbarrier_init_shared_b64(barrier, 2);
      break;
    case 3:
      mbarrier_arrive_shared_b64(barrier, 3);
      break;
    case 4:
      mbarrier_expect_tx_relaxed_cta_shared_b64(barrier, 1u << 19);
      mbarrier_expect_tx_relaxed_cta_shared_b64(barrier, 1u << 19);
      break;
    case 5:
      object[0] = 0;
      mbarrier_arrive_shared_b64(barrier);
      break;
    case 6:
      mbarrier_inval_shared_b64(barrier);
      mbarrier_test_wait_parity_shared_b64(barrier, 0);
      break;
    case 7: {
      const uint64_t state = mbarrier_arrive_shared_b64(barrier);
      for (int i = 0; i < 3; ++i) mbarrier_arrive_shared_b64(barrier);
      mbarrier_test_wait_shared_b64(barrier, state);
      break;
    }
    case 8:
      mbarrier_init_shared_b64(barrier + 4, 1);
      break;
    case 9:
      while (!mbarrier_try_wait_parity_shared_b64(barrier, 0)) {
      }
      break;
    case 10:
      while (!mbarrier_try_wait_parity_shared_b64(barrier, 0)) __nanosleep(20);
      break;
    default:
      break;
  }
}
CULEBRA_KERNEL(mbarrier_mistake, 64, how)

// Threads wait for an mbarrier while others meet at barriers for long, and then arrive.
extern "C" __global__ void mbarrier_slow_arrival(uint32_t* out) {
  CULEBRA_SHARED(uint64_t, object, 1);
  const uint32_t barrier = shared_address(object);
  if (threadIdx.x == 0) mbarrier_init_shared_b64(barrier, 1);
  __syncthreads();
  if (threadIdx.x < 32) {
    for (int i = 0; i < 20'000; ++i) __syncwarp();
    if (threadIdx.x == 0) mbarrier_arrive_shared_b64(barrier);
  } else {
    while (!mbarrier_test_wait_parity_shared_b64(barrier, 0)) {
    }
  }
  out[threadIdx.x] = 1;
}
CULEBRA_KERNEL(mbarrier_slow_arrival, 64, out)

// out[t] = whether thread t gave up after so many looks at an mbarrier, of which one thread then
// completes the phase.
extern "C" __global__ void mbarrier_bounded_looks(uint32_t* out, uint32_t looks) {
  CULEBRA_SHARED(uint64_t, object, 1);
  const uint32_t barrier = shared_address(object);
  if (threadIdx.x == 0) mbarrier_init_shared_b64(barrier, 1);
  __syncthreads();
  uint32_t left = looks;
  while (left != 0 && !mbarrier_test_wait_parity_shared_b64(barrier, 0)) --left;
  out[threadIdx.x] = left == 0;
  __syncthreads();
  if (threadIdx.x == 0) mbarrier_arrive_shared_b64(barrier);
  while (!mbarrier_test_wait_parity_shared_b64(barrier, 0)) {
  }
}
CULEBRA_KERNEL(mbarrier_bounded_looks, 64, out, looks)

// out[t] = in[t] through a bulk copy, of which the thread waits: not (0), by one look without a
// look at its answer (1), properly (2).
extern "C" __global__ void bulk_early_read(uint32_t* out, const uint32_t* in, uint32_t how) {
  CULEBRA_SHARED(uint4, words, 8);
  CULEBRA_SHARED(uint64_t, object, 1);
  const uint32_t barrier = shared_address(object);
  if (threadIdx.x == 0) {
    mbarrier_init_shared_b64(barrier, 1);
    mbarrier_arrive_expect_tx_shared_b64(barrier, 128);
    cp_async_bulk_shared_cluster_global(shared_address(words), in, 128, barrier);
  }
  __syncthreads();
  if (how == 1 && threadIdx.x == 5) mbarrier_test_wait_parity_shared_b64(barrier, 0);
  while (how == 2 && !mbarrier_test_wait_parity_shared_b64(barrier, 0)) {
  }
  out[threadIdx.x] = reinterpret_cast<const uint32_t*>(words)[threadIdx.x];
  __syncthreads();
  while (how != 0 && !mbarrier_test_wait_parity_shared_b64(barrier, 0)) {
  }
}
CULEBRA_KERNEL(bulk_early_read, 32, out, in, how)

// out [2][32] = t + 100 and t + 200, stored by bulk copies; `how`: no fence (0), none in the second
// round (1), both (2), no wait for the source before it is overwritten (3), no wait at the end (4).
extern "C" __global__ void bulk_store_mistake(uint32_t* out, uint32_t how) {
  CULEBRA_SHARED(uint4, words, 8);
  for (uint32_t round = 0; round < 2; ++round) {
    reinterpret_cast<uint32_t*>(words)[threadIdx.x] = 100 * (round + 1) + threadIdx.x;
    if (how >= 2 || (how == 1 && round == 0)) fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      cp_async_bulk_global_shared_cta(out + 32 * round, shared_address(words), 128);
      cp_async_bulk_commit_group();
      if (how != 3 && how != 4) cp_async_bulk_wait_group_read<0>();
    }
    __syncthreads();
  }
  if (how != 4) cp_async_bulk_wait_group<0>();
}
CULEBRA_KERNEL(bulk_store_mistake, 32, out, how)

// out[4 i] = i for each of `count`, by one bulk copy each, of which only the sources are waited
// for; waiting[0] = how many are still to land then. One thread.
extern "C" __global__ void bulk_stores_read_only(uint32_t* out, uint32_t* waiting, uint32_t count) {
  CULEBRA_SHARED(uint4, word, 1);
  for (uint32_t i = 0; i < count; ++i) {
    word[0] = make_uint4(i, 0, 0, 0);
    fence_proxy_async();
    cp_async_bulk_global_shared_cta(out + 4 * i, shared_address(word), 16);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group_read<0>();
    cp_async_bulk_commit_group();  // an empty one
  }
  uint32_t missing = 0;
  for (uint32_t i = 0; i < count; ++i) missing += out[4 * i] != i;
  waiting[0] = missing;
}
CULEBRA_KERNEL(bulk_stores_read_only, 1, out, waiting, count)

extern "C" __global__ void bulk_bad_operand(const char* in, uint32_t bytes) {
  CULEBRA_SHARED(uint4, words, 8);
  CULEBRA_SHARED(uint64_t, object, 1);
  mbarrier_init_shared_b64(shared_address(object), 1);
  cp_async_bulk_shared_cluster_global(shared_address(words), in, bytes, shared_address(object));
}
CULEBRA_KERNEL(bulk_bad_operand, 1, in, bytes)

// A row that does not begin at a multiple of 16 bytes.
extern "C" __global__ void ldmatrix_misaligned() {
  CULEBRA_SHARED(uint4, tile, 9);
  uint32_t registers[1];
  ldmatrix_x1(registers,
              shared_address(tile) + 16 * (threadIdx.x % 8) + (threadIdx.x == 3 ? 8 : 0));
}
CULEBRA_KERNEL(ldmatrix_misaligned, 32)

// A matrix instruction in a warp without all of its lanes, and one that only half of the lanes
// reach.
extern "C" __global__ void mma_partial(uint32_t diverge) {
  float d[4] = {0, 0, 0, 0};
  const uint32_t a[4] = {0, 0, 0, 0}, b[2] = {0, 0};
  if (diverge != 0 && threadIdx.x >= 16) {
    __syncthreads();
    return;
  }
  mma_sync_m16n8k16_f32_bf16_bf16_f32(d, a, b, d);
  __syncthreads();
}
CULEBRA_KERNEL(mma_partial, 32, diverge)

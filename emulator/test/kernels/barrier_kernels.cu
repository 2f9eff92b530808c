// Kernels with numbered barriers.
#include "culebra_emu/cuda.h"

using culebra_emu::bar_arrive;
using culebra_emu::bar_red_and_pred;
using culebra_emu::bar_red_or_pred;
using culebra_emu::bar_red_popc_u32;
using culebra_emu::bar_sync;

// Producer warps fill a buffer, consumer warps empty it, through two barriers (full and empty),
// `rounds` times: each side arrives where the other waits. out[consumer thread] = sum of what it
// saw.
extern "C" __global__ void produce_consume(unsigned* out, unsigned rounds) {
  CULEBRA_SHARED(unsigned, buffer, 64);
  constexpr unsigned kFull = 1, kEmpty = 2, kBoth = 128;
  const bool producer = threadIdx.x < 64;
  if (producer) {
    for (unsigned round = 0; round < rounds; ++round) {
      bar_sync(kEmpty, kBoth);  // until the consumers have emptied it
      buffer[threadIdx.x] = 100 * round + threadIdx.x;
      bar_arrive(kFull, kBoth);
    }
  } else {
    const unsigned lane = threadIdx.x - 64;
    unsigned sum = 0;
    bar_arrive(kEmpty, kBoth);
    for (unsigned round = 0; round < rounds; ++round) {
      bar_sync(kFull, kBoth);
      sum += buffer[63 - lane];
      if (round + 1 < rounds) bar_arrive(kEmpty, kBoth);
    }
    out[lane] = sum;
  }
}
CULEBRA_KERNEL(produce_consume, 128, out, rounds)

// Each pair of warps has its own barrier, all of them at a time.
extern "C" __global__ void pairs_of_warps(unsigned* out) {
  CULEBRA_SHARED(unsigned, value, 1024);
  const unsigned pair = threadIdx.x / 64;
  unsigned sum = 0;
  for (unsigned round = 0; round < 3 + pair; ++round) {
    value[threadIdx.x] = threadIdx.x + round;
    bar_sync(pair, 64);
    sum += value[threadIdx.x ^ 32];
    bar_sync(pair, 64);
  }
  out[threadIdx.x] = sum;
}
CULEBRA_KERNEL(pairs_of_warps, 1024, out)

// out[3 * thread ...] = popc, and, or over the upper half's threads, then over all of the block.
extern "C" __global__ void barrier_reductions(unsigned* out) {
  const unsigned half = blockDim.x / 2;
  unsigned* const mine = out + 6 * threadIdx.x;
  if (threadIdx.x >= half) {
    mine[0] = bar_red_popc_u32(5, half, threadIdx.x % 3 == 0);
    mine[1] = bar_red_and_pred(5, half, threadIdx.x >= half);
    mine[2] = bar_red_or_pred(5, half, threadIdx.x == blockDim.x - 1);
  }
  mine[3] = bar_red_popc_u32(0, blockDim.x, threadIdx.x % 3 == 0);
  mine[4] = bar_red_and_pred(15, 0, threadIdx.x != 7);
  mine[5] = bar_red_or_pred(0, 0, threadIdx.x > 5000);
}
CULEBRA_KERNEL(barrier_reductions, 1024, out)

// One warp hands over what it has to the other at barrier 0, and does not wait there: warp `how %
// 2`, of which warp 0 starts first. With 2 it then exits.
extern "C" __global__ void arrive_at_barrier_0(unsigned* out, unsigned how) {
  CULEBRA_SHARED(unsigned, value, 32);
  const unsigned arriving = how % 2;
  if (threadIdx.x / 32 == arriving) {
    value[threadIdx.x % 32] = 500 + threadIdx.x % 32;
    bar_arrive(0, 64);
    if (how == 2) return;
  } else {
    bar_sync(0, 64);
    out[threadIdx.x % 32] = value[threadIdx.x % 32];
  }
  // Once both know that it is over it can be used again, also as that of __syncthreads.
  if (how == 2) return;
  bar_sync(1, 64);
  __syncthreads();
}
CULEBRA_KERNEL(arrive_at_barrier_0, 64, out, how)

// Lanes and whole warps that have exited are not waited for; a warp of which a lane is left counts
// as a whole one.
extern "C" __global__ void exited_at_barrier(unsigned* out) {
  const unsigned warp = threadIdx.x / 32;
  if (warp == 3) return;
  if (threadIdx.x % 32 > warp) return;
  out[threadIdx.x] = bar_red_popc_u32(4, 0, true);
  bar_sync(6, 96);
}
CULEBRA_KERNEL(exited_at_barrier, 128, out)

// Wrong on purpose; all for blocks of 128 threads.

extern "C" __global__ void barrier_mistake(int which) {
  const unsigned warp = threadIdx.x / 32;
  switch (which) {
    case 0:  // a warp that never comes
      if (warp != 2) bar_sync(3, 128);
      break;
    case 1:  // not whole warps
      bar_sync(3, 100);
      break;
    case 2:  // more than the block has
      bar_sync(3, 256);
      break;
    case 3:  // two counts
      bar_sync(3, warp == 0 ? 64 : 96);
      break;
    case 4:  // twice, before the others
      if (warp == 0) {
        bar_arrive(3, 96);
        bar_arrive(3, 96);
      }
      break;
    case 5:
      bar_sync(16, 128);
      break;
    case 6:  // lanes apart
      bar_sync(threadIdx.x % 2, 64);
      break;
    case 7:  // barrier 0 by its number, for some, and as __syncthreads, for all
      if (warp == 0) {
        bar_sync(0, 64);
      } else {
        __syncthreads();
      }
      break;
    case 8:  // half of a warp does not come
      if (threadIdx.x % 32 < 16) {
        bar_sync(3, 128);
      } else {
        __syncwarp(0xFFFF0000u);
        while (true) __syncthreads();
      }
      break;
    case 9:
      bar_arrive(3, 0);
      break;
    case 10:  // twice, before the others
      if (warp == 0) {
        bar_arrive(0, 128);
        bar_arrive(0, 128);
      }
      break;
    case 11:  // an arrival for some, and one for all
      bar_arrive(0, warp == 0 ? 64 : 128);
      break;
  }
}
CULEBRA_KERNEL(barrier_mistake, 128, which)

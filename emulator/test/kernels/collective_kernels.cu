// Every warp collective, for a mask and a sub-warp width that the test chooses.
#include "culebra_emu/cuda.h"

// The lanes of `exited` leave first; those of `mask` (which may name exited ones) meet in every
// collective. out[row * 32 + lane] is a lane's result of the row-th.
extern "C" __global__ void collectives_of_mask(unsigned* out, unsigned mask, unsigned exited,
                                               int width) {
  const unsigned lane = threadIdx.x;
  if ((exited >> lane & 1) != 0) return;
  unsigned row = 0;
  const auto put = [&](unsigned value) { out[32 * row++ + lane] = value; };
  if ((mask >> lane & 1) == 0) {
    // The others do something else meanwhile.
    const unsigned rest = ~mask & ~exited;
    for (int i = 0; i < 5; ++i) __syncwarp(rest);
    return;
  }
  const unsigned value = 1000 + 7 * lane;
  put(__shfl_sync(mask, value, static_cast<int>(3 * lane + 5), width));
  put(__shfl_up_sync(mask, value, 3, width));
  put(__shfl_down_sync(mask, value, 2, width));
  put(__shfl_xor_sync(mask, value, 5, width));
  const unsigned long long wide = 0x100000001ull * value;
  put(static_cast<unsigned>(__shfl_xor_sync(mask, wide, 1, width) >> 32));
  put(static_cast<unsigned>(__shfl_xor_sync(mask, static_cast<double>(value), 1, width)));
  put(static_cast<unsigned>(
      __half2float(__shfl_xor_sync(mask, __float2half(static_cast<float>(lane)), 1, width))));
  put(static_cast<unsigned>(__bfloat162float(
      __shfl_xor_sync(mask, __float2bfloat16(static_cast<float>(lane)), 1, width))));
  put(__ballot_sync(mask, lane % 3 == 0));
  put(static_cast<unsigned>(__any_sync(mask, lane == 13)));
  put(static_cast<unsigned>(__all_sync(mask, lane != 13)));
  put(__match_any_sync(mask, lane / 5));
  put(__match_any_sync(mask, static_cast<unsigned long long>(lane % 2) << 40));
  int all = -1;
  put(__match_all_sync(mask, lane / 32, &all));
  put(static_cast<unsigned>(all));
  put(__match_all_sync(mask, lane == 13, &all));
  put(static_cast<unsigned>(all));
  put(__reduce_add_sync(mask, value));
  put(__reduce_min_sync(mask, value));
  put(__reduce_max_sync(mask, value));
  put(static_cast<unsigned>(__reduce_add_sync(mask, -static_cast<int>(value))));
  put(static_cast<unsigned>(__reduce_min_sync(mask, 20 - static_cast<int>(lane))));
  put(static_cast<unsigned>(__reduce_max_sync(mask, -static_cast<int>(lane))));
  put(__reduce_and_sync(mask, ~(1u << lane)));
  put(__reduce_or_sync(mask, 1u << lane));
  put(__reduce_xor_sync(mask, 3u << lane));
  put(culebra_emu::elect_sync(mask));
  __syncwarp(mask);
  put(__activemask());
}
CULEBRA_KERNEL(collectives_of_mask, 32, out, mask, exited, width)

// Each quarter of the warp goes its own way, then all meet: masks of several sizes in one warp.
extern "C" __global__ void quarters(unsigned* out) {
  const unsigned lane = threadIdx.x;
  const unsigned mine = 0xFFu << (lane / 8 * 8);
  unsigned sum = lane;
  for (unsigned i = 0; i <= lane / 8; ++i) sum = __reduce_add_sync(mine, sum);
  out[lane] = __reduce_add_sync(0xFFFFFFFFu, sum);
}
CULEBRA_KERNEL(quarters, 32, out)

// Wrong on purpose.
extern "C" __global__ void collective_mistake(int which) {
  const unsigned lane = threadIdx.x;
  switch (which) {
    case 0:
      __shfl_sync(0xFFFFFFFFu, lane, 0, 12);
      break;
    case 1:  // two votes of one mask
      if (lane < 16) {
        __ballot_sync(0xFFFFFFFFu, 1);
      } else {
        __syncwarp();
      }
      break;
    case 2:  // a lane that never comes
      if (lane != 9) __syncwarp();
      if (lane == 9) __syncthreads();
      break;
    case 3:
      __reduce_add_sync(0x0000FFFFu, lane);
      break;
  }
}
CULEBRA_KERNEL(collective_mistake, 32, which)

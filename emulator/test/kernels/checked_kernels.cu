// For the tests of CULEBRA_EMU_CHECK: each kernel is right with `wrong` = 0 and shows one mistake
// with 1.
#include "culebra/ptx.cuh"

extern "C" __global__ void beyond_bound(unsigned* out, unsigned n, unsigned wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + wrong) out[i] = i;
}
CULEBRA_KERNEL(beyond_bound, 1024, out, n, wrong)

// Reads 16 bytes of which the last few may lie beyond.
extern "C" __global__ void vector_beyond_bound(uint4* out, const char* in, unsigned wrong) {
  out[0] = culebra_emu::ld_global_v4_u32(in + 16 * wrong);
}
CULEBRA_KERNEL(vector_beyond_bound, 1, out, in, wrong)

extern "C" __global__ void read_one(unsigned* out, const unsigned* in) { out[0] = in[0]; }
CULEBRA_KERNEL(read_one, 1, out, in)

namespace culebra_test {
struct Large {
  unsigned words[25];
};
}  // namespace culebra_test

extern "C" __global__ void copy_struct(unsigned* out, const unsigned* in) {
  *reinterpret_cast<culebra_test::Large*>(out) = *reinterpret_cast<const culebra_test::Large*>(in);
}
CULEBRA_KERNEL(copy_struct, 1, out, in)

extern "C" __global__ void static_array_beyond(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, first, 32);
  CULEBRA_SHARED(unsigned, second, 32);
  first[threadIdx.x] = threadIdx.x;
  second[threadIdx.x] = 0;
  __syncthreads();
  // (Through a pointer: the compiler itself looks at an index into an array that it knows.)
  const unsigned* const from = first;
  out[threadIdx.x] = from[threadIdx.x + wrong] + second[threadIdx.x];
}
CULEBRA_KERNEL(static_array_beyond, 32, out, wrong)

extern "C" __global__ void one_of_the_shared_array(unsigned* out, unsigned index) {
  CULEBRA_SHARED(unsigned, words, 1024);
  words[index] = 3;
  out[0] = words[index];
}
CULEBRA_KERNEL(one_of_the_shared_array, 1, out, index)

extern "C" __global__ void dynamic_array_before(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED_DYNAMIC(unsigned, words);
  words[static_cast<int>(threadIdx.x) - static_cast<int>(wrong)] = 1;
  out[threadIdx.x] = words[threadIdx.x];
}
CULEBRA_KERNEL(dynamic_array_before, 1024, out, wrong)

// Each thread reads what another one stored.
extern "C" __global__ void reverse(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 1024);
  words[threadIdx.x] = threadIdx.x;
  if (wrong == 0) __syncthreads();
  out[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x];
}
CULEBRA_KERNEL(reverse, 1024, out, wrong)

// The second round's stores overtake the first one's loads.
extern "C" __global__ void reuse(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 1024);
  unsigned sum = 0;
  for (unsigned round = 0; round < 2; ++round) {
    words[threadIdx.x] = threadIdx.x + round;
    __syncthreads();
    sum += words[(threadIdx.x + 1) % blockDim.x];
    if (wrong == 0) __syncthreads();
  }
  out[threadIdx.x] = sum;
}
CULEBRA_KERNEL(reuse, 1024, out, wrong)

// A reduction in a warp's own part of shared memory.
extern "C" __global__ void warp_sum(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 1024);
  const unsigned lane = threadIdx.x % 32;
  words[threadIdx.x] = 1;
  for (unsigned offset = 16; offset > 0; offset /= 2) {
    if (wrong == 0) __syncwarp();
    if (lane < offset) words[threadIdx.x] += words[threadIdx.x + offset];
  }
  if (lane == 0) out[threadIdx.x / 32] = words[threadIdx.x];
}
CULEBRA_KERNEL(warp_sum, 1024, out, wrong)

// A shuffle makes lanes meet, but orders nothing of what they do to memory.
extern "C" __global__ void shuffle_is_no_fence(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 32);
  words[threadIdx.x] = threadIdx.x;
  const unsigned other = __shfl_xor_sync(0xFFFFFFFFu, threadIdx.x, 1);
  if (wrong == 0) __syncwarp();
  out[threadIdx.x] = words[other];
}
CULEBRA_KERNEL(shuffle_is_no_fence, 32, out, wrong)

extern "C" __global__ void count(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, counter, 1);
  if (threadIdx.x == 0) counter[0] = 0;
  __syncthreads();
  atomicAdd(&counter[0], 1);
  if (wrong == 0) __syncthreads();
  if (threadIdx.x == 0) out[0] = counter[0];
}
CULEBRA_KERNEL(count, 1024, out, wrong)

// Half-words of one word belong to different threads.
extern "C" __global__ void narrow(unsigned short* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned short, words, 1024);
  words[threadIdx.x & ~wrong] = static_cast<unsigned short>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = words[threadIdx.x & ~wrong];
}
CULEBRA_KERNEL(narrow, 1024, out, wrong)

// The last thread hands its word over to the first one by a flag; wrong: before it is there.
extern "C" __global__ void hand_over(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 2);
  if (threadIdx.x == 0) words[1] = 0;
  __syncthreads();
  if (threadIdx.x == blockDim.x - 1) {
    if (wrong == 0) words[0] = 7;
    __threadfence_block();
    atomicExch(&words[1], 1);
    if (wrong != 0) words[0] = 7;
  }
  if (threadIdx.x == 0) {
    while (atomicAdd(&words[1], 0) == 0) __nanosleep(10);
    __threadfence_block();
    out[0] = words[0];
  }
}
CULEBRA_KERNEL(hand_over, 1024, out, wrong)

extern "C" __global__ void unwritten_shared(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 64);
  if (threadIdx.x != 5 || wrong == 0) words[threadIdx.x] = 0;
  __syncthreads();
  out[threadIdx.x] = words[threadIdx.x];
}
CULEBRA_KERNEL(unwritten_shared, 64, out, wrong)

// A thread that leaves is no longer waited for, and what it did is ordered all the same.
extern "C" __global__ void leave_early(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 64);
  words[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 32) return;
  if (wrong == 0) __syncthreads();
  out[threadIdx.x] = words[threadIdx.x + 32];
}
CULEBRA_KERNEL(leave_early, 64, out, wrong)

// One warp hands over to another by a numbered barrier; wrong: the other one does not wait.
extern "C" __global__ void warp_to_warp(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, words, 32);
  if (threadIdx.x < 32) {
    words[threadIdx.x] = threadIdx.x;
    culebra_emu::bar_arrive(1, 64);
  } else if (wrong == 0) {
    culebra_emu::bar_sync(1, 64);
    out[threadIdx.x - 32] = words[63 - threadIdx.x];
  } else {
    out[threadIdx.x - 32] = words[63 - threadIdx.x];
    culebra_emu::bar_sync(1, 64);
  }
}
CULEBRA_KERNEL(warp_to_warp, 64, out, wrong)

// out[t] = what the thread of the other warp stored before the cluster's barrier. Wrong: 1: the
// last thread, whose arrival completes the phase, loads before its wait; 2: the first thread stores
// behind its arrival, when the phase is not complete; 3: the arrivals are relaxed.
extern "C" __global__ void across_cluster_barrier(unsigned* out, unsigned how) {
  CULEBRA_SHARED(unsigned, value, 64);
  const unsigned other = threadIdx.x ^ 32;
  const bool stores_late = how == 2 && threadIdx.x == 0;
  const bool loads_early = how == 1 && threadIdx.x == 63;
  if (!stores_late) value[threadIdx.x] = threadIdx.x;
  if (how == 3) {
    culebra_emu::barrier_cluster_arrive_relaxed();
  } else {
    culebra_emu::barrier_cluster_arrive();
  }
  if (stores_late) value[threadIdx.x] = threadIdx.x;
  if (loads_early) out[threadIdx.x] = value[other];
  culebra_emu::barrier_cluster_wait();
  if (!loads_early) out[threadIdx.x] = value[other];
  // The memory is used again, behind another round of the barrier.
  culebra_emu::barrier_cluster_arrive();
  culebra_emu::barrier_cluster_wait();
  if (threadIdx.x == 0) {
    for (unsigned t = 0; t < 64; ++t) value[t] = 0;
  }
}
CULEBRA_KERNEL(across_cluster_barrier, 64, out, how)

// The upper warp exits; what it stored is there behind the cluster's barrier of the others.
extern "C" __global__ void exited_before_cluster_barrier(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, value, 64);
  value[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 32) return;
  if (wrong == 0) {
    culebra_emu::barrier_cluster_arrive();
    culebra_emu::barrier_cluster_wait();
  }
  out[threadIdx.x] = value[threadIdx.x + 32];
}
CULEBRA_KERNEL(exited_before_cluster_barrier, 64, out, wrong)

// The upper warp arrives at barrier 0, and the lower one waits there; then one of the upper
// one's threads stores, before all others have come.
extern "C" __global__ void arrive_only(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, value, 64);
  value[threadIdx.x] = threadIdx.x;
  if (threadIdx.x >= 32) {
    culebra_emu::bar_arrive(0, 64);
    if (wrong == 1 && threadIdx.x == 32) value[threadIdx.x] = 0;
  } else {
    culebra_emu::bar_sync(0, 64);
    out[threadIdx.x] = value[threadIdx.x + 32];
  }
}
CULEBRA_KERNEL(arrive_only, 64, out, wrong)

// Two blocks, six tiles of 64 words, one or two stages: block 0 loads each tile for both by a
// multicast when the threads of both have arrived at its mbarrier. out[64 * block + t] = the sum
// over the tiles. wrong: the threads of block 1 arrive before they have read.
extern "C" __global__ void multicast_pipeline(unsigned* out, const unsigned* in,
                                              unsigned stage_count, unsigned wrong) {
  using namespace culebra::ptx;
  constexpr unsigned kTiles = 6, kWords = 64;
  CULEBRA_SHARED(unsigned, stages, 2 * kWords);
  CULEBRA_SHARED(uint64_t, full, 2);
  CULEBRA_SHARED(uint64_t, empty, 2);
  const auto address = [](const void* pointer) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
  };
  const unsigned t = threadIdx.x, rank = mov_u32_cluster_ctarank();
  if (t == 0) {
    for (unsigned i = 0; i < stage_count; ++i) {
      mbarrier_init_shared_b64(address(&full[i]), 1);
      mbarrier_init_shared_b64(address(&empty[i]), 2 * kWords);
      mbarrier_arrive_expect_tx_shared_b64(address(&full[i]), 4 * kWords);
    }
    fence_mbarrier_init_release_cluster();
  }
  barrier_cluster_arrive_release();
  barrier_cluster_wait_acquire();
  const auto load = [&](unsigned tile) {
    const unsigned stage = tile % stage_count;
    while (
        !mbarrier_try_wait_parity_shared_b64(address(&empty[stage]), tile / stage_count % 2 ^ 1)) {
    }
    cp_async_bulk_shared_cluster_global_multicast_cluster(
        address(&stages[stage * kWords]), in + tile * kWords, 4 * kWords, address(&full[stage]), 3);
  };
  if (rank == 0 && t == 0) {
    for (unsigned tile = 0; tile < stage_count; ++tile) load(tile);
  }
  unsigned sum = 0;
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    const unsigned stage = tile % stage_count;
    const unsigned ahead = tile + stage_count - 1;
    if (rank == 0 && t == 0 && tile != 0 && ahead < kTiles) load(ahead);
    while (!mbarrier_try_wait_parity_shared_b64(address(&full[stage]), tile / stage_count % 2)) {
    }
    const auto arrive = [&] {
      // The stage's next tile is expected before anybody can load it.
      if (t == 0 && tile + stage_count < kTiles) {
        mbarrier_arrive_expect_tx_shared_b64(address(&full[stage]), 4 * kWords);
      }
      mbarrier_arrive_release_cluster_shared_cluster_b64(
          mapa_shared_cluster_u32(address(&empty[stage]), 0));
    };
    if (wrong != 0 && rank == 1) arrive();
    sum += stages[stage * kWords + (t + tile) % kWords];
    if (wrong == 0 || rank == 0) arrive();
  }
  out[kWords * rank + t] = sum;
  barrier_cluster_arrive_release();
  barrier_cluster_wait_acquire();
}
CULEBRA_KERNEL(multicast_pipeline, 64, out, in, stage_count, wrong)
CULEBRA_CLUSTER(multicast_pipeline, 2, 1, 1)

// Two blocks. The first warp of block 0 tells block 1, which tells the second warp of block 0: by
// mbarriers, by atomics in the peer's shared memory (1) or by a flag in global memory (2). That one
// reads what the first one stored before it told; wrong: or stored behind that.
extern "C" __global__ void round_trip(unsigned* out, unsigned* flags, unsigned how,
                                      unsigned wrong) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(unsigned, value, 32);
  CULEBRA_SHARED(unsigned, told, 1);
  CULEBRA_SHARED(uint64_t, barrier, 1);
  const uint32_t object = static_cast<uint32_t>(__cvta_generic_to_shared(barrier));
  const unsigned t = threadIdx.x, rank = mov_u32_cluster_ctarank();
  if (t == 0) {
    told[0] = 0;
    mbarrier_init_shared_b64(object, 32);
    fence_mbarrier_init_release_cluster();
  }
  barrier_cluster_arrive_release();
  barrier_cluster_wait_acquire();
  const auto tell = [&] {
    if (how == 0) {
      mbarrier_arrive_release_cluster_shared_cluster_b64(mapa_shared_cluster_u32(object, rank ^ 1));
    } else {
      red_add_release_gpu_u32(how == 1 ? mapa_u64(told, rank ^ 1) : flags + (rank ^ 1), 1);
    }
  };
  const auto be_told = [&] {
    if (how == 0) {
      while (!mbarrier_try_wait_parity_shared_b64(object, 0)) {
      }
    } else {
      while (ld_acquire_gpu_u32(how == 1 ? told : flags + rank) != 32) {
      }
    }
  };
  if (rank == 1) {
    if (t >= 32) {
      be_told();
      tell();
    }
  } else if (t < 32) {
    if (wrong == 0) value[t] = t;
    tell();
    if (wrong != 0) value[t] = t;
  } else {
    be_told();
    out[t] = value[t - 32];
  }
  barrier_cluster_arrive_release();
  barrier_cluster_wait_acquire();
}
CULEBRA_KERNEL(round_trip, 64, out, flags, how, wrong)
CULEBRA_CLUSTER(round_trip, 2, 1, 1)

// out[t] = t, by a bulk copy of what all 64 threads store. The fence is in the storing threads (0),
// in the one that copies, behind the barrier (1); wrongly in one of the two warps (2), before the
// stores (3) or in the copying thread before the barrier (4).
extern "C" __global__ void fenced_store(unsigned* out, unsigned how) {
  using namespace culebra::ptx;
  CULEBRA_SHARED(uint4, rows, 16);
  unsigned* const words = reinterpret_cast<unsigned*>(rows);
  const unsigned t = threadIdx.x;
  if (how == 3) fence_proxy_async_shared_cta();
  words[t] = t;
  if (how == 0 || (how == 2 && t < 32) || (how == 4 && t == 0)) fence_proxy_async_shared_cta();
  __syncthreads();
  if (t == 0) {
    if (how == 1) fence_proxy_async_shared_cta();
    cp_async_bulk_global_shared_cta(out, static_cast<uint32_t>(__cvta_generic_to_shared(rows)),
                                    256);
    cp_async_bulk_commit_group();
    cp_async_bulk_wait_group<0>();
  }
}
CULEBRA_KERNEL(fenced_store, 64, out, how)

// Variables of the image, side by side.
__constant__ float table[4] = {1, 2, 3, 4};
__device__ float counters[4];
__device__ unsigned unset[64];
__device__ unsigned guard_flag;

extern "C" __global__ void read_table(float* out, unsigned n) {
  if (threadIdx.x < n) out[threadIdx.x] = table[threadIdx.x];
}
CULEBRA_KERNEL(read_table, 32, out, n)

extern "C" __global__ void write_counters(float* out, unsigned n) {
  if (threadIdx.x < n) counters[threadIdx.x] = table[threadIdx.x & 3];
  if (threadIdx.x < 4) out[threadIdx.x] = counters[threadIdx.x];
}
CULEBRA_KERNEL(write_counters, 32, out, n)

// Of no variable's bytes has anybody written one.
extern "C" __global__ void read_unset(unsigned* out) { out[threadIdx.x] = unset[threadIdx.x]; }
CULEBRA_KERNEL(read_unset, 64, out)

// By an address, of which the compiler knows no array.
extern "C" __global__ void read_at(unsigned* out, const unsigned* in, long long index) {
  out[0] = in[index];
}
CULEBRA_KERNEL(read_at, 1, out, in, index)

extern "C" __global__ void copy_halves(unsigned* out, const char* in) {
  unsigned value;
  memcpy(&value, in, sizeof value);
  out[0] = value;
}
CULEBRA_KERNEL(copy_halves, 1, out, in)

// The last of a struct's members, and an array of the thread's own.
extern "C" __global__ void index_beyond(unsigned* out, unsigned in_struct, int index) {
  if (in_struct != 0) {
    out[0] = reinterpret_cast<const culebra_test::Large*>(out)->words[index];
    return;
  }
  unsigned own[3] = {out[0], out[1], out[2]};
  for (unsigned i = 0; i < 3; ++i) own[i] += own[(i + out[3]) % 3];
  out[0] = own[index];
}
CULEBRA_KERNEL(index_beyond, 1, out, in_struct, index)

// A flag that is a variable orders as one in allocated memory does.
extern "C" __global__ void flag_in_a_variable(unsigned* out, unsigned wrong) {
  CULEBRA_SHARED(unsigned, word, 1);
  if (threadIdx.x == 0) {
    word[0] = 42;
    atomicExch(&guard_flag, 1u);
  } else if (threadIdx.x == 32) {
    while (wrong == 0 && culebra::ptx::ld_acquire_gpu_u32(&guard_flag) == 0) {
    }
    out[0] = word[0];
  }
}
CULEBRA_KERNEL(flag_in_a_variable, 64, out, wrong)

extern "C" __global__ void clear(unsigned char* out, unsigned long long bytes) {
  memset(out, 0, bytes);
}
CULEBRA_KERNEL(clear, 1, out, bytes)

extern "C" __global__ void poll_plainly(volatile unsigned* flag) {
  while (flag[0] == 0) {
  }
}
CULEBRA_KERNEL(poll_plainly, 64, flag)

// An atomic operation is one, however the shim does it.
extern "C" __global__ void add_beyond(unsigned* out, unsigned at) { atomicAdd(out + at, 1u); }
CULEBRA_KERNEL(add_beyond, 1, out, at)

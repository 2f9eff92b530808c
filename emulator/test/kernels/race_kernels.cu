// For the tests of CULEBRA_EMU_CHECK=race between blocks: what is right, and mistakes.
#include <cooperative_groups.h>

#include "culebra/ptx.cuh"

namespace cg = cooperative_groups;

// Block 0 stores a word in each thread and tells block 1, which reads them. Right: 0 two fences, 1
// a release and an acquire, 2 a volatile flag and fences, 3 the fences in every thread. Wrong: 4 no
// fence before the flag, 5 none behind it, 6 one for the block only, 7 the stores come behind the
// flag, 8 the flag is stored for the block only, 9 nobody waits for the flag.
extern "C" __global__ void tell_other_block(unsigned* out, unsigned* words, unsigned* flag,
                                            unsigned how) {
  using namespace culebra::ptx;
  const unsigned t = threadIdx.x;
  if (blockIdx.x == 0) {
    if (how != 7) words[t] = t;
    if (how == 3) __threadfence();
    __syncthreads();
    if (t == 0) {
      if (how == 0 || how == 2 || how == 5 || how == 7 || how == 9) __threadfence();
      if (how == 6) __threadfence_block();
      if (how == 1) {
        st_release_gpu_u32(flag, 1);
      } else if (how == 2) {
        *static_cast<volatile unsigned*>(flag) = 1;
      } else if (how == 8) {
        st_release_cta_u32(flag, 1);
      } else {
        atomicExch(flag, 1u);
      }
    }
    if (how == 7) words[t] = t;
  } else {
    if (t == 0 && how != 9) {
      if (how == 1 || how == 8) {
        while (ld_acquire_gpu_u32(flag) == 0) {
        }
      } else if (how == 2) {
        while (*static_cast<volatile unsigned*>(flag) == 0) __nanosleep(10);
      } else {
        while (atomicAdd(flag, 0u) == 0) __nanosleep(10);
      }
      if (how != 3 && how != 5) __threadfence();
    }
    __syncthreads();
    if (how == 3) __threadfence();
    out[t] = words[t];
  }
}
CULEBRA_KERNEL(tell_other_block, 64, out, words, flag, how)

// The counter of a pass over all blocks is a variable.
__device__ unsigned blocks_done;

// Each block stores its number; the last one adds them up. how: 0 right, 1 no fence before the
// count, 2 none behind it, 3 right, by a count that releases and acquires.
extern "C" __global__ void last_block_sums(unsigned* out, unsigned* words, unsigned how) {
  CULEBRA_SHARED(unsigned, before, 1);
  if (threadIdx.x == 0) {
    words[blockIdx.x] = blockIdx.x;
    if (how == 0 || how == 2) __threadfence();
    before[0] = how == 3 ? culebra::ptx::atom_add_acq_rel_gpu_u32(&blocks_done, 1)
                         : atomicAdd(&blocks_done, 1u);
    if (how == 0 || how == 1) __threadfence();
  }
  __syncthreads();
  if (before[0] != gridDim.x - 1 || threadIdx.x != 0) return;
  blocks_done = 0;
  unsigned sum = 0;
  for (unsigned block = 0; block < gridDim.x; ++block) sum += words[block];
  out[0] = sum;
}
CULEBRA_KERNEL(last_block_sums, 64, out, words, how)

// Right: 0 a half of a word each, 1 atomic sums, 2 all read what nobody stores. Wrong: 3 all store
// to one word, 4 atomic sums that are for the block only, 5 an atomic sum and a plain load, 6 one
// block reads what another one stores.
extern "C" __global__ void same_word(unsigned* words, unsigned how) {
  auto* const halves = reinterpret_cast<unsigned short*>(words);
  const unsigned block = blockIdx.x;
  if (how == 0) halves[block] = static_cast<unsigned short>(block);
  if (how == 1) atomicAdd(words, 1u);
  if (how == 2) words[block + 1] = words[0];
  if (how == 3) words[0] = block;
  if (how == 4) atomicAdd_block(words, 1u);
  if (how == 5) words[1] = block == 0 ? atomicAdd(words, 1u) : words[0];
  if (how == 6) words[block] = words[(block + 1) % gridDim.x];
}
CULEBRA_KERNEL(same_word, 1, words, how)

// A cooperative launch: out[b] = what the next block stored. The last thread stores, too, and exits
// before the others meet. wrong: the blocks do not meet.
extern "C" __global__ void meet_as_grid(unsigned* out, unsigned* words, unsigned rounds,
                                        unsigned wrong) {
  const unsigned t = threadIdx.x, block = blockIdx.x, next = (block + 1) % gridDim.x;
  unsigned* const last = words + gridDim.x;
  if (t == blockDim.x - 1) {
    last[block] = block;
    return;
  }
  for (unsigned round = 0; round < rounds; ++round) {
    if (t == 0) words[block] = block + round;
    if (wrong == 0) cg::this_grid().sync();
    if (t == 0) out[block] = words[next] + last[next];
    if (wrong == 0) cg::this_grid().sync();
  }
}
CULEBRA_KERNEL(meet_as_grid, 64, out, words, rounds, wrong)

// Clusters of two blocks: each reads what its peer stored; wrong: what one of another cluster did.
extern "C" __global__ void meet_as_cluster(unsigned* out, unsigned* words, unsigned wrong) {
  words[blockIdx.x] = blockIdx.x;
  culebra_emu::barrier_cluster_arrive();
  culebra_emu::barrier_cluster_wait();
  out[blockIdx.x] = words[blockIdx.x ^ (wrong == 0 ? 1 : 2)];
}
CULEBRA_KERNEL(meet_as_cluster, 1, out, words, wrong)
CULEBRA_CLUSTER(meet_as_cluster, 2, 1, 1)

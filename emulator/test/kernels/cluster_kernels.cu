// Kernels that run in clusters.
#include "culebra_emu/cuda.h"

namespace {

constexpr unsigned kThreads = 64;

__device__ void cluster_sync() {
  culebra_emu::barrier_cluster_arrive();
  culebra_emu::barrier_cluster_wait();
}

}  // namespace

// out[8 * block ...] = what a block knows of its cluster.
extern "C" __global__ void cluster_coordinates(unsigned* out) {
  if (threadIdx.x != 0) return;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const auto pack = [](culebra_emu::Index3 i) { return i.x | i.y << 8 | i.z << 16; };
  unsigned* const mine = out + 8 * block;
  mine[0] = culebra_emu::cluster_ctarank();
  mine[1] = culebra_emu::cluster_nctarank();
  mine[2] = pack(culebra_emu::cluster_ctaid());
  mine[3] = pack(culebra_emu::cluster_nctaid());
  mine[4] = pack(culebra_emu::clusterid());
  mine[5] = pack(culebra_emu::nclusterid());
  mine[6] = culebra_emu::is_explicit_cluster();
  mine[7] = pack({blockIdx.x, blockIdx.y, blockIdx.z});
}
CULEBRA_KERNEL(cluster_coordinates, 64, out)

// Each block puts its number into its shared memory; every thread then reads its neighbour's, by a
// generic address and by a 32-bit one. Odd blocks use another array first: a variable must lie at
// the same offset in all blocks all the same.
extern "C" __global__ void cluster_exchange(unsigned* out, unsigned rounds) {
  if (blockIdx.x % 2 == 1) {
    CULEBRA_SHARED(unsigned, other, 5);
    other[threadIdx.x % 5] = 1;
  }
  CULEBRA_SHARED(unsigned, value, kThreads);
  CULEBRA_SHARED_DYNAMIC(unsigned, dynamic);
  const unsigned next = (culebra_emu::cluster_ctarank() + 1) % culebra_emu::cluster_nctarank();
  unsigned sum = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    value[threadIdx.x] = 1000 * blockIdx.x + threadIdx.x + round;
    dynamic[threadIdx.x] = 7 * blockIdx.x + round;
    cluster_sync();  // every block's values are there
    const unsigned* const theirs = culebra_emu::mapa(value, next);
    const std::uint32_t address = culebra_emu::mapa_shared_cluster_u32(
        static_cast<std::uint32_t>(__cvta_generic_to_shared(&dynamic[threadIdx.x])), next);
    sum +=
        theirs[threadIdx.x] + *static_cast<const unsigned*>(culebra_emu::shared_pointer(address));
    cluster_sync();  // every block has read
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
CULEBRA_KERNEL(cluster_exchange, 64, out, rounds)

// Threads arrive, do something else, and wait: the barrier's halves are apart.
extern "C" __global__ void cluster_split(unsigned* out) {
  CULEBRA_SHARED(unsigned, flag, 1);
  if (threadIdx.x == 0) flag[0] = 40 + culebra_emu::cluster_ctarank();
  culebra_emu::barrier_cluster_arrive();
  // A block barrier and a collective between the halves disturb nothing.
  const unsigned votes = static_cast<unsigned>(__syncthreads_count(1));
  culebra_emu::barrier_cluster_wait();
  const unsigned last = culebra_emu::cluster_nctarank() - 1;
  out[blockIdx.x * blockDim.x + threadIdx.x] = *culebra_emu::mapa(flag, last) + 100 * votes;
  cluster_sync();
}
CULEBRA_KERNEL(cluster_split, 1024, out)

// The first thread of each block leaves at once, and one more between the halves.
extern "C" __global__ void cluster_early_exit(unsigned* out) {
  if (threadIdx.x == 0) return;
  culebra_emu::barrier_cluster_arrive();
  if (threadIdx.x == 1) return;
  culebra_emu::barrier_cluster_wait();
  cluster_sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
CULEBRA_KERNEL(cluster_early_exit, 64, out)

// A shared address survives the way to 32 bits and back, for every block of the cluster.
extern "C" __global__ void cluster_addresses(unsigned* out) {
  CULEBRA_SHARED(unsigned, value, 3);
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(&value[1]));
  unsigned ok = __cvta_shared_to_generic(address) == &value[1];
  ok &= culebra_emu::getctarank(&value[1]) == culebra_emu::cluster_ctarank();
  ok &= __isShared(&value[2]) == 1 && __isShared(out) == 0;
  for (unsigned rank = 0; rank < culebra_emu::cluster_nctarank(); ++rank) {
    const std::uint32_t there = culebra_emu::mapa_shared_cluster_u32(address, rank);
    ok &= __cvta_shared_to_generic(there) == culebra_emu::mapa(&value[1], rank);
    ok &= culebra_emu::getctarank_shared_cluster_u32(there) == rank;
    ok &= culebra_emu::getctarank(culebra_emu::mapa(value, rank)) == rank;
  }
  out[blockIdx.x] = ok;
}
CULEBRA_KERNEL(cluster_addresses, 1, out)

extern "C" __global__ void cluster_of_two(unsigned* out) {
  cluster_sync();
  out[blockIdx.x] = culebra_emu::cluster_nctarank();
}
CULEBRA_KERNEL(cluster_of_two, 1, out)
CULEBRA_CLUSTER(cluster_of_two, 2, 1, 1)

// Wrong on purpose.

extern "C" __global__ void cluster_wait_without_arrive() { culebra_emu::barrier_cluster_wait(); }
CULEBRA_KERNEL(cluster_wait_without_arrive, 64)

extern "C" __global__ void cluster_arrive_twice() {
  culebra_emu::barrier_cluster_arrive();
  culebra_emu::barrier_cluster_arrive();
}
CULEBRA_KERNEL(cluster_arrive_twice, 64)

// Block 1 waits at its own barrier for a thread that is at the cluster's.
extern "C" __global__ void cluster_deadlock() {
  if (blockIdx.x == 1 && threadIdx.x != 0) {
    __syncthreads();
  } else {
    cluster_sync();
  }
}
CULEBRA_KERNEL(cluster_deadlock, 64)

// Block 0 reads block 1's memory after block 1 has left.
extern "C" __global__ void cluster_read_after_exit(unsigned* out) {
  CULEBRA_SHARED(unsigned, value, 1);
  value[0] = blockIdx.x;
  culebra_emu::barrier_cluster_arrive();
  culebra_emu::barrier_cluster_wait();
  if (blockIdx.x == 0) {
    while (*static_cast<volatile unsigned*>(&out[1]) == 0) __nanosleep(1);
    __nanosleep(1);
    out[0] = *culebra_emu::mapa(value, 1);
  } else {
    out[1] = 1;
  }
}
CULEBRA_KERNEL(cluster_read_after_exit, 1, out)

extern "C" __global__ void cluster_bad_rank(unsigned* out) {
  CULEBRA_SHARED(unsigned, value, 1);
  out[0] = *culebra_emu::mapa(value, culebra_emu::cluster_nctarank());
}
CULEBRA_KERNEL(cluster_bad_rank, 1, out)

extern "C" __global__ void cluster_not_shared(unsigned* out) {
  out[0] = *culebra_emu::mapa(out, 0);
}
CULEBRA_KERNEL(cluster_not_shared, 1, out)

// Stores beyond a peer's array.
extern "C" __global__ void cluster_store_behind() {
  CULEBRA_SHARED(unsigned, value, 4);
  culebra_emu::mapa(value, 1)[4] = 1;
}
CULEBRA_KERNEL(cluster_store_behind, 1)

// Clusters of blocks: their coordinates, their barrier, and each other's shared memory.
#pragma once

#include <cstdint>

#include "culebra_emu/shared.h"
#include "culebra_emu/thread.h"

namespace culebra_emu {

// The special registers of PTX, by their names there.
inline Index3 cluster_nctaid() { return this_thread().block->cluster_dim; }
inline Index3 cluster_ctaid() { return this_thread().block->index_in_cluster; }
inline std::uint32_t cluster_ctarank() { return this_thread().block->cluster_rank; }
inline std::uint32_t cluster_nctarank() { return this_thread().block->cluster_blocks; }
inline bool is_explicit_cluster() { return this_thread().block->is_explicit_cluster != 0; }
inline Index3 clusterid() {
  const Block& block = *this_thread().block;
  return {block.index.x / block.cluster_dim.x, block.index.y / block.cluster_dim.y,
          block.index.z / block.cluster_dim.z};
}
inline Index3 nclusterid() {
  const Block& block = *this_thread().block;
  return {block.grid_dim.x / block.cluster_dim.x, block.grid_dim.y / block.cluster_dim.y,
          block.grid_dim.z / block.cluster_dim.z};
}

inline void barrier_cluster_arrive(
    const std::source_location& where = std::source_location::current()) {
  const Site at = site(where, "barrier.cluster.arrive");
  runtime->cluster_arrive(&this_thread(), &at, 0);
}

inline void barrier_cluster_arrive_relaxed(
    const std::source_location& where = std::source_location::current()) {
  const Site at = site(where, "barrier.cluster.arrive.relaxed");
  runtime->cluster_arrive(&this_thread(), &at, 1);
}

inline void barrier_cluster_wait(
    const std::source_location& where = std::source_location::current()) {
  const Site at = site(where, "barrier.cluster.wait");
  runtime->cluster_wait(&this_thread(), &at);
}

inline void require_rank(std::uint32_t rank) {
  constexpr std::uint32_t kIllegalAddress = 700;
  if (rank >= this_thread().block->cluster_blocks) {
    runtime->fail(&this_thread(), kIllegalAddress, "mapa: the cluster has no block of that rank");
  }
}

// mapa of a generic address: the same shared variable in the block of that rank.
template <class T>
T* mapa(T* address, std::uint32_t rank) {
  require_rank(rank);
  const SharedPlace place = shared_place(address);
  char* const there = this_thread().block->shared_windows[rank] + place.offset;
  return reinterpret_cast<T*>(there);
}

// mapa.shared::cluster: the same of 32-bit addresses.
inline std::uint32_t mapa_shared_cluster_u32(std::uint32_t address, std::uint32_t rank) {
  require_rank(rank);
  return (address & kSharedOffsetMask) | rank << kSharedWindowBits;
}

// The rank of the block in whose shared memory an address lies.
inline std::uint32_t getctarank(const void* address) { return shared_place(address).rank; }
inline std::uint32_t getctarank_shared_cluster_u32(std::uint32_t address) {
  return address >> kSharedWindowBits;
}

}  // namespace culebra_emu

// What kind of memory a generic address is of, and the way between generic addresses and those of
// one kind. All kinds but shared memory have their generic addresses here. (Which memory is
// constant the host's compiler does not tell: __isConstant is not there.)
#pragma once

#include <cstddef>
#include <cstdint>

#include "culebra_emu/cluster.h"
#include "culebra_emu/shared.h"

// An address on the thread's own stack, above this frame.
__attribute__((noinline)) inline unsigned int __isLocal(const void* address) {
  constexpr std::uintptr_t kStackBytes = 64 * 1024;
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  return reinterpret_cast<std::uintptr_t>(address) - frame < kStackBytes;
}

inline unsigned int __isClusterShared(const void* address) {
  culebra_emu::SharedPlace place{};
  return culebra_emu::find_shared_place(address, place);
}
inline unsigned int __isCtaShared(const void* address) { return __isShared(address); }
inline unsigned int __isGlobal(const void* address) {
  return !__isClusterShared(address) && !__isLocal(address);
}

inline std::size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<std::size_t>(address);
}
inline void* __cvta_global_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(address);
}
inline std::size_t __cvta_generic_to_constant(const void* address) {
  return reinterpret_cast<std::size_t>(address);
}
inline void* __cvta_constant_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(address);
}
inline std::size_t __cvta_generic_to_local(const void* address) {
  return reinterpret_cast<std::size_t>(address);
}
inline void* __cvta_local_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(address);
}

inline dim3 __clusterGridDimInClusters() { return culebra_emu::nclusterid(); }
inline dim3 __clusterDim() { return culebra_emu::cluster_nctaid(); }
inline dim3 __clusterIdx() { return culebra_emu::clusterid(); }
inline dim3 __clusterRelativeBlockIdx() { return culebra_emu::cluster_ctaid(); }
inline unsigned int __clusterRelativeBlockRank() { return culebra_emu::cluster_ctarank(); }
inline unsigned int __clusterSizeInBlocks() { return culebra_emu::cluster_nctarank(); }
inline unsigned int __clusterDimIsSpecified() { return culebra_emu::is_explicit_cluster(); }
inline void __cluster_barrier_arrive(
    const std::source_location& where = std::source_location::current()) {
  culebra_emu::barrier_cluster_arrive(where);
}
inline void __cluster_barrier_arrive_relaxed(
    const std::source_location& where = std::source_location::current()) {
  culebra_emu::barrier_cluster_arrive_relaxed(where);
}
inline void __cluster_barrier_wait(
    const std::source_location& where = std::source_location::current()) {
  culebra_emu::barrier_cluster_wait(where);
}
inline unsigned int __cluster_query_shared_rank(const void* address) {
  return culebra_emu::getctarank(address);
}
inline void* __cluster_map_shared_rank(const void* address, unsigned int rank) {
  return culebra_emu::mapa(const_cast<void*>(address), rank);
}

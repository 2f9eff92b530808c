// cooperative_groups: the groups that threads are in by themselves, those that they are parted
// into, and what a group does together. The names are CUDA's; docs/your-own-kernels.md says what is
// left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include "culebra_emu/cluster.h"
#include "culebra_emu/thread.h"
#include "culebra_emu/warp.h"

namespace cooperative_groups {

// Where a call stands, for the emulator's messages.
using Where = std::source_location;

namespace details {

inline dim3 as_dim(uint3 v) { return dim3(v); }
inline unsigned int count_of(uint3 extent) { return extent.x * extent.y * extent.z; }
inline unsigned int rank_in(uint3 index, uint3 extent) {
  return (index.z * extent.y + index.y) * extent.x + index.x;
}

// A value of any size, moved among the lanes of a mask: `source` is the lane it comes from.
template <class T>
struct Move {
  T value;
  unsigned int source;
  T result;

  static void complete(void* const operands[culebra_emu::kWarpSize]) {
    for (unsigned int lane = 0; lane < culebra_emu::kWarpSize; ++lane) {
      if (operands[lane] == nullptr) continue;
      auto& mine = *static_cast<Move*>(operands[lane]);
      const auto* other = static_cast<const Move*>(operands[mine.source]);
      mine.result = other != nullptr ? other->value : mine.value;
    }
  }
};

template <class T>
T move(const Where& where, const char* operation, unsigned int mask, const T& value,
       unsigned int source) {
  static_assert(std::is_trivially_copyable_v<T>, "a group moves values that are bits");
  Move<T> operand{value, source, value};
  culebra_emu::warp_collective(where, operation, mask, operand, &Move<T>::complete);
  return operand.result;
}

}  // namespace details

// The threads of a block.
class thread_block {
 public:
  static void sync(const Where& where = Where::current()) {
    culebra_emu::block_barrier(where, "thread_block::sync", 0);
  }
  static unsigned int thread_rank() { return details::rank_in(threadIdx, blockDim); }
  static unsigned int num_threads() { return details::count_of(blockDim); }
  static unsigned int size() { return num_threads(); }
  static dim3 group_index() { return details::as_dim(blockIdx); }
  static dim3 thread_index() { return details::as_dim(threadIdx); }
  static dim3 group_dim() { return details::as_dim(blockDim); }
  static dim3 dim_threads() { return group_dim(); }
};

inline thread_block this_thread_block() { return {}; }

// The threads of a grid. sync() needs a cooperative launch.
class grid_group {
 public:
  bool is_valid() const { return true; }
  void sync(const Where& where = Where::current()) const {
    const culebra_emu::Site at = culebra_emu::site(where, "grid_group::sync");
    culebra_emu::runtime->grid_barrier(&culebra_emu::this_thread(), &at);
  }
  static unsigned long long thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static unsigned long long num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned long long size() { return num_threads(); }
  static dim3 group_dim() { return details::as_dim(gridDim); }
  static dim3 dim_blocks() { return details::as_dim(gridDim); }
  static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  static dim3 block_index() { return details::as_dim(blockIdx); }
  static unsigned long long block_rank() {
    return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
           blockIdx.x;
  }
  static dim3 dim_threads() {
    return {gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z};
  }
  static dim3 thread_index() {
    return {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
            blockIdx.z * blockDim.z + threadIdx.z};
  }
  static dim3 dim_clusters() { return details::as_dim(culebra_emu::nclusterid()); }
  static unsigned long long num_clusters() { return details::count_of(culebra_emu::nclusterid()); }
  static dim3 cluster_index() { return details::as_dim(culebra_emu::clusterid()); }
  static unsigned long long cluster_rank() {
    return details::rank_in(culebra_emu::clusterid(), culebra_emu::nclusterid());
  }
};

inline grid_group this_grid() { return {}; }

// The threads of a cluster: of one block, if the launch has none.
class cluster_group {
 public:
  struct arrival_token {};
  static void sync(const Where& where = Where::current()) {
    culebra_emu::barrier_cluster_arrive(where);
    culebra_emu::barrier_cluster_wait(where);
  }
  static arrival_token barrier_arrive(const Where& where = Where::current()) {
    culebra_emu::barrier_cluster_arrive(where);
    return {};
  }
  static void barrier_wait(const Where& where = Where::current()) {
    culebra_emu::barrier_cluster_wait(where);
  }
  static void barrier_wait(arrival_token&&, const Where& where = Where::current()) {
    culebra_emu::barrier_cluster_wait(where);
  }
  static unsigned int query_shared_rank(const void* address) {
    return culebra_emu::getctarank(address);
  }
  template <class T>
  static T* map_shared_rank(T* address, int rank) {
    return culebra_emu::mapa(address, static_cast<std::uint32_t>(rank));
  }
  static dim3 block_index() { return details::as_dim(culebra_emu::cluster_ctaid()); }
  static unsigned int block_rank() { return culebra_emu::cluster_ctarank(); }
  static dim3 dim_blocks() { return details::as_dim(culebra_emu::cluster_nctaid()); }
  static unsigned int num_blocks() { return culebra_emu::cluster_nctarank(); }
  static dim3 thread_index() {
    const uint3 block = culebra_emu::cluster_ctaid();
    return {block.x * blockDim.x + threadIdx.x, block.y * blockDim.y + threadIdx.y,
            block.z * blockDim.z + threadIdx.z};
  }
  static unsigned int thread_rank() {
    return block_rank() * thread_block::num_threads() + thread_block::thread_rank();
  }
  static dim3 dim_threads() {
    const uint3 blocks = culebra_emu::cluster_nctaid();
    return {blocks.x * blockDim.x, blocks.y * blockDim.y, blocks.z * blockDim.z};
  }
  static unsigned int num_threads() { return num_blocks() * thread_block::num_threads(); }
  static unsigned int size() { return num_threads(); }
};

inline cluster_group this_cluster() { return {}; }

namespace details {

// Lanes of one warp: what tiles and coalesced groups have in common. A lane's rank is how many of
// the group's are below it.
class lanes {
 public:
  using CulebraLanes = lanes;

  explicit lanes(unsigned int mask, unsigned int meta_rank, unsigned int meta_size)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  void sync(const Where& where = Where::current()) const { __syncwarp(mask_, where); }
  unsigned int thread_rank() const {
    const unsigned int lane = culebra_emu::this_thread().lane;
    return static_cast<unsigned int>(__builtin_popcount(mask_ & ((1u << lane) - 1)));
  }
  unsigned int meta_group_rank() const { return meta_rank_; }
  unsigned int meta_group_size() const { return meta_size_; }

  template <class T>
  T shfl(const T& value, int source, const Where& where = Where::current()) const {
    const unsigned int size = count();
    return move(where, "shfl", mask_, value, lane_of(static_cast<unsigned int>(source) % size));
  }
  // From so many ranks above or below; the own value where there is none.
  template <class T>
  T shfl_down(const T& value, unsigned int delta, const Where& where = Where::current()) const {
    const unsigned int rank = thread_rank();
    const bool inside = delta < count() - rank;
    return move(where, "shfl_down", mask_, value, lane_of(inside ? rank + delta : rank));
  }
  template <class T>
  T shfl_up(const T& value, unsigned int delta, const Where& where = Where::current()) const {
    const unsigned int rank = thread_rank();
    return move(where, "shfl_up", mask_, value, lane_of(delta <= rank ? rank - delta : rank));
  }

  int any(int predicate, const Where& where = Where::current()) const {
    return __any_sync(mask_, predicate, where);
  }
  int all(int predicate, const Where& where = Where::current()) const {
    return __all_sync(mask_, predicate, where);
  }
  unsigned int ballot(int predicate, const Where& where = Where::current()) const {
    return packed(__ballot_sync(mask_, predicate, where));
  }
  template <class T>
  unsigned int match_any(T value, const Where& where = Where::current()) const {
    return packed(__match_any_sync(mask_, value, where));
  }
  template <class T>
  unsigned int match_all(T value, int& predicate, const Where& where = Where::current()) const {
    return packed(__match_all_sync(mask_, value, &predicate, where));
  }

  unsigned int culebra_mask() const { return mask_; }

 protected:
  unsigned int count() const { return static_cast<unsigned int>(__builtin_popcount(mask_)); }
  // The lane of that rank.
  unsigned int lane_of(unsigned int rank) const {
    unsigned int rest = mask_;
    while (rank-- != 0) rest &= rest - 1;
    return static_cast<unsigned int>(__builtin_ctz(rest));
  }
  // The bits of the group's lanes, by rank.
  unsigned int packed(unsigned int bits) const {
    unsigned int result = 0, rank = 0;
    for (unsigned int rest = mask_; rest != 0; rest &= rest - 1, ++rank) {
      if ((bits & rest & -rest) != 0) result |= 1u << rank;
    }
    return result;
  }

  unsigned int mask_;
  unsigned int meta_rank_;
  unsigned int meta_size_;
};

}  // namespace details

class coalesced_group : public details::lanes {
 public:
  using lanes::lanes;
  unsigned int num_threads() const { return count(); }
  unsigned int size() const { return count(); }
};

// The lanes that run together with this one.
inline coalesced_group coalesced_threads(const Where& where = Where::current()) {
  const culebra_emu::Site at = culebra_emu::site(where, "coalesced_threads");
  const unsigned int mask = culebra_emu::runtime->converged_lanes(&culebra_emu::this_thread(), &at);
  return coalesced_group(mask, 0, 1);
}

// Size threads of a block or of a larger tile, side by side.
template <unsigned int Size, class ParentT = void>
class thread_block_tile : public details::lanes {
 public:
  static_assert(Size == 1 || Size == 2 || Size == 4 || Size == 8 || Size == 16 || Size == 32,
                "the emulator has tiles of 1, 2, 4, 8, 16 and 32 threads");
  using lanes::lanes;
  // As part of whatever it was part of.
  template <class OtherT>
  thread_block_tile(const thread_block_tile<Size, OtherT>& other) : lanes(other) {}

  static constexpr unsigned int num_threads() { return Size; }
  static constexpr unsigned int size() { return Size; }
  template <class T>
  T shfl_xor(const T& value, unsigned int lane_mask, const Where& where = Where::current()) const {
    const unsigned int rank = thread_rank() ^ lane_mask;
    return details::move(where, "shfl_xor", mask_, value,
                         lane_of(rank < Size ? rank : thread_rank()));
  }
};

namespace details {

// The lanes of a tile of that size around this lane.
inline unsigned int tile_mask(unsigned int size) {
  const unsigned int all = size == 32 ? 0xFFFFFFFFu : (1u << size) - 1;
  return all << (culebra_emu::this_thread().lane & ~(size - 1));
}

}  // namespace details

template <unsigned int Size>
thread_block_tile<Size, thread_block> tiled_partition(const thread_block& block) {
  return thread_block_tile<Size, thread_block>(details::tile_mask(Size), block.thread_rank() / Size,
                                               (block.num_threads() + Size - 1) / Size);
}
template <unsigned int Size, unsigned int ParentSize, class GrandparentT>
thread_block_tile<Size, thread_block_tile<ParentSize, GrandparentT>> tiled_partition(
    const thread_block_tile<ParentSize, GrandparentT>& parent) {
  static_assert(Size < ParentSize, "a tile is smaller than what it is part of");
  return thread_block_tile<Size, thread_block_tile<ParentSize, GrandparentT>>(
      details::tile_mask(Size), parent.thread_rank() / Size, ParentSize / Size);
}
// Of ranks of the group side by side, the last one maybe short.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
  const unsigned int own = parent.thread_rank() / size;
  unsigned int mask = 0, rank = 0;
  for (unsigned int rest = parent.culebra_mask(); rest != 0; rest &= rest - 1, ++rank) {
    if (rank / size == own) mask |= rest & -rest;
  }
  return coalesced_group(mask, own, (parent.size() + size - 1) / size);
}

// By the predicate; if there are some of both, those for which it holds are the second group.
template <class GroupT>
coalesced_group binary_partition(const GroupT& group, bool predicate,
                                 const Where& where = Where::current()) {
  const unsigned int all = group.culebra_mask();
  const unsigned int yes = __ballot_sync(all, predicate, where);
  const unsigned int own = predicate ? yes : all & ~yes;
  const bool both = yes != 0 && yes != all;
  return coalesced_group(own, predicate && both ? 1 : 0, both ? 2 : 1);
}
// The lanes of the group that give the same.
template <class GroupT, class T>
coalesced_group labeled_partition(const GroupT& group, T label,
                                  const Where& where = Where::current()) {
  if constexpr (std::is_same_v<T, bool>) return binary_partition(group, label, where);
  const unsigned int all = group.culebra_mask();
  const unsigned int same = __match_any_sync(all, label, where);
  // By the groups' first lanes.
  const bool is_first = (same & -same) == 1u << culebra_emu::this_thread().lane;
  const unsigned int firsts = __ballot_sync(all, is_first, where);
  const unsigned int below = (same & -same) - 1;
  return coalesced_group(same, static_cast<unsigned int>(__builtin_popcount(firsts & below)),
                         static_cast<unsigned int>(__builtin_popcount(firsts)));
}
template <class GroupT>
void sync(const GroupT& group, const Where& where = Where::current()) {
  group.sync(where);
}
template <class GroupT>
auto thread_rank(const GroupT& group) {
  return group.thread_rank();
}
template <class GroupT>
auto group_size(const GroupT& group) {
  return group.num_threads();
}

// One thread of the group calls it: the first one.
template <class GroupT, class Function, class... Args>
void invoke_one(const GroupT& group, Function&& function, Args&&... arguments) {
  if (group.thread_rank() == 0) std::forward<Function>(function)(std::forward<Args>(arguments)...);
}
template <class GroupT, class Function, class... Args>
auto invoke_one_broadcast(const GroupT& group, Function&& function, Args&&... arguments) {
  using Result = std::decay_t<std::invoke_result_t<Function, Args...>>;
  Result result{};
  if (group.thread_rank() == 0) {
    result = std::forward<Function>(function)(std::forward<Args>(arguments)...);
  }
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups

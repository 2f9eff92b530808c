// The K largest keys of a stream that the threads of a block see in any order.
//
// A threshold is kept below which no key can be among the K largest. Keys above it are appended to
// a buffer in shared memory; when that has filled up, all threads meet, the K largest are kept, and
// the K-th of them is the new threshold. Keys are all different, so what comes out does not depend
// on the order in which threads append.
#pragma once

#include "culebra/platform.cuh"
#include "culebra/warp.cuh"
#include "key.cuh"

namespace culebra {

// Up to this many keys each finds its place by counting those above it, which needs one barrier;
// more are sorted.
inline constexpr int kMostRanked = 256;

template <int kCapacity>
struct CandidateStorage {
  static constexpr bool kRanked = kCapacity <= kMostRanked;
  // Ranking writes from one half to the other; sorting works in place.
  static constexpr int kKeys = kRanked ? 2 * kCapacity : kCapacity;
  // Fewer than twice K, see bound_of.
  static constexpr int kMostGroups = kCapacity / 2;

  Key keys[kKeys];
  uint32_t groups[kMostGroups];
  uint32_t bound;
  uint32_t counts[2];
};

// A thread's view of the candidates; all of a block hold the same. Members marked "together" are
// called by all threads of the block.
template <int kCapacity>
class Candidates {
  using Storage = CandidateStorage<kCapacity>;
  static_assert((kCapacity & (kCapacity - 1)) == 0, "sorting halves");

 public:
  // `k` is at most a quarter of the capacity.
  __device__ __forceinline__ Candidates(Storage& storage, uint32_t k)
      : storage_(storage), keys_(storage.keys), k_(k), crowd_(crowd(k)) {}

  // Forgets all keys. Together.
  __device__ __forceinline__ void begin() {
    threshold_ = 0;
    if (threadIdx.x == 0) storage_.counts[side_] = 0;
    // Waits until all have read the keys of before, and the count is 0 for all.
    __syncthreads();
  }

  // Only keys above it can be among the K largest.
  __device__ __forceinline__ Key threshold() const { return threshold_; }
  __device__ __forceinline__ void raise_threshold(Key bound) {
    if (bound > threshold_) threshold_ = bound;
  }

  // Takes those of the keys key_at(i), for each bit i of `wanted`, that are above the threshold.
  // bound() is called together and gives a key that at least K keys of the row are above, or 0.
  // Together.
  template <class KeyAt, class Bound>
  __device__ __forceinline__ void offer(uint32_t wanted, KeyAt key_at, Bound bound) {
    for (;;) {
      const bool crowded = append(wanted, key_at);
      // Waits until all have appended.
      if (!__syncthreads_or(crowded)) return;
      keep_largest();
      // Something may have found no place: it gets a second chance, if it is still good enough.
      if (!__syncthreads_or(wanted != 0)) return;
      raise_threshold(bound());
    }
  }

  // Keeps the K largest, sorted, and raises the threshold to the K-th. Nobody appends before all
  // have returned. Together.
  __device__ __forceinline__ void keep_largest() {
    const uint32_t stored = storage_.counts[side_];
    const uint32_t count = stored < kCapacity ? stored : kCapacity;
    if constexpr (Storage::kRanked) {
      Key* const sorted = storage_.keys + (side_ == 0 ? kCapacity : 0);
      for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const Key key = keys_[i];
        uint32_t rank = 0;
        for (uint32_t j = 0; j < count; ++j) rank += keys_[j] > key ? 1 : 0;
        if (rank < k_) sorted[rank] = key;
      }
      keys_ = sorted;
    } else {
      sort(count);
    }
    side_ ^= 1;
    // The other count: slow threads may not have read this one yet.
    if (threadIdx.x == 0) storage_.counts[side_] = count < k_ ? count : k_;
    // Waits for the sorted keys and the count.
    __syncthreads();
    kept_ = count < k_ ? count : k_;
    if (count >= k_) raise_threshold(keys_[k_ - 1]);
  }

  // After keep_largest: the i-th largest key, i < K; 0 if there were no more than i.
  __device__ __forceinline__ Key at(uint32_t i) const { return i < kept_ ? keys_[i] : 0; }

  // Each thread brings the largest (ordered) of some elements of the row, its own alone, or -inf if
  // it has none: gives a key that at least K of the row's are above, or 0 if that cannot be told.
  // The threads are taken in at least K groups; the K-th largest maximum of a group is such an
  // element. (One of -inf is below all keys, so it does not matter that it may be nobody's.)
  // Together.
  __device__ __forceinline__ Key bound_of(uint32_t largest) const {
    if (blockDim.x < k_) return 0;
    uint32_t lanes = kWarpSize;
    while (blockDim.x / lanes < k_) lanes /= 2;
    for (uint32_t distance = lanes / 2; distance > 0; distance /= 2) {
      const uint32_t other = __shfl_xor_sync(0xffffffffu, largest, static_cast<int>(distance));
      if (other > largest) largest = other;
    }
    const uint32_t groups = blockDim.x / lanes;
    if (threadIdx.x % lanes == 0) storage_.groups[threadIdx.x / lanes] = largest;
    // Waits for the maximum of every group.
    __syncthreads();
    if (threadIdx.x < groups) {
      const uint32_t mine = storage_.groups[threadIdx.x];
      uint32_t rank = 0;
      for (uint32_t j = 0; j < groups; ++j) {
        const uint32_t other = storage_.groups[j];
        rank += other > mine || (other == mine && j < threadIdx.x) ? 1 : 0;
      }
      if (rank == k_ - 1) storage_.bound = mine;
    }
    // Waits for the one that found it.
    __syncthreads();
    // Below all keys of that element.
    return static_cast<Key>(storage_.bound) << 32;
  }

 private:
  // From here on a selection pays: it takes what K more candidates cost.
  static __device__ __forceinline__ uint32_t crowd(uint32_t k) {
    const uint32_t count = 2 * k + 8;
    return count < kCapacity ? count : kCapacity;
  }

  // Appends while there is room, and leaves the rest in `wanted`. Whether there are enough for a
  // selection. Few threads have something to append, so the keys are made one by one.
  template <class KeyAt>
  __device__ __forceinline__ bool append(uint32_t& wanted, KeyAt key_at) {
    bool crowded = false;
#pragma unroll 1
    for (; wanted != 0; wanted &= wanted - 1) {
      const Key key = key_at(__ffs(static_cast<int>(wanted)) - 1);
      if (key <= threshold_) continue;
      const uint32_t place = atomicAdd(&storage_.counts[side_], 1u);
      crowded |= place + 1 >= crowd_;
      if (place >= kCapacity) break;
      keys_[place] = key;
    }
    return crowded;
  }

  // A bitonic sort, descending, of the power of two that `count` needs.
  __device__ __forceinline__ void sort(uint32_t count) {
    uint32_t size = 1;
    while (size < count) size *= 2;
    for (uint32_t i = count + threadIdx.x; i < size; i += blockDim.x) keys_[i] = 0;
    for (uint32_t run = 2; run <= size; run *= 2) {
      for (uint32_t distance = run / 2; distance > 0; distance /= 2) {
        // Waits for the step before.
        __syncthreads();
        for (uint32_t pair = threadIdx.x; pair < size / 2; pair += blockDim.x) {
          const uint32_t low = 2 * pair - (pair & (distance - 1));
          const uint32_t high = low + distance;
          const Key a = keys_[low];
          const Key b = keys_[high];
          const bool descending = (low & run) == 0;
          if (descending ? a < b : a > b) {
            keys_[low] = b;
            keys_[high] = a;
          }
        }
      }
    }
  }

  Storage& storage_;
  Key* keys_;
  Key threshold_ = 0;
  uint32_t k_;
  uint32_t crowd_;
  uint32_t side_ = 0;
  uint32_t kept_ = 0;
};

}  // namespace culebra

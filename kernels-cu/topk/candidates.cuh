// The K largest keys of a stream that the threads of a block see in any order.
//
// A threshold is kept below which no key can be among the K largest. Keys above it are appended to
// a buffer in shared memory. When that has become full enough, all threads meet: the K largest are
// kept, and the K-th of them is the new threshold. Keys are all different, so what comes out does
// not depend on the order in which threads append, nor on how far each has come when they meet.
#pragma once

#include "culebra/block_sort.cuh"
#include "culebra/key.cuh"
#include "culebra/platform.cuh"
#include "culebra/warp.cuh"

namespace culebra {

// A buffer of up to this many keys is ranked: each key finds its place by counting those above it,
// which needs one barrier. In a larger one the K-th largest is found digit by digit.
inline constexpr int kMostRanked = 256;

template <int kCapacity>
struct CandidateStorage {
  static constexpr bool kRanked = kCapacity <= kMostRanked;
  // Ranking writes from one half to the other; selecting works in place.
  static constexpr int kKeys = kRanked ? 2 * kCapacity : kCapacity;
  static constexpr int kDigits = kRanked ? 1 : 256;
  // Fewer than twice K, see bound_of.
  static constexpr int kMostGroups = kCapacity / 2;

  Key keys[kKeys];
  uint32_t groups[kMostGroups];
  uint32_t bound;
  uint32_t counts[2];
  uint32_t crowded;  // 1: everybody is to come to the next meeting

  // Of a selection: how many keys have each digit, and the digit of the K-th largest.
  uint32_t digits[kDigits];
  uint32_t digit;
  uint32_t above;   // keys of larger digits
  uint32_t within;  // keys of that digit
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
    if (threadIdx.x == 0) {
      storage_.counts[side_] = 0;
      storage_.crowded = 0;
    }
    // Waits until all have read the keys of before, and the count is 0 for all.
    __syncthreads();
  }

  // Only keys above it can be among the K largest.
  __device__ __forceinline__ Key threshold() const { return threshold_; }
  __device__ __forceinline__ void raise_threshold(Key bound) {
    if (bound > threshold_) threshold_ = bound;
  }

  // Appends those of the keys key_at(i), for each bit i of `wanted`, that are above the threshold.
  // What finds no place stays in `wanted`, to be tried again after the next meeting. Few threads
  // have something to append, so the keys are made one by one.
  template <class KeyAt>
  __device__ __forceinline__ void append(uint32_t& wanted, KeyAt key_at) {
#pragma unroll 1
    for (; wanted != 0; wanted &= wanted - 1) {
      const Key key = key_at(__ffs(static_cast<int>(wanted)) - 1);
      if (key <= threshold_) continue;
      const uint32_t place = atomicAdd(&storage_.counts[side_], 1u);
      if (place + 1 >= crowd_) call_meeting();
      if (place >= kCapacity) break;
      keys_[place] = key;
    }
  }

  // Whether somebody waits for the others, who should come soon.
  __device__ __forceinline__ bool meeting_called() const {
    return *static_cast<volatile const uint32_t*>(&storage_.crowded) != 0;
  }

  // Where all threads wait for each other: those that answered a call, and those that have nothing
  // more to append, each of which comes to every meeting until all have nothing more. Returns
  // whether somebody has: then there is room now, and the threshold is higher. Together.
  __device__ __forceinline__ bool meet(bool has_more) {
    // Waits until all have appended.
    if (!__syncthreads_or(has_more)) return false;
    // All have seen the call; thin_out has a barrier before anybody looks again.
    if (threadIdx.x == 0) storage_.crowded = 0;
    thin_out();
    return true;
  }

  // Leaves the K largest, sorted. Together.
  __device__ __forceinline__ void finish() {
    const uint32_t count = stored();
    if constexpr (Storage::kRanked) {
      rank(count);
    } else {
      kept_ = select(count, k_);
      block_sort_descending(keys_, kept_);
    }
  }

  // After finish: the i-th largest key, i < K; 0 if there were no more than i.
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
  static constexpr int kDigitBits = 8;

  // From here on a selection pays: it takes what K more candidates cost.
  static __device__ __forceinline__ uint32_t crowd(uint32_t k) {
    const uint32_t count = 2 * k + 8;
    return count < kCapacity ? count : kCapacity;
  }

  __device__ __forceinline__ void call_meeting() {
    *static_cast<volatile uint32_t*>(&storage_.crowded) = 1;
  }

  __device__ __forceinline__ uint32_t stored() const {
    const uint32_t count = storage_.counts[side_];
    return count < kCapacity ? count : kCapacity;
  }

  // Leaves the K largest, and in a large buffer perhaps a few more; raises the threshold. Nobody
  // appends before all have returned. Together.
  __device__ __forceinline__ void thin_out() {
    if constexpr (Storage::kRanked) {
      rank(stored());
    } else {
      select(stored(), k_ + k_ / 4);
    }
  }

  // Leaves the K largest of `count` keys, sorted.
  __device__ __forceinline__ void rank(uint32_t count) {
    Key* const sorted = storage_.keys + (side_ == 0 ? kCapacity : 0);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const Key key = keys_[i];
      uint32_t rank = 0;
      for (uint32_t j = 0; j < count; ++j) rank += keys_[j] > key ? 1 : 0;
      if (rank < k_) sorted[rank] = key;
    }
    keys_ = sorted;
    kept_ = count < k_ ? count : k_;
    side_ ^= 1;
    // The other count: slow threads may not have read this one yet.
    if (threadIdx.x == 0) storage_.counts[side_] = kept_;
    // Waits for the sorted keys and the count.
    __syncthreads();
    if (count >= k_) raise_threshold(keys_[k_ - 1]);
  }

  // Leaves the K largest of `count` keys and at most `most`, in any order; returns how many.
  __device__ __forceinline__ uint32_t select(uint32_t count, uint32_t most) {
    // Of the keys that begin with `prefix`, some are among the K largest; `kept` are not below it.
    Key prefix = 0;
    uint32_t above = 0;
    uint32_t kept = count;
    int shift = 64;
    while (kept > most) {
      shift -= kDigitBits;
      for (uint32_t i = threadIdx.x; i < Storage::kDigits; i += blockDim.x) storage_.digits[i] = 0;
      // Waits for the zeros.
      __syncthreads();
      for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const Key key = keys_[i];
        // (A shift by 64 has no meaning.)
        if ((key >> shift >> kDigitBits) == prefix) {
          atomicAdd(&storage_.digits[key >> shift & (Storage::kDigits - 1)], 1u);
        }
      }
      // Waits until all keys are counted.
      __syncthreads();
      if (threadIdx.x < kWarpSize) find_digit(k_ - above);
      // Waits for the digit.
      __syncthreads();
      prefix = prefix << kDigitBits | storage_.digit;
      above += storage_.above;
      kept = above + storage_.within;
    }
    if (kept < count) keep(shift < 64 ? prefix << shift : 0, count);
    return kept;
  }

  // Which digit the `rank`-th largest of the counted keys has. The lanes of one warp call together;
  // the first has the largest digits.
  __device__ __forceinline__ void find_digit(uint32_t rank) {
    constexpr uint32_t kLaneDigits = Storage::kDigits / kWarpSize;
    const uint32_t highest = Storage::kDigits - 1 - threadIdx.x * kLaneDigits;
    uint32_t mine = 0;
    for (uint32_t i = 0; i < kLaneDigits; ++i) mine += storage_.digits[highest - i];
    uint32_t upto = mine;
    for (uint32_t distance = 1; distance < kWarpSize; distance *= 2) {
      const uint32_t lower = __shfl_up_sync(0xffffffffu, upto, distance);
      if (threadIdx.x >= distance) upto += lower;
    }
    uint32_t above = upto - mine;
    if (above >= rank || upto < rank) return;
    uint32_t digit = highest;
    while (above + storage_.digits[digit] < rank) above += storage_.digits[digit--];
    storage_.digit = digit;
    storage_.above = above;
    storage_.within = storage_.digits[digit];
  }

  // Leaves the keys that are not below `floor`, which is one that K are not below.
  __device__ __forceinline__ void keep(Key floor, uint32_t count) {
    side_ ^= 1;
    if (threadIdx.x == 0) storage_.counts[side_] = 0;
    // As many are read as may be written to, and then written: no place is overwritten unread.
    for (uint32_t start = 0; start < count; start += blockDim.x) {
      const uint32_t i = start + threadIdx.x;
      const Key key = i < count ? keys_[i] : 0;
      // Waits until all have read (and, the first time, until the count is 0).
      __syncthreads();
      if (key >= floor) keys_[atomicAdd(&storage_.counts[side_], 1u)] = key;
    }
    // Waits for all that was kept.
    __syncthreads();
    raise_threshold(floor - 1);
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

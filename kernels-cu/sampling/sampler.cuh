// Draws a token of a row, in two steps: which elements are kept, and on which of them a random
// number falls.
//
// Filters keep the first elements in the order of their keys: by probability, of equal ones the
// lower index. So what is to be found is the last key. The draw goes through what is kept by index:
// each warp sums the masses of its part of the row, which says in whose part the number falls, and
// the threads of a block share that one.
//
// How the last key is found:
//   top-k, small       All elements down to a bound that has at least k above it are collected and
//                      sorted. The bound comes from the largest elements of the threads, which have
//                      to be many more than k. Then the draw needs no further read.
//   anything else      Histograms of counts and masses say in which bin it is, and its members are
//                      collected and sorted; if they are too many, by one digit of the keys after
//                      the other. On the way each warp sums its part.
//
// All threads of the team call all members together, and all blocks come to the same decisions by
// themselves, from the same integers.
#pragma once

#include "culebra/block_scan.cuh"
#include "culebra/block_sort.cuh"
#include "culebra/chunk.cuh"
#include "culebra/key.cuh"
#include "culebra/platform.cuh"

#include "memory.cuh"
#include "weights.cuh"

namespace culebra {

struct DrawnToken {
  bool found;  // by this thread: one of the team's says yes
  uint32_t index;
  float probability;
};

// How many elements each of `parts` has of a row or a piece, until there are none left: whole
// packs, so that all parts are aligned if the row is.
template <class T>
__device__ __forceinline__ uint32_t part_size(uint32_t length, uint32_t parts) {
  const uint32_t packs = (length - 1) / kPackSize<T> + 1;
  return ((packs - 1) / parts + 1) * kPackSize<T>;
}

// What a warp has of a block's piece.
template <class T>
__device__ __forceinline__ Piece<T> part_of(const Piece<T>& piece, uint32_t warp) {
  const uint32_t most = part_size<T>(max(piece.length, 1u), blockDim.x / kWarpSize);
  const uint32_t begin = min(warp * most, piece.length);
  return {piece.elements + begin, min(most, piece.length - begin), piece.index + begin,
          piece.negated};
}

// Calls visit(chunk) for all of the calling warp's part.
template <class T, int kPacks, class Visit>
__device__ __forceinline__ void for_each_chunk(const Piece<T>& part, Visit visit) {
  using PartChunk = Chunk<T, kPacks, WarpLanes>;
  const bool aligned = is_pack_aligned(part.elements);
  for (uint32_t start = 0; start < part.length; start += kWarpSize * PartChunk::kElements) {
    visit(PartChunk(part, start, aligned));
  }
}

template <class T, int kPacks, class Team>
class Sampler {
  using PartChunk = Chunk<T, kPacks, WarpLanes>;
  static constexpr int kBins = SamplingMemory::kBins;
  static constexpr uint32_t kCapacity = SamplingMemory::kCapacity;

 public:
  // `piece` is the block's part of a row of `length` elements; `ordered_largest` is the largest
  // element that fell to the calling thread, as in a key, or 0.
  __device__ __forceinline__ Sampler(SamplingMemory& memory, const Team& team,
                                     const Piece<T>& piece, uint32_t length,
                                     uint32_t ordered_largest, const SamplingWeights& weights)
      : memory_(memory),
        team_(team),
        piece_(piece),
        length_(length),
        ordered_largest_(ordered_largest),
        weights_(weights) {}

  __device__ __forceinline__ DrawnToken draw() {
    const SamplingRules& rules = memory_.rules;
    Selected last{};
    if (static_cast<uint32_t>(rules.top_k) < length_ || rules.top_p < 1.0f) {
      DrawnToken token;
      if (draw_ranked(rules, token)) return token;
      last = last_by_selections(rules);
    }
    return draw_by_index(last, rules);
  }

 private:
  // --- top-k is small: all that it keeps is collected and sorted ---

  // False if they are too many, because k is, or the row is in some order or has many equal ones.
  __device__ __forceinline__ bool draw_ranked(const SamplingRules& rules, DrawnToken& token) {
    const uint32_t top_k = static_cast<uint32_t>(rules.top_k);
    // Of a row in no order the 64th largest of 256 threads has about 72 elements above it.
    if (top_k > team_.size() / 4) return false;
    histogram_of_largest();
    if (memory_.upto_count[kBins - 1] < top_k) return false;
    const uint32_t count = collect<false>(0, bin_of_rank(top_k), [](float, uint32_t) { return 0; });
    if (count > kCapacity) return false;
    uint32_t kept = min(top_k, count);
    if (rules.top_p < 1.0f) {
      kept = place_of(count, share(rules.top_p, memory_.key_sums[kept - 1])) + 1;
    }
    // Never 0: the largest element's distance is.
    const uint32_t near = first_where(
        count, [&](uint32_t i) { return distance_of(memory_.keys[i]) > rules.most_distance; });
    token = draw_collected(min(kept, near), rules);
    return true;
  }

  // From the first `count` collected keys.
  __device__ __forceinline__ DrawnToken draw_collected(uint32_t count, const SamplingRules& rules) {
    // All have read the keys and their sums.
    __syncthreads();
    // The complement of the index comes first in a key whose halves are exchanged.
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      memory_.keys[i] = exchanged(memory_.keys[i]);
    }
    block_sort_descending(memory_.keys, count);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      memory_.key_sums[i] = weights_.mass(distance_of(exchanged(memory_.keys[i])));
    }
    block_inclusive_scan(memory_.key_sums, count);
    const uint64_t total = memory_.key_sums[count - 1];
    const Key key = exchanged(memory_.keys[place_of(count, drawn(rules, total) + 1)]);
    return {team_.rank() == 0, index_of(key), probability(weights_.mass(distance_of(key)), total)};
  }

  static __device__ __forceinline__ Key exchanged(Key key) { return key << 32 | key >> 32; }

  // --- anything: one selection after the other, each from the beginning ---

  // Which element, in the order of all that are present. When it has been selected, the sums of all
  // parts have what is before those that were collected.
  struct Selected {
    Key key;         // 0: no selection was needed
    uint32_t place;  // among those that were collected
    uint64_t upto;   // the mass of it and all before it
  };

  // The last that top-k and top-p keep.
  __device__ __forceinline__ Selected last_by_selections(const SamplingRules& rules) {
    Selected selected{0, 0, ~uint64_t{0}};
    // One loop, for the code of all this to be there once.
    for (int filter = 0; filter < 2; ++filter) {
      const bool by_count = filter == 0;
      const bool keeps_all =
          by_count ? static_cast<uint32_t>(rules.top_k) >= length_ : !(rules.top_p < 1.0f);
      if (keeps_all) continue;
      // All have read what was in memory before.
      team_.sync();
      BinMembers members;
      histogram(members);
      if (by_count && static_cast<uint32_t>(rules.top_k) >= memory_.upto_count[kBins - 1]) continue;
      const uint64_t whole = min(selected.upto, memory_.upto_mass[kBins - 1]);
      selected = select(members, by_count,
                        by_count ? static_cast<uint64_t>(rules.top_k) : share(rules.top_p, whole));
    }
    return selected;
  }

  // Which elements of a row: of one bin those whose keys have the same first digits. At first all.
  struct BinMembers {
    int bin = -1;
    int shift = 0;  // of the last digit that is known, in a short key
    uint64_t prefix = 0;
  };

  // A key without what is the same in all of them: the element, then the complement of the index.
  __device__ __forceinline__ int index_bits() const {
    return length_ > 1 ? 32 - __clz(static_cast<int>(length_ - 1)) : 0;
  }
  __device__ __forceinline__ uint64_t short_key(float x, uint32_t index) const {
    return static_cast<uint64_t>(to_ordered(x)) << index_bits() |
           (~index & ((uint64_t{1} << index_bits()) - 1));
  }

  // 0: it is a member; less than 0, or more: its key is before all of them, or behind.
  __device__ __forceinline__ int compare(const BinMembers& members, float x, uint32_t index) const {
    const uint64_t prefix = short_key(x, index) >> members.shift;
    return prefix == members.prefix ? 0 : prefix > members.prefix ? -1 : 1;
  }

  // The element with which the row's running count, or mass, reaches the target. The histogram has
  // been made of all.
  __device__ __forceinline__ Selected select(BinMembers members, bool by_count, uint64_t target) {
    uint64_t above = 0;  // the mass
    for (;;) {
      const int bin = by_count ? bin_of_rank(static_cast<uint32_t>(target)) : bin_of_mass(target);
      const uint32_t counts_before = count_before(bin);
      const uint64_t mass_before = bin == 0 ? 0 : memory_.upto_mass[bin - 1];
      target -= by_count ? counts_before : mass_before;
      above += mass_before;
      if (members.bin < 0) {
        members.bin = bin;
        members.shift = 32 + index_bits();
      } else {
        const int bits = digit_bits(members);
        members.shift -= bits;
        members.prefix = members.prefix << bits | digit_of_bin(bits, bin);
      }
      if (memory_.upto_count[bin] - counts_before <= kCapacity) break;
      // All have read the histogram before.
      team_.sync();
      histogram(members);
    }
    const uint32_t count = collect<true>(members.bin, members.bin, [&](float x, uint32_t index) {
      return compare(members, x, index);
    });
    const uint32_t i = by_count ? static_cast<uint32_t>(target) - 1 : place_of(count, target);
    return {memory_.keys[i], i, above + memory_.key_sums[i]};
  }

  // How many bits the next digit has, and which it is in a bin: the largest comes first.
  static __device__ __forceinline__ int digit_bits(const BinMembers& members) {
    return min(members.shift, SamplingMemory::kDigitBits);
  }
  static __device__ __forceinline__ uint64_t digit_of_bin(int bits, int bin) {
    return (uint64_t{1} << bits) - 1 - static_cast<uint64_t>(bin);
  }

  // --- the draw, by index ---

  // From all that top-k and top-p keep, if `last` is the last of it, and min-p does.
  __device__ __forceinline__ DrawnToken draw_by_index(const Selected& last,
                                                      const SamplingRules& rules) {
    const bool selected = last.key != 0;
    const float least = selected ? from_ordered(ordered_of(last.key)) : -kInfinity<float>;
    // What is not kept has no mass.
    const auto mass_of = [&](float x, uint32_t index) -> uint64_t {
      const float distance = weights_.distance(x);
      const bool kept = weights_.is_present(distance) && distance <= rules.most_distance &&
                        (x > least || (x == least && index <= index_of(last.key)));
      return kept ? weights_.mass(distance) : 0;
    };

    if (selected && weights_.distance(least) <= rules.most_distance) {
      add_collected(last.place + 1);
    } else {
      // All have read the sums of a selection.
      if (selected) team_.sync();
      sum_part(mass_of);
      // Waits for the masses of all parts.
      team_.sync();
    }
    const uint32_t warps = blockDim.x / kWarpSize;
    const uint32_t parts = team_.blocks() * warps;
    // A scan has barriers before and behind it.
    block_inclusive_scan(memory_.part_sums, parts);
    const uint64_t total = memory_.part_sums[parts - 1];
    uint64_t target = drawn(rules, total) + 1;
    const uint32_t part =
        first_where(parts - 1, [&](uint32_t i) { return memory_.part_sums[i] >= target; });
    // The others have nothing more to do.
    if (part / warps != team_.block()) return {};
    if (part > 0) target -= memory_.part_sums[part - 1];
    return draw_by_threads(part_of(piece_, part % warps), target, total, mass_of);
  }

  // Adds the masses of the first collected keys to the sums of their parts.
  __device__ __forceinline__ void add_collected(uint32_t count) {
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      const Key key = memory_.keys[i];
      // The type that has it, which is as wide.
      atomicAdd(reinterpret_cast<unsigned long long*>(&memory_.part_sums[part_with(index_of(key))]),
                static_cast<unsigned long long>(weights_.mass(distance_of(key))));
    }
  }

  // The element of a part at which the running mass reaches the target.
  template <class MassOf>
  __device__ __forceinline__ DrawnToken draw_by_threads(const Piece<T>& piece, uint64_t target,
                                                        uint64_t total, MassOf mass_of) {
    const uint32_t share = (piece.length + blockDim.x - 1) / blockDim.x;
    const uint32_t begin = min(threadIdx.x * share, piece.length);
    const uint32_t end = min(begin + share, piece.length);
    uint64_t own = 0;
    for (uint32_t i = begin; i < end; ++i) own += mass_of(piece.value(i), piece.index + i);
    memory_.key_sums[threadIdx.x] = own;
    block_inclusive_scan(memory_.key_sums, blockDim.x);
    const uint64_t upto = memory_.key_sums[threadIdx.x];
    uint64_t running = upto - own;
    if (running >= target || upto < target) return {};
    for (uint32_t i = begin;; ++i) {
      const uint64_t mass = mass_of(piece.value(i), piece.index + i);
      running += mass;
      if (running >= target) return {true, piece.index + i, probability(mass, total)};
    }
  }

  // Brings the mass of the calling warp's part to every block.
  template <class MassOf>
  __device__ __forceinline__ void sum_part(MassOf mass_of) {
    uint64_t mass = 0;
    for_each_element<false>([&](float x, uint32_t index) { mass += mass_of(x, index); });
    write_part_sum(mass);
  }

  __device__ __forceinline__ void write_part_sum(uint64_t of_thread) {
    const uint64_t sum = warp_sum(of_thread);
    if (threadIdx.x % kWarpSize != 0) return;
    const uint32_t warps = blockDim.x / kWarpSize;
    uint64_t* const place = &memory_.part_sums[team_.block() * warps + threadIdx.x / kWarpSize];
    for (unsigned block = 0; block < team_.blocks(); ++block) *team_.at(place, block) = sum;
  }

  // --- steps ---

  // Counts the largest elements of all threads by their bins, in sums over the row.
  __device__ __forceinline__ void histogram_of_largest() {
    clear_histogram();
    const float distance = weights_.distance(from_ordered(ordered_largest_));
    if (ordered_largest_ != 0 && weights_.is_present(distance)) {
      atomicAdd(&memory_.counts[weights_.bin(distance)], 1u);
    }
    sum_histogram<false>();
  }

  // Counts and weighs what is present: all by their bins, or members of a bin by their next digit;
  // in sums over the row. Of this block's memory others may read nothing any more.
  __device__ __forceinline__ void histogram(const BinMembers& members) {
    clear_histogram();
    const auto count = [&](int bin, float distance) {
      atomicAdd(&memory_.counts[bin], 1u);
      add_mass(bin, weights_.mass(distance));
    };
    if (members.bin < 0) {
      for_each_element<false>([&](float x, uint32_t) {
        const float distance = weights_.distance(x);
        if (weights_.is_present(distance)) count(weights_.bin(distance), distance);
      });
    } else {
      for_each_element<true>([&](float x, uint32_t index) {
        const float distance = weights_.distance(x);
        if (!weights_.is_present(distance) || weights_.bin(distance) != members.bin) return;
        if (compare(members, x, index) != 0) return;
        const int bits = digit_bits(members);
        const uint64_t digit = short_key(x, index) >> (members.shift - bits);
        count(static_cast<int>(~digit & ((uint64_t{1} << bits) - 1)), distance);
      });
    }
    sum_histogram<true>();
  }

  __device__ __forceinline__ void clear_histogram() {
    for (int b = static_cast<int>(threadIdx.x); b < kBins; b += static_cast<int>(blockDim.x)) {
      memory_.counts[b] = 0;
      memory_.low_masses[b] = 0;
      memory_.high_masses[b] = 0;
    }
    if (threadIdx.x == 0) memory_.stored = 0;
    // Waits for the zeros.
    __syncthreads();
  }

  template <bool kMasses>
  __device__ __forceinline__ void sum_histogram() {
    // Waits for the histograms of all blocks.
    team_.sync();
    for (int b = static_cast<int>(threadIdx.x); b < kBins; b += static_cast<int>(blockDim.x)) {
      uint32_t count = 0;
      for (unsigned block = 0; block < team_.blocks(); ++block) {
        count += *team_.at(&memory_.counts[b], block);
      }
      memory_.upto_count[b] = count;
      if constexpr (kMasses) memory_.upto_mass[b] = mass_of_team(b);
    }
    // A scan has barriers before and behind it.
    block_inclusive_scan(memory_.upto_count, kBins);
    if constexpr (kMasses) block_inclusive_scan(memory_.upto_mass, kBins);
  }

  __device__ __forceinline__ uint64_t mass_of_team(int bin) const {
    uint64_t mass = 0;
    for (unsigned block = 0; block < team_.blocks(); ++block) {
      mass += *team_.at(&memory_.low_masses[bin], block);
      mass += static_cast<uint64_t>(*team_.at(&memory_.high_masses[bin], block)) << 32;
    }
    return mass;
  }

  __device__ __forceinline__ void add_mass(int bin, uint64_t mass) {
    const uint32_t low = static_cast<uint32_t>(mass);
    const uint32_t before = atomicAdd(&memory_.low_masses[bin], low);
    const uint32_t carry = before + low < before ? 1 : 0;
    const uint32_t high = static_cast<uint32_t>(mass >> 32) + carry;
    if (high != 0) atomicAdd(&memory_.high_masses[bin], high);
  }

  // The first lane gets the sum of the warp's, the others 0.
  static __device__ __forceinline__ uint64_t warp_sum(uint64_t value) {
    const uint32_t lane = threadIdx.x % kWarpSize;
    for (unsigned distance = kWarpSize / 2; distance > 0; distance /= 2) {
      value += shuffle(0xffffffffu, value, lane ^ distance);
    }
    return lane == 0 ? value : 0;
  }

  // Brings the keys of some bins' members to every block, sorts them and sums their masses; returns
  // how many there are. If they are more than kCapacity, nothing was done. What of them is wanted
  // compare(x, index) says: 0 if it is, less than 0 if it is before all that are. With kParts the
  // sums of all parts get the masses of what is before. A histogram comes before it.
  template <bool kParts, class Compare>
  __device__ __forceinline__ uint32_t collect(int first_bin, int last_bin, Compare compare) {
    const Piece<T> part = part_of(piece_, threadIdx.x / kWarpSize);
    uint64_t before = 0;
    static_assert(PartChunk::kElements <= 32, "`marked` has a bit for each");
    for_each_chunk<T, kPacks>(part, [&](const PartChunk& chunk) {
      uint32_t marked = 0;
#pragma unroll
      for (int i = 0; i < PartChunk::kElements; ++i) {
        const float distance = weights_.distance(chunk.value(i));
        if (!weights_.is_present(distance)) continue;
        const int bin = weights_.bin(distance);
        if (kParts && bin < first_bin) before += weights_.mass(distance);
        if (bin >= first_bin && bin <= last_bin) marked |= 1u << i;
      }
#pragma unroll 1
      for (; marked != 0; marked &= marked - 1) {
        const int i = __ffs(static_cast<int>(marked)) - 1;
        const float x = chunk.value_at(i);
        const uint32_t index = part.index + chunk.offset(i);
        const int order = compare(x, index);
        if (order == 0) append(make_key(x, index));
        if (kParts && order < 0) before += weights_.mass(weights_.distance(x));
      }
    });
    if constexpr (kParts) write_part_sum(before);
    // Waits for the keys of all blocks.
    team_.sync();
    const uint32_t count = *team_.at(&memory_.stored, 0);
    if (count > kCapacity) return count;
    block_sort_descending(memory_.keys, count);
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
      memory_.key_sums[i] = weights_.mass(distance_of(memory_.keys[i]));
    }
    block_inclusive_scan(memory_.key_sums, count);
    return count;
  }

  __device__ __forceinline__ void append(Key key) {
    const uint32_t place = atomicAdd(team_.at(&memory_.stored, 0), 1u);
    if (place >= kCapacity) return;
    for (unsigned block = 0; block < team_.blocks(); ++block) {
      *team_.at(&memory_.keys[place], block) = key;
    }
  }

  // Calls visit(x, index) for each element of the warp's part, and for -inf beyond it. Code that
  // is seldom run is not repeated for each element of a chunk, which would cost registers.
  template <bool kSeldom, class Visit>
  __device__ __forceinline__ void for_each_element(Visit visit) const {
    const Piece<T> part = part_of(piece_, threadIdx.x / kWarpSize);
    for_each_chunk<T, kPacks>(part, [&](const PartChunk& chunk) {
      if constexpr (kSeldom) {
#pragma unroll 1
        for (int i = 0; i < PartChunk::kElements; ++i) {
          visit(chunk.value_at(i), part.index + chunk.offset(i));
        }
      } else {
#pragma unroll
        for (int i = 0; i < PartChunk::kElements; ++i) {
          visit(chunk.value(i), part.index + chunk.offset(i));
        }
      }
    });
  }

  // --- arithmetic ---

  __device__ __forceinline__ float distance_of(Key key) const {
    return weights_.distance(from_ordered(ordered_of(key)));
  }

  __device__ __forceinline__ uint32_t count_before(int bin) const {
    return bin == 0 ? 0 : memory_.upto_count[bin - 1];
  }

  // Which warp of the team has an element.
  __device__ __forceinline__ uint32_t part_with(uint32_t index) const {
    const uint32_t warps = blockDim.x / kWarpSize;
    const uint32_t of_block = part_size<T>(length_, team_.blocks());
    const uint32_t block = index / of_block;
    const uint32_t begin = block * of_block;
    const uint32_t length = min(of_block, length_ - begin);
    return block * warps + (index - begin) / part_size<T>(length, warps);
  }

  // The bin in which the running count reaches a rank from 1 on.
  __device__ __forceinline__ int bin_of_rank(uint32_t rank) const {
    return static_cast<int>(
        first_where(kBins - 1, [&](uint32_t b) { return memory_.upto_count[b] >= rank; }));
  }

  // The bin in which the running mass reaches a target from 1 to the row's mass.
  __device__ __forceinline__ int bin_of_mass(uint64_t target) const {
    return static_cast<int>(
        first_where(kBins - 1, [&](uint32_t b) { return memory_.upto_mass[b] >= target; }));
  }

  // Which of the first `count` running sums reaches the target; the last if none does.
  __device__ __forceinline__ uint32_t place_of(uint32_t count, uint64_t target) const {
    return first_where(count - 1, [&](uint32_t i) { return memory_.key_sums[i] >= target; });
  }

  // The least mass that is top_p of the whole.
  static __device__ __forceinline__ uint64_t share(float top_p, uint64_t whole) {
    const double wanted = ceil(static_cast<double>(top_p) * static_cast<double>(whole));
    if (!(wanted >= 1.0)) return 1;
    const uint64_t mass = static_cast<uint64_t>(wanted);
    return mass < whole ? mass : whole;
  }

  // From 0 to limit - 1.
  static __device__ __forceinline__ uint64_t drawn(const SamplingRules& rules, uint64_t limit) {
    return __umul64hi(rules.random_bits, limit);
  }

  static __device__ __forceinline__ float probability(uint64_t mass, uint64_t total) {
    return static_cast<float>(static_cast<double>(mass) / static_cast<double>(total));
  }

  SamplingMemory& memory_;
  const Team& team_;
  Piece<T> piece_;
  uint32_t length_;
  uint32_t ordered_largest_;
  SamplingWeights weights_;
};

}  // namespace culebra

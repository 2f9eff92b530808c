// Draws a token of a row, as selections in one order: by probability, of equal ones the lower
// index. Each filter keeps a prefix of it, and a random number below the prefix's mass falls on one
// element.
//
// A selection is made in three steps: a histogram of bins, linear in the distance, tells in which
// bin the wanted element is; the bin's members are collected; they are sorted, and their running
// sums say which it is. Where several selections follow each other (top-p, then the draw), their
// bins are collected together: the drawn bin is known before the prefix is known to the last unit,
// or is one of two. What cannot be done so, because a bin has too many members, is done by select()
// digit by digit.
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
  uint32_t index;
  float probability;
};

template <class T, int kPacks, class Team>
class Sampler {
  using RowChunk = Chunk<T, kPacks>;
  static constexpr int kBins = SamplingMemory::kBins;
  static constexpr uint32_t kCapacity = SamplingMemory::kCapacity;
  // Up to here all that top-k keeps is collected, with room for the other members of its last bin.
  static constexpr int32_t kMostRanked = kCapacity / 2;

 public:
  // `piece` is the block's part of a row of `length` elements.
  __device__ __forceinline__ Sampler(SamplingMemory& memory, const Team& team,
                                     const Piece<T>& piece, uint32_t length,
                                     const SamplingWeights& weights)
      : memory_(memory), team_(team), piece_(piece), length_(length), weights_(weights) {}

  __device__ __forceinline__ DrawnToken draw() {
    DrawnToken token;
    const SamplingRules& rules = memory_.rules;
    const bool filters = static_cast<uint32_t>(rules.top_k) < length_;
    const bool drawn = !filters                     ? draw_by_mass(rules, token)
                       : rules.top_k <= kMostRanked ? draw_ranked(rules, token)
                                                    : false;
    if (!drawn) draw_by_selections(rules, token);
    return token;
  }

 private:
  enum Filter { kTopK, kTopP, kDraw };

  // Which element, in the order of all that are present.
  struct Selected {
    Key key;
    uint64_t upto;  // the mass of it and all before it
  };

  // --- top-k is small: all that it keeps is collected and sorted ---

  // False if they are too many, for ties; so is the next.
  __device__ __forceinline__ bool draw_ranked(const SamplingRules& rules, DrawnToken& token) {
    histogram<true, false>(rules.most_distance, BinMembers{});
    const uint32_t present = memory_.upto_count[kBins - 1];
    const uint32_t k = min(static_cast<uint32_t>(rules.top_k), present);
    const int last = bin_of_rank(k);
    if (memory_.upto_count[last] > kCapacity) return false;
    const uint32_t count = collect<false>([&](float x, uint32_t) {
      const float distance = weights_.distance(x);
      return weights_.is_present(distance) && weights_.bin(distance) <= last;
    });
    uint64_t limit = memory_.key_sums[k - 1];
    if (rules.top_p < 1.0f) limit = memory_.key_sums[place_of(count, share(rules.top_p, limit))];
    // Never 0: the largest element's distance is.
    const uint32_t near = first_where(
        count, [&](uint32_t i) { return distance_of(memory_.keys[i]) > rules.most_distance; });
    limit = min(limit, memory_.key_sums[near - 1]);
    token = token_of(memory_.keys[place_of(count, drawn(rules, limit) + 1)], limit);
    return true;
  }

  // --- no top-k: the bins of top-p's end and of the draw are collected ---

  __device__ __forceinline__ bool draw_by_mass(const SamplingRules& rules, DrawnToken& token) {
    histogram<false, true>(rules.most_distance, BinMembers{});
    const uint64_t near = memory_.near_mass;
    const uint64_t total = memory_.upto_mass[kBins - 1];
    const bool cuts = rules.top_p < 1.0f;
    const uint64_t target = cuts ? share(rules.top_p, total) : total;
    const int cut = bin_of_mass(target);

    // The prefix's mass lies between these two, and they are equal where nothing but min-p cuts.
    const uint64_t least = min(near, cuts ? before(cut) + 1 : total);
    const uint64_t most = min(near, cuts ? memory_.upto_mass[cut] : total);
    const int first = bin_of_mass(drawn(rules, least) + 1);
    const int last = bin_of_mass(drawn(rules, most) + 1);
    const int wanted_cut = least < most ? cut : first;
    const uint32_t count = collect<false>([&](float x, uint32_t) {
      const float distance = weights_.distance(x);
      if (!weights_.is_present(distance)) return false;
      const int bin = weights_.bin(distance);
      return (bin >= first && bin <= last) || bin == wanted_cut;
    });
    if (count > kCapacity) return false;
    const uint64_t limit =
        least < most ? min(near, select_collected(count, cut, target).upto) : most;
    const uint64_t wanted = drawn(rules, limit) + 1;
    token = token_of(select_collected(count, bin_of_mass(wanted), wanted).key, limit);
    return true;
  }

  // The element of a bin whose members are among those collected, by the row's running mass.
  __device__ __forceinline__ Selected select_collected(uint32_t count, int bin,
                                                       uint64_t target) const {
    const uint32_t first = first_where(
        count, [&](uint32_t i) { return weights_.bin(distance_of(memory_.keys[i])) >= bin; });
    // Collected masses begin anew where bins were left out.
    const uint64_t collected = first == 0 ? 0 : memory_.key_sums[first - 1];
    const uint64_t shift = before(bin) - collected;  // modulo 2^64, as what is added to it
    const uint32_t i = first + first_where(count - first - 1, [&](uint32_t j) {
                         return memory_.key_sums[first + j] + shift >= target;
                       });
    return {memory_.keys[i], memory_.key_sums[i] + shift};
  }

  // --- anything: one selection after the other, each from the beginning ---

  __device__ __forceinline__ void draw_by_selections(const SamplingRules& rules,
                                                     DrawnToken& token) {
    // The mass of what is left.
    uint64_t limit = ~uint64_t{0};
    Selected selected{};
    // One loop, for the code of all this to be there once.
    for (int filter = kTopK; filter <= kDraw; ++filter) {
      if (filter == kTopP && !(rules.top_p < 1.0f)) continue;
      // All have read what was in memory before.
      team_.sync();
      BinMembers members;
      histogram<true, true>(rules.most_distance, members);
      if (filter == kTopK) {
        limit = memory_.upto_mass[kBins - 1];
        if (static_cast<uint32_t>(rules.top_k) >= memory_.upto_count[kBins - 1]) continue;
      }
      if (filter == kDraw) limit = min(limit, memory_.near_mass);
      selected = select(members, filter == kTopK,
                        filter == kTopK   ? static_cast<uint64_t>(rules.top_k)
                        : filter == kTopP ? share(rules.top_p, limit)
                                          : drawn(rules, limit) + 1);
      if (filter != kDraw) limit = selected.upto;
    }
    token = token_of(selected.key, limit);
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

  __device__ __forceinline__ bool is_member(const BinMembers& members, float x, float distance,
                                            uint32_t index) const {
    return weights_.bin(distance) == members.bin &&
           short_key(x, index) >> members.shift == members.prefix;
  }

  // The element with which the row's running count, or mass, reaches the target. The histogram has
  // been made of all.
  __device__ __forceinline__ Selected select(BinMembers members, bool by_count, uint64_t target) {
    uint64_t above = 0;  // the mass
    for (;;) {
      const int bin = by_count ? bin_of_rank(static_cast<uint32_t>(target)) : bin_of_mass(target);
      const uint32_t count_before = bin == 0 ? 0 : memory_.upto_count[bin - 1];
      target -= by_count ? count_before : before(bin);
      above += before(bin);
      if (members.bin < 0) {
        members.bin = bin;
        members.shift = 32 + index_bits();
      } else {
        const int bits = digit_bits(members);
        members.shift -= bits;
        members.prefix = members.prefix << bits | digit_of_bin(bits, bin);
      }
      if (memory_.upto_count[bin] - count_before <= kCapacity) break;
      // All have read the histogram before.
      team_.sync();
      histogram<true, true>(kInfinity<float>, members);
    }
    const uint32_t count = collect<true>([&](float x, uint32_t index) {
      const float distance = weights_.distance(x);
      return weights_.is_present(distance) && is_member(members, x, distance, index);
    });
    const uint32_t i = by_count ? static_cast<uint32_t>(target) - 1 : place_of(count, target);
    return {memory_.keys[i], above + memory_.key_sums[i]};
  }

  // How many bits the next digit has, and which it is in a bin: the largest comes first.
  static __device__ __forceinline__ int digit_bits(const BinMembers& members) {
    return min(members.shift, SamplingMemory::kDigitBits);
  }
  static __device__ __forceinline__ uint64_t digit_of_bin(int bits, int bin) {
    return (uint64_t{1} << bits) - 1 - static_cast<uint64_t>(bin);
  }

  // --- steps ---

  // Counts and weighs what is present: all by their bins, or members of a bin by their next digit;
  // in sums over the row. Also the mass of what is no farther than `near`. Of this block's memory
  // others may read nothing any more.
  template <bool kCount, bool kMass>
  __device__ __forceinline__ void histogram(float near, const BinMembers& members) {
    for (int b = static_cast<int>(threadIdx.x); b <= kBins; b += static_cast<int>(blockDim.x)) {
      if (b < kBins) memory_.counts[b] = 0;
      memory_.low_masses[b] = 0;
      memory_.high_masses[b] = 0;
    }
    if (threadIdx.x == 0) memory_.stored = 0;
    // Waits for the zeros.
    __syncthreads();

    uint64_t near_mass = 0;
    const auto add = [&](float x, uint32_t index) {
      const float distance = weights_.distance(x);
      if (!weights_.is_present(distance)) return;
      int bin = weights_.bin(distance);
      if (kCount && kMass && members.bin >= 0) {
        if (!is_member(members, x, distance, index)) return;
        const int bits = digit_bits(members);
        const uint64_t digit = short_key(x, index) >> (members.shift - bits);
        bin = static_cast<int>(~digit & ((uint64_t{1} << bits) - 1));
      }
      if constexpr (kCount) atomicAdd(&memory_.counts[bin], 1u);
      if constexpr (kMass) {
        const uint64_t mass = weights_.mass(distance);
        add_mass(bin, mass);
        if (distance <= near) near_mass += mass;
      }
    };
    for_each_element<kCount && kMass>(add);
    if (kMass) add_mass(kBins, warp_sum(near_mass));
    // Waits for the histograms of all blocks.
    team_.sync();

    for (int b = static_cast<int>(threadIdx.x); b <= kBins; b += static_cast<int>(blockDim.x)) {
      uint32_t count = 0;
      uint64_t mass = 0;
      for (unsigned block = 0; block < team_.blocks(); ++block) {
        if (kCount && b < kBins) count += *team_.at(&memory_.counts[b], block);
        if (kMass) {
          mass += *team_.at(&memory_.low_masses[b], block);
          mass += static_cast<uint64_t>(*team_.at(&memory_.high_masses[b], block)) << 32;
        }
      }
      if (b == kBins) {
        memory_.near_mass = mass;
      } else {
        memory_.upto_count[b] = count;
        memory_.upto_mass[b] = mass;
      }
    }
    // A scan has barriers before and behind it.
    if (kCount) block_inclusive_scan(memory_.upto_count, kBins);
    if (kMass) block_inclusive_scan(memory_.upto_mass, kBins);
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

  // Brings the keys of all elements that wanted(x, index) says to every block, sorts them and sums
  // their masses; returns how many there are. If they are more than kCapacity, nothing was done. A
  // histogram comes before it.
  template <bool kSeldom, class Wanted>
  __device__ __forceinline__ uint32_t collect(Wanted wanted) {
    if constexpr (kSeldom) {
      for_each_element<true>([&](float x, uint32_t index) {
        if (wanted(x, index)) append(make_key(x, index));
      });
    } else {
      for_each_chunk([&](const RowChunk& chunk) {
        uint32_t marked = 0;
#pragma unroll
        for (int i = 0; i < RowChunk::kElements; ++i) {
          if (wanted(chunk.value(i), piece_.index + chunk.offset(i))) marked |= 1u << i;
        }
#pragma unroll 1
        for (; marked != 0; marked &= marked - 1) {
          const int i = __ffs(static_cast<int>(marked)) - 1;
          append(make_key(chunk.value_at(i), piece_.index + chunk.offset(i)));
        }
      });
    }
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

  // Calls visit(x, index) for each element of the block's part, and for -inf beyond it. Code that
  // is seldom run is not repeated for each element of a chunk, which would cost registers.
  template <bool kSeldom, class Visit>
  __device__ __forceinline__ void for_each_element(Visit visit) const {
    for_each_chunk([&](const RowChunk& chunk) {
      if constexpr (kSeldom) {
#pragma unroll 1
        for (int i = 0; i < RowChunk::kElements; ++i) {
          visit(chunk.value_at(i), piece_.index + chunk.offset(i));
        }
      } else {
#pragma unroll
        for (int i = 0; i < RowChunk::kElements; ++i) {
          visit(chunk.value(i), piece_.index + chunk.offset(i));
        }
      }
    });
  }

  template <class Visit>
  __device__ __forceinline__ void for_each_chunk(Visit visit) const {
    const bool aligned = is_pack_aligned(piece_.elements);
    const uint32_t round = blockDim.x * RowChunk::kElements;
    for (uint32_t start = 0; start < piece_.length; start += round) {
      visit(RowChunk(piece_, start, aligned));
    }
  }

  // --- arithmetic ---

  __device__ __forceinline__ float distance_of(Key key) const {
    return weights_.distance(from_ordered(ordered_of(key)));
  }

  __device__ __forceinline__ uint64_t before(int bin) const {
    return bin == 0 ? 0 : memory_.upto_mass[bin - 1];
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

  // The collected key with which the running mass of all collected ones reaches the target.
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

  __device__ __forceinline__ DrawnToken token_of(Key key, uint64_t limit) const {
    const double mass = static_cast<double>(weights_.mass(distance_of(key)));
    return {index_of(key), static_cast<float>(mass / static_cast<double>(limit))};
  }

  SamplingMemory& memory_;
  const Team& team_;
  Piece<T> piece_;
  uint32_t length_;
  SamplingWeights weights_;
};

}  // namespace culebra

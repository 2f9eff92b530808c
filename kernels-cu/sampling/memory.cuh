// What a block of a sampling kernel keeps in shared memory.
#pragma once

#include "culebra/key.cuh"
#include "culebra/platform.cuh"

namespace culebra {

// What a row's token is drawn by.
struct SamplingRules {
  int32_t top_k;        // 2 or more; more than there are elements: all
  float top_p;          // 1 or more: all
  float most_distance;  // of what min-p keeps; +inf: all
  uint64_t random_bits;
};

struct SamplingMemory {
  static constexpr int kDigitBits = 11;
  static constexpr int kBins = 1 << kDigitBits;
  static constexpr int kCapacity = 2048;

  static constexpr int kParts = 256;  // as many warps as a team has

  // The block's own histogram: how many elements, and their mass in two halves (there is no 64-bit
  // addition to shared memory).
  uint32_t counts[kBins];
  uint32_t low_masses[kBins];
  uint32_t high_masses[kBins];

  // Of the whole row: running sums over the bins.
  uint64_t upto_mass[kBins];
  uint32_t upto_count[kBins];

  // Running sums over the masses that warps have in their parts of the row.
  uint64_t part_sums[kParts];

  // The keys that were collected, the largest first, and the running sums of their masses. Every
  // block has all of them; the first block counts how many.
  Key keys[kCapacity];
  uint64_t key_sums[kCapacity];
  uint32_t stored;

  // Of the row, where they cost no registers.
  SamplingRules rules;
};

}  // namespace culebra

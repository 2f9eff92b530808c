// Keys: an element and its place in the row as one number, so that one comparison of integers is
// the whole order: larger elements first, of equal ones the lower index.
//
//   bits 63..32  the element, by a map to integers that keeps the order; -0 counts as +0, NaN as
//                the largest
//   bits 31..0   the complement of the index
//
// The keys of a row are all different, and 0 is none of them: it stands for "no element".
#pragma once

#include "culebra/platform.cuh"
#include "culebra/types.cuh"

namespace culebra {

using Key = uint64_t;

// Where the elements' order and that of the integers agree; never 0.
__device__ __forceinline__ uint32_t to_ordered(float x) {
  if (x != x) return 0xffffffffu;
  const uint32_t bits = __float_as_uint(x + 0.0f);  // -0 becomes +0
  return bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u);
}

__device__ __forceinline__ float from_ordered(uint32_t ordered) {
  return __uint_as_float(ordered ^ ((ordered >> 31) != 0 ? 0x80000000u : 0xffffffffu));
}

__device__ __forceinline__ Key make_key(float x, uint32_t index) {
  return static_cast<Key>(to_ordered(x)) << 32 | static_cast<uint32_t>(~index);
}

__device__ __forceinline__ uint32_t ordered_of(Key key) { return static_cast<uint32_t>(key >> 32); }
__device__ __forceinline__ uint32_t index_of(Key key) { return ~static_cast<uint32_t>(key); }

// The least x that can have a key above `threshold` at `first` or a later index: what is below it
// need not be looked at. NaN if there may be a NaN above, and then every x is to be looked at.
__device__ __forceinline__ float least_above(Key threshold, uint32_t first) {
  if (threshold == 0) return -kInfinity<float>;
  // Of equal elements only those before the threshold's own are better.
  const uint32_t step = first > index_of(threshold) ? 1u : 0u;
  const uint32_t ordered = ordered_of(threshold);
  return from_ordered(ordered == 0xffffffffu ? ordered : ordered + step);
}

}  // namespace culebra

// Packs of 16 bytes, in which rows are read (resident_row.cuh) and written. An aligned row moves 16
// bytes an access, any other one element an access.
#pragma once

#include <type_traits>

#include "culebra/math.cuh"
#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"

namespace culebra {

inline constexpr int kPackBytes = 16;

template <class T>
inline constexpr int kPackSize = kPackBytes / static_cast<int>(sizeof(T));

// Consecutive elements of a row, already in the accumulator's type.
template <class T>
struct Pack {
  Accumulator<T> values[kPackSize<T>];
};

// The larger of two packs in each place; NaN where one of the two is NaN.
template <class T>
__device__ __forceinline__ uint4 max_of_packs(const uint4& a, const uint4& b) {
  static_assert(sizeof(T) == 2);
  if constexpr (std::is_same_v<T, f16>) {
    return {ptx::max_NaN_f16x2(a.x, b.x), ptx::max_NaN_f16x2(a.y, b.y),
            ptx::max_NaN_f16x2(a.z, b.z), ptx::max_NaN_f16x2(a.w, b.w)};
  } else {
    return {ptx::max_NaN_bf16x2(a.x, b.x), ptx::max_NaN_bf16x2(a.y, b.y),
            ptx::max_NaN_bf16x2(a.z, b.z), ptx::max_NaN_bf16x2(a.w, b.w)};
  }
}

// The largest element of a pack, or NaN or not where one is NaN.
template <class T>
__device__ __forceinline__ Accumulator<T> max_in_pack(const uint4& pack) {
  T elements[kPackSize<T>];
  memcpy(elements, &pack, kPackBytes);
  Accumulator<T> m = to_accumulator(elements[0]);
#pragma unroll
  for (int i = 1; i < kPackSize<T>; ++i) m = max_of(m, to_accumulator(elements[i]));
  return m;
}

__device__ __forceinline__ bool is_pack_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kPackBytes == 0;
}

template <class T>
class RowWriter {
 public:
  __device__ __forceinline__ RowWriter(T* row, int64_t length)
      : row_(row), length_(length), aligned_(is_pack_aligned(row)) {}

  // Stores the pack at first, first + 1, ...; places beyond the row's end are left out.
  __device__ __forceinline__ void store(int64_t first, const Pack<T>& pack) const {
    if (aligned_ && first + kPackSize<T> <= length_) {
      T elements[kPackSize<T>];
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) elements[i] = from_accumulator<T>(pack.values[i]);
      uint4 bits;
      memcpy(&bits, elements, kPackBytes);
      ptx::st_global_v4_u32(row_ + first, bits);
    } else {
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) {
        if (first + i < length_) row_[first + i] = from_accumulator<T>(pack.values[i]);
      }
    }
  }

 private:
  T* row_;
  int64_t length_;
  bool aligned_;
};

}  // namespace culebra

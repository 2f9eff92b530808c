// Reading and writing a row in packs of 16 bytes.
//
// Which thread takes which element depends on the element's index alone, never on its address: an
// unaligned or strided row gives the same bits as a contiguous one. An aligned row moves 16 bytes
// an access, any other one element an access.
#pragma once

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

__device__ __forceinline__ bool is_pack_aligned(const void* address) {
  return reinterpret_cast<uintptr_t>(address) % kPackBytes == 0;
}

template <class T>
class RowReader {
 public:
  __device__ __forceinline__ RowReader(const T* row, int64_t length)
      : row_(row), length_(length), aligned_(is_pack_aligned(row)) {}

  __device__ __forceinline__ int64_t length() const { return length_; }

  // The pack of elements first, first + 1, ...; `first` is a multiple of kPackSize. Places beyond
  // the row's end hold `padding`.
  __device__ __forceinline__ Pack<T> load(int64_t first, Accumulator<T> padding) const {
    Pack<T> pack;
    if (aligned_ && first + kPackSize<T> <= length_) {
      const uint4 bits = ptx::ld_global_v4_u32(row_ + first);
      T elements[kPackSize<T>];
      memcpy(elements, &bits, kPackBytes);
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) pack.values[i] = to_accumulator(elements[i]);
    } else {
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) {
        pack.values[i] = first + i < length_ ? to_accumulator(row_[first + i]) : padding;
      }
    }
    return pack;
  }

 private:
  const T* row_;
  int64_t length_;
  bool aligned_;
};

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

// Calls visit(first) for each pack of a row of `length` elements that falls to the calling thread
// of its block.
template <class T, class Visit>
__device__ __forceinline__ void for_each_pack(int64_t length, Visit visit) {
  const int64_t stride = static_cast<int64_t>(blockDim.x) * kPackSize<T>;
  for (int64_t first = static_cast<int64_t>(threadIdx.x) * kPackSize<T>; first < length;
       first += stride)
    visit(first);
}

}  // namespace culebra

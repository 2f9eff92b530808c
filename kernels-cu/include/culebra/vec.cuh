// Packs of 16 bytes, in which rows are read (resident_row.cuh) and written. Of an aligned row each
// moves by one access, of any other in the largest pieces that its address allows.
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

// The elements of a pack, one after the other: unlike an array of them walked by a loop that is not
// unrolled. For the end of a row, which is not worth registers.
template <class T>
class PackQueue {
 public:
  PackQueue() = default;
  __device__ __forceinline__ explicit PackQueue(const uint4& pack) : pack_(pack) {}

  __device__ __forceinline__ const uint4& pack() const { return pack_; }

  // Takes the first element out; the others move down.
  __device__ __forceinline__ T pop_front() {
    T front;
    memcpy(&front, &pack_, sizeof(T));
    move_down(uint4{});
    return front;
  }

  // Puts an element behind the last; the others move down, and the first is gone.
  __device__ __forceinline__ void push_back(T x) {
    uint4 next{};
    memcpy(&next, &x, sizeof(T));
    move_down(next);
  }

 private:
  __device__ __forceinline__ void move_down(const uint4& next) {
    if constexpr (sizeof(T) == 8) {
      pack_ = {pack_.z, pack_.w, next.x, next.y};
    } else if constexpr (sizeof(T) == 4) {
      pack_ = {pack_.y, pack_.z, pack_.w, next.x};
    } else {
      pack_ = {pack_.x >> 16 | pack_.y << 16, pack_.y >> 16 | pack_.z << 16,
               pack_.z >> 16 | pack_.w << 16, pack_.w >> 16 | next.x << 16};
    }
  }

  uint4 pack_{};
};

// A pack of an aligned row.
struct AlignedPack {
  static __device__ __forceinline__ void store(void* address, const uint4& pack) {
    ptx::st_global_v4_u32(address, pack);
  }
};

// A pack in pieces of one type. A load is in two steps, so that other loads can be on their way
// before the first has come.
template <class Piece>
struct EvenPieces {
  using MayAlias __attribute__((may_alias)) = Piece;
  static constexpr int kPieces = kPackBytes / static_cast<int>(sizeof(Piece));

  static __device__ __forceinline__ void start_load(uint4& pack, const void* address) {
    Piece pieces[kPieces];
#pragma unroll
    for (int i = 0; i < kPieces; ++i) pieces[i] = static_cast<const MayAlias*>(address)[i];
    memcpy(&pack, pieces, kPackBytes);
  }
  static __device__ __forceinline__ void finish_load(uint4&, const void*) {}

  static __device__ __forceinline__ void store(void* address, const uint4& pack) {
    Piece pieces[kPieces];
    memcpy(pieces, &pack, kPackBytes);
#pragma unroll
    for (int i = 0; i < kPieces; ++i) static_cast<MayAlias*>(address)[i] = pieces[i];
  }
};

// A pack that begins in the middle of a word: a half, three words, a half.
struct OddPieces {
  using Half __attribute__((may_alias)) = uint16_t;
  using Word __attribute__((may_alias)) = uint32_t;

  static __device__ __forceinline__ void start_load(uint4& pack, const void* address) {
    const auto* const words = reinterpret_cast<const Word*>(static_cast<const Half*>(address) + 1);
    pack = {words[0], words[1], words[2], 0};
  }
  static __device__ __forceinline__ void finish_load(uint4& pack, const void* address) {
    const auto* const halves = static_cast<const Half*>(address);
    pack = {halves[0] | pack.x << 16, pack.x >> 16 | pack.y << 16, pack.y >> 16 | pack.z << 16,
            pack.z >> 16 | uint32_t{halves[7]} << 16};
  }

  static __device__ __forceinline__ void store(void* address, const uint4& pack) {
    auto* const halves = static_cast<Half*>(address);
    auto* const words = reinterpret_cast<Word*>(halves + 1);
    halves[0] = static_cast<uint16_t>(pack.x);
    words[0] = pack.x >> 16 | pack.y << 16;
    words[1] = pack.y >> 16 | pack.z << 16;
    words[2] = pack.z >> 16 | pack.w << 16;
    halves[7] = static_cast<uint16_t>(pack.w >> 16);
  }
};

// Calls visit(pieces) with the pieces in which the packs of a row are accessed that is not aligned;
// only their type matters.
template <class T, class Visit>
__device__ __forceinline__ void visit_pieces(const T* row, Visit visit) {
  if constexpr (sizeof(T) == 8) {
    visit(EvenPieces<uint64_t>());
  } else if constexpr (sizeof(T) == 4) {
    visit(EvenPieces<uint32_t>());
  } else if (reinterpret_cast<uintptr_t>(row) % sizeof(uint32_t) == 0) {
    visit(EvenPieces<uint32_t>());
  } else {
    visit(OddPieces());
  }
}

}  // namespace culebra

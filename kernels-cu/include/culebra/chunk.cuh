// What a thread holds of a row at a time: several packs of 16 bytes, all asked for before the first
// is used, and kept as they were read (16-bit elements two in a register).
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"
#include "culebra/vec.cuh"
#include "culebra/warp.cuh"

namespace culebra {

// A register of elements.
template <class T>
struct Word;

template <>
struct Word<f32> {
  static constexpr uint32_t kSign = 0x80000000u;
  static constexpr uint32_t kLowest = 0xff800000u;  // -inf
  static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) {
    return __float_as_uint(ptx::max_NaN_f32(__uint_as_float(a), __uint_as_float(b)));
  }
  static __device__ __forceinline__ float value(uint32_t word, int) {
    return __uint_as_float(word);
  }
};

template <>
struct Word<bf16> {
  static constexpr uint32_t kSign = 0x80008000u;
  static constexpr uint32_t kLowest = 0xff80ff80u;
  static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) {
    return ptx::max_NaN_bf16x2(a, b);
  }
  static __device__ __forceinline__ float value(uint32_t word, int half) {
    return __uint_as_float(half == 0 ? word << 16 : word & 0xffff0000u);
  }
};

template <>
struct Word<f16> {
  static constexpr uint32_t kSign = 0x80008000u;
  static constexpr uint32_t kLowest = 0xfc00fc00u;
  static __device__ __forceinline__ uint32_t larger(uint32_t a, uint32_t b) {
    return ptx::max_NaN_f16x2(a, b);
  }
  static __device__ __forceinline__ float value(uint32_t word, int half) {
    const uint16_t bits = static_cast<uint16_t>(half == 0 ? word : word >> 16);
    f16 x;
    memcpy(&x, &bits, sizeof x);
    return __half2float(x);
  }
};

// A part of a row, of which every element may be taken with the other sign.
template <class T>
struct Piece {
  const T* elements;
  uint32_t length;
  uint32_t index;  // of its first element in the row
  bool negated;

  // One element, in global memory.
  __device__ __forceinline__ float value(uint32_t at) const {
    const float x = to_accumulator(elements[at]);
    return negated ? -x : x;
  }
};

// Who shares a piece: the threads of a block, or those of a warp.
struct BlockLanes {
  static __device__ __forceinline__ uint32_t rank() { return threadIdx.x; }
  static __device__ __forceinline__ uint32_t size() { return blockDim.x; }
};
struct WarpLanes {
  static __device__ __forceinline__ uint32_t rank() { return threadIdx.x % kWarpSize; }
  static __device__ __forceinline__ uint32_t size() { return kWarpSize; }
};

// Which element falls to which thread depends on its place in the piece and how many share it.
template <class T, int kPacks, class Lanes = BlockLanes>
class Chunk {
  static constexpr int kPackWords = kPackBytes / static_cast<int>(sizeof(uint32_t));
  static constexpr int kWords = kPacks * kPackWords;
  static constexpr int kWordSize = static_cast<int>(sizeof(uint32_t) / sizeof(T));

  static_assert((kWords & (kWords - 1)) == 0, "value_at halves");

 public:
  static constexpr int kElements = kWords * kWordSize;

  // The calling thread's share of Lanes::size() * kElements elements from `start` on. Places beyond
  // the piece's end hold -inf.
  __device__ __forceinline__ Chunk(const Piece<T>& piece, uint32_t start, bool aligned)
      : first_(start + Lanes::rank() * kPackSize<T>) {
    const uint32_t end = start + Lanes::size() * kElements;
    if (aligned && end <= piece.length) {  // the same for all lanes
#pragma unroll
      for (int p = 0; p < kPacks; ++p) load_pack(piece, p);
    } else {
#pragma unroll
      for (int p = 0; p < kPacks; ++p) {
        if (aligned && offset(p * kPackSize<T>) + kPackSize<T> <= piece.length) {
          load_pack(piece, p);
        } else {
          load_elements(piece, p);
        }
      }
    }
    if (piece.negated) {
#pragma unroll
      for (uint32_t& word : words_) word ^= Word<T>::kSign;
    }
  }

  // The place of element i in the piece; the lowest of all for i = 0.
  __device__ __forceinline__ uint32_t offset(int i) const { return place(first_, i); }

  // The same for a chunk whose first element is at `first`.
  static __device__ __forceinline__ uint32_t place(uint32_t first, int i) {
    return first + static_cast<uint32_t>(i / kPackSize<T>) * Lanes::size() * kPackSize<T> +
           static_cast<uint32_t>(i % kPackSize<T>);
  }

  // i is known when the code is compiled.
  __device__ __forceinline__ float value(int i) const {
    return Word<T>::value(words_[i / kWordSize], i % kWordSize);
  }

  // The same for any i, for what is wanted rarely: an array cannot be indexed in registers, but it
  // can be halved until one word is left, with an instruction a word.
  __device__ __forceinline__ float value_at(uint32_t i) const {
    uint32_t words[kWords];
#pragma unroll
    for (int w = 0; w < kWords; ++w) words[w] = words_[w];
    halve<kWords / 2>(words, i / kWordSize);
    const float even = Word<T>::value(words[0], 0);
    return kWordSize == 1 || i % 2 == 0 ? even : Word<T>::value(words[0], kWordSize - 1);
  }

  // NaN if there is one.
  __device__ __forceinline__ float largest() const {
    uint32_t word = words_[0];
#pragma unroll
    for (int w = 1; w < kWords; ++w) word = Word<T>::larger(word, words_[w]);
    float result = Word<T>::value(word, 0);
    if constexpr (kWordSize == 2) result = ptx::max_NaN_f32(result, Word<T>::value(word, 1));
    return result;
  }

 private:
  __device__ __forceinline__ void load_pack(const Piece<T>& piece, int p) {
    const uint4 bits =
        ptx::ld_global_nc_L1_no_allocate_v4_u32(piece.elements + offset(p * kPackSize<T>));
    memcpy(&words_[p * kPackWords], &bits, kPackBytes);
  }

  __device__ __forceinline__ void load_elements(const Piece<T>& piece, int p) {
    // The sign turns later.
    const uint32_t lowest = Word<T>::kLowest ^ (piece.negated ? Word<T>::kSign : 0);
    T elements[kPackSize<T>];
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i) {
      const uint32_t at = offset(p * kPackSize<T> + i);
      memcpy(&elements[i], &lowest, sizeof(T));
      if (at < piece.length) elements[i] = piece.elements[at];
    }
    memcpy(&words_[p * kPackWords], elements, kPackBytes);
  }

  // Moves the wanted one of 2 * kHalf words to the front.
  template <int kHalf>
  static __device__ __forceinline__ void halve(uint32_t (&words)[kWords], uint32_t wanted) {
    const uint32_t upper = (wanted & kHalf) != 0 ? 0xffffffffu : 0u;
#pragma unroll
    for (int w = 0; w < kHalf; ++w) words[w] ^= (words[w] ^ words[w + kHalf]) & upper;
    if constexpr (kHalf > 1) halve<kHalf / 2>(words, wanted);
  }

  uint32_t first_;
  uint32_t words_[kWords];
};

}  // namespace culebra

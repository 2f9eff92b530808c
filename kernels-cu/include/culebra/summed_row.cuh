// The logits of a softmax with an additive mask: scale * x + addend. Rows on chip hold the sums, in
// the accumulator's type, so that nothing is rounded to 16 bits on the way and the addends are read
// once, like the elements.
//
// A sum beyond the accumulator's range is infinite. An addend of -inf masks its element, which is
// not looked at then, even if it is NaN; so does a byte of 0 and the row's length. Any other NaN or
// +inf among the sums makes the row NaN.
#pragma once

#include <type_traits>

#include "culebra/masked_rows.cuh"
#include "culebra/math.cuh"
#include "culebra/params.h"
#include "culebra/platform.cuh"
#include "culebra/resident_row.cuh"
#include "culebra/softmax_weight.cuh"
#include "culebra/types.cuh"
#include "culebra/vec.cuh"

namespace culebra {

// How the groups of a row are accessed, which hangs on the row's address alone.
enum class GroupAccess {
  kWhole,     // at once
  kWords,     // 16-bit elements two at a time
  kOddWords,  // the same from the second on: the first and the last apart
  kElements
};

// As many elements as a pack of sums has, which is 8 or 16 bytes of them: of 16 bits half of a pack
// (vec.cuh), so that its pieces are others.
template <class T, int kSize>
struct alignas(sizeof(T) * kSize) ElementGroup {
  T values[kSize];

  static __device__ __forceinline__ GroupAccess access(const T* row) {
    const auto address = reinterpret_cast<uintptr_t>(row);
    if (address % sizeof(ElementGroup) == 0) return GroupAccess::kWhole;
    if (sizeof(T) != 2) return GroupAccess::kElements;
    return address % sizeof(Word) == 0 ? GroupAccess::kWords : GroupAccess::kOddWords;
  }

  // The first `left` of them; the others are not set.
  __device__ __forceinline__ void load(const T* at, int left, GroupAccess access) {
    if (access == GroupAccess::kWhole && left >= kSize) {
      *this = *reinterpret_cast<const ElementGroup*>(at);
    } else if (sizeof(T) == 2 && access != GroupAccess::kElements && left >= kSize) {
      load_words(at, access == GroupAccess::kOddWords);
    } else {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (i < left) values[i] = at[i];
      }
    }
  }
  __device__ __forceinline__ void store(T* at, int left, GroupAccess access) const {
    if (access == GroupAccess::kWhole && left >= kSize) {
      *reinterpret_cast<ElementGroup*>(at) = *this;
    } else if (sizeof(T) == 2 && access != GroupAccess::kElements && left >= kSize) {
      store_words(at, access == GroupAccess::kOddWords);
    } else {
#pragma unroll
      for (int i = 0; i < kSize; ++i) {
        if (i < left) at[i] = values[i];
      }
    }
  }

 private:
  using Word __attribute__((may_alias)) = uint32_t;

  __device__ __forceinline__ void load_words(const T* at, bool odd) {
    if (odd) {
      values[0] = at[0];
#pragma unroll
      for (int i = 1; i < kSize - 1; i += 2) set_two(i, *reinterpret_cast<const Word*>(at + i));
      values[kSize - 1] = at[kSize - 1];
    } else {
#pragma unroll
      for (int i = 0; i < kSize; i += 2) set_two(i, *reinterpret_cast<const Word*>(at + i));
    }
  }
  __device__ __forceinline__ void store_words(T* at, bool odd) const {
    if (odd) {
      at[0] = values[0];
#pragma unroll
      for (int i = 1; i < kSize - 1; i += 2) *reinterpret_cast<Word*>(at + i) = two(i);
      at[kSize - 1] = values[kSize - 1];
    } else {
#pragma unroll
      for (int i = 0; i < kSize; i += 2) *reinterpret_cast<Word*>(at + i) = two(i);
    }
  }

  __device__ __forceinline__ void set_two(int i, uint32_t word) {
    const auto low = static_cast<uint16_t>(word);
    const auto high = static_cast<uint16_t>(word >> 16);
    memcpy(&values[i], &low, sizeof low);
    memcpy(&values[i + 1], &high, sizeof high);
  }
  __device__ __forceinline__ uint32_t two(int i) const {
    uint16_t low;
    uint16_t high;
    memcpy(&low, &values[i], sizeof low);
    memcpy(&high, &values[i + 1], sizeof high);
    return low | uint32_t{high} << 16;
  }
};

// A row on chip of sums. Base is a row of the accumulator's type; results go to rows of T.
template <class T, class Base>
class SummedRow : public Base {
  using A = Accumulator<T>;
  static constexpr int kSize = kPackSize<A>;
  static constexpr int kAhead = 2;  // packs of a thread whose loads are on their way together

  // A row in registers has its packs by numbers that the compiler knows.
  static constexpr int kPartsUnrolled = std::is_same_v<Base, SharedRow<A>> ? 1 : 1024;

 public:
  using Base::Base;

  // Holds sum(i, x[i], addends[i]) for i below `length`, and -inf beyond.
  template <class M, class Sum>
  __device__ __forceinline__ void load_sums(const T* x, const M* addends, int length, Sum sum) {
    using Elements = ElementGroup<T, kSize>;
    using Addends = ElementGroup<M, kSize>;
    const GroupAccess x_access = Elements::access(x);
    const GroupAccess addends_access = Addends::access(addends);
#pragma unroll kPartsUnrolled
    for (int start = 0; start < this->count(); start += kAhead) {
      Elements elements[kAhead];
      Addends others[kAhead];
#pragma unroll
      for (int p = 0; p < kAhead; ++p) {
        const int first = this->first(start + p);
        if (first >= length) continue;
        elements[p].load(x + first, length - first, x_access);
        others[p].load(addends + first, length - first, addends_access);
      }
#pragma unroll
      for (int p = 0; p < kAhead; ++p) {
        if (start + p >= this->count()) break;
        const int first = this->first(start + p);
        A sums[kSize];
#pragma unroll
        for (int i = 0; i < kSize; ++i) {
          sums[i] = first + i < length ? sum(first + i, elements[p].values[i], others[p].values[i])
                                       : -kInfinity<A>;
        }
        this->set(start + p, Base::pack_of(sums));
      }
    }
  }

  // Writes change(sum) of each to a row of `length`; places beyond are left out.
  template <class Change>
  __device__ __forceinline__ void store(T* row, int length, Change change) const {
    using Results = ElementGroup<T, kSize>;
    const GroupAccess access = Results::access(row);
#pragma unroll 4
    for (int p = 0; p < this->count(); ++p) {
      const int first = this->first(p);
      if (first >= length) break;
      A sums[kSize];
      Base::unpack(this->get(p), sums);
      Results results;
#pragma unroll
      for (int i = 0; i < kSize; ++i) results.values[i] = from_accumulator<T>(change(sums[i]));
      results.store(row + first, length - first, access);
    }
  }
};

template <class T>
class SummedLogits {
  using A = Accumulator<T>;

 public:
  using Stored = A;
  template <int kPacks>
  using InRegisters = SummedRow<T, RegisterRow<A, kPacks>>;
  using InSharedMemory = SummedRow<T, SharedRow<A>>;

  __device__ __forceinline__ SummedLogits(const MaskedSoftmaxParams& params,
                                          const SoftmaxAddends& addends)
      : params_(params), addends_(addends), weight_(A(1)) {}

  // The sums have the scale in them.
  __device__ __forceinline__ const SoftmaxWeight<T>& weight() const { return weight_; }

  // As MaskedLogits::load.
  template <class Row>
  __device__ __forceinline__ void load(Row& row, int64_t r, int64_t first, int count) const {
    // The same type is not compiled twice.
    if (std::is_same_v<T, f32> || addends_.addends_are_f32 != 0) {
      load_with<f32>(row, r, first, count);
    } else {
      load_with<T>(row, r, first, count);
    }
  }

 private:
  template <class M, class Row>
  __device__ __forceinline__ void load_with(Row& row, int64_t r, int64_t first, int count) const {
    const T* const x = static_cast<const T*>(params_.in) + r * params_.in_row_stride + first;
    const M* const addends =
        static_cast<const M*>(addends_.addends) + first +
        offset_of_row(r, addends_.addend_inner_rows, addends_.addend_inner_stride,
                      addends_.addend_middle_rows, addends_.addend_middle_stride,
                      addends_.addend_outer_stride);
    const uint8_t* const counts = mask_of(params_, r, first);
    const A scale = static_cast<A>(params_.scale);
    row.load_sums(x, addends, within_length(params_, r, first, count), [&](int i, T x_i, M addend) {
      const A added = static_cast<A>(to_accumulator(addend));
      if (added == -kInfinity<A> || (counts != nullptr && counts[i] == 0)) return -kInfinity<A>;
      const A value = to_accumulator(x_i);
      // As without addends: with a scale of 0 -inf is masked. (-inf) * 0 is never computed.
      if (scale == A(0) && value == -kInfinity<A>) return value;
      return fma_rn(scale, value, added);
    });
  }

  const MaskedSoftmaxParams& params_;
  const SoftmaxAddends& addends_;
  SoftmaxWeight<T> weight_;
};

}  // namespace culebra

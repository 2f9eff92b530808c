// Rows that a team keeps on chip: read once, all loads on their way before the first element is
// used. Each thread holds packs of 16 bytes as they were stored and reads back only its own, so
// that no barrier is needed.
//
// load(row, length, padding) reads `length` elements; places beyond hold `padding`. Who needs two
// rows calls start_load for both and then finish_load, with the same arguments: so the loads of
// both are on their way together.
//
// Which thread has which element depends on the element's index alone (and on the team's size),
// never on its address: an unaligned or strided row gives the same bits as a contiguous one.
// Thread `rank` of `size` has the packs rank, rank + size, rank + 2 size ...
#pragma once

#include "culebra/platform.cuh"
#include "culebra/ptx.cuh"
#include "culebra/types.cuh"
#include "culebra/vec.cuh"

namespace culebra {

// What both kinds of row do with a thread's packs. Self has count(), get(p) and set(p, pack);
// count() may be a constant.
template <class T, class Self>
class RowOfPacks {
 public:
  using A = Accumulator<T>;

  // The largest element of the thread's; NaN elements may show or not. -inf if there are none.
  __device__ __forceinline__ A maximum() const {
    const Self& self = static_cast<const Self&>(*this);
    if constexpr (sizeof(T) == 2) {
      if (self.count() == 0) return -kInfinity<A>;
      uint4 largest = self.get(0);
#pragma unroll 4
      for (int p = 1; p < self.count(); ++p) largest = max_of_packs<T>(largest, self.get(p));
      return max_in_pack<T>(largest);
    } else {
      A m = -kInfinity<A>;
#pragma unroll 4
      for (int p = 0; p < self.count(); ++p) m = max_of(m, max_in_pack<T>(self.get(p)));
      return m;
    }
  }

  // Calls visit(x) for each element of the thread's in a fixed order, those of the padding too.
  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
    const Self& self = static_cast<const Self&>(*this);
#pragma unroll 4
    for (int p = 0; p < self.count(); ++p) {
      T elements[kPackSize<T>];
      unpack(self.get(p), elements);
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) visit(to_accumulator(elements[i]));
    }
  }

  // Calls visit(place in its pack, x, other's x) for each element of the thread's, in a fixed
  // order, those of the padding too. `other` is a row of the same length.
  template <class Visit>
  __device__ __forceinline__ void for_each_with(const Self& other, Visit visit) const {
    const Self& self = static_cast<const Self&>(*this);
#pragma unroll 4
    for (int p = 0; p < self.count(); ++p) {
      T elements[kPackSize<T>];
      T others[kPackSize<T>];
      unpack(self.get(p), elements);
      unpack(other.get(p), others);
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) {
        visit(i, to_accumulator(elements[i]), to_accumulator(others[i]));
      }
    }
  }

  // Replaces each element by change(its index in the row, x).
  template <class Change>
  __device__ __forceinline__ void transform(Change change) {
    Self& self = static_cast<Self&>(*this);
#pragma unroll 4
    for (int p = 0; p < self.count(); ++p) {
      T elements[kPackSize<T>];
      unpack(self.get(p), elements);
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) elements[i] = change(first(p) + i, elements[i]);
      self.set(p, pack_of(elements));
    }
  }

  // Writes change(x) of each element to a row of `length`; places beyond are left out.
  template <class Change>
  __device__ __forceinline__ void store(T* row, int length, Change change) const {
    const Self& self = static_cast<const Self&>(*this);
    const RowWriter<T> writer(row, length);
#pragma unroll 4
    for (int p = 0; p < self.count(); ++p) {
      if (first(p) >= length) break;
      T elements[kPackSize<T>];
      unpack(self.get(p), elements);
      Pack<T> pack;
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) pack.values[i] = change(to_accumulator(elements[i]));
      writer.store(first(p), pack);
    }
  }

  // Writes change(x, other's x), as store does. `other` is a row of the same length.
  template <class Change>
  __device__ __forceinline__ void store_with(const Self& other, T* row, int length,
                                             Change change) const {
    const Self& self = static_cast<const Self&>(*this);
    const RowWriter<T> writer(row, length);
#pragma unroll 4
    for (int p = 0; p < self.count(); ++p) {
      if (first(p) >= length) break;
      T elements[kPackSize<T>];
      T others[kPackSize<T>];
      unpack(self.get(p), elements);
      unpack(other.get(p), others);
      Pack<T> pack;
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) {
        pack.values[i] = change(to_accumulator(elements[i]), to_accumulator(others[i]));
      }
      writer.store(first(p), pack);
    }
  }

 protected:
  __device__ __forceinline__ RowOfPacks(unsigned rank, unsigned size)
      : first_(static_cast<int>(rank) * kPackSize<T>),
        step_(static_cast<int>(size) * kPackSize<T>) {}

  // Where the thread's pack p begins in the row.
  __device__ __forceinline__ int first(int p) const { return first_ + p * step_; }

  // How many packs it takes to cover `length` elements.
  __device__ __forceinline__ int packs_of(int length) const {
    return first_ < length ? (length - first_ - 1) / step_ + 1 : 0;
  }

  static __device__ __forceinline__ uint4 pack_of(const T (&elements)[kPackSize<T>]) {
    uint4 pack;
    memcpy(&pack, elements, kPackBytes);
    return pack;
  }

  static __device__ __forceinline__ void unpack(const uint4& pack, T (&elements)[kPackSize<T>]) {
    memcpy(elements, &pack, kPackBytes);
  }

  // The pack p, element by element: of a row that is not aligned, or at its end.
  __device__ __forceinline__ uint4 load_apart(int p, const T* row, int length, T padding) const {
    T elements[kPackSize<T>];
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i) {
      elements[i] = first(p) + i < length ? row[first(p) + i] : padding;
    }
    return pack_of(elements);
  }

 private:
  int first_;
  int step_;
};

// kPacks packs a thread in registers. The team together holds size * kPacks packs, which must be no
// less than the row.
template <class T, int kPacks>
class RegisterRow : public RowOfPacks<T, RegisterRow<T, kPacks>> {
  using Base = RowOfPacks<T, RegisterRow<T, kPacks>>;

 public:
  __device__ __forceinline__ RegisterRow(unsigned rank, unsigned size) : Base(rank, size) {}

  __device__ __forceinline__ constexpr int count() const { return kPacks; }
  __device__ __forceinline__ const uint4& get(int p) const { return packs_[p]; }
  __device__ __forceinline__ void set(int p, const uint4& pack) { packs_[p] = pack; }

  __device__ __forceinline__ void load(const T* row, int length, T padding) {
    start_load(row, length, padding);
    finish_load(row, length, padding);
  }

  __device__ __forceinline__ void start_load(const T* row, int length, T padding) {
    const bool aligned = is_pack_aligned(row);
    T fill[kPackSize<T>];
#pragma unroll
    for (T& x : fill) x = padding;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      packs_[p] = Base::pack_of(fill);
      if (aligned && Base::first(p) + kPackSize<T> <= length) {
        packs_[p] = ptx::ld_global_v4_u32(row + Base::first(p));
      }
    }
  }

  __device__ __forceinline__ void finish_load(const T* row, int length, T padding) {
    const bool aligned = is_pack_aligned(row);
    if (aligned && length % kPackSize<T> == 0) return;
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      // Of an aligned row the last pack alone.
      const int last = Base::first(p) + kPackSize<T>;
      if (Base::first(p) < length && (!aligned || last > length)) {
        packs_[p] = Base::load_apart(p, row, length, padding);
      }
    }
  }

 private:
  uint4 packs_[kPacks];
};

// Reads a row of any length by the parts that a block holds in registers: calls visit(part, first,
// count) for each, with `count` elements from the row's element `first` on, and `padding` beyond
// them. The block's threads take part equally often.
template <class T, int kPacks, class Visit>
__device__ __forceinline__ void for_each_part(const T* row, int64_t length, T padding,
                                              Visit visit) {
  RegisterRow<T, kPacks> part(threadIdx.x, blockDim.x);
  const int most = static_cast<int>(blockDim.x) * kPacks * kPackSize<T>;
  for (int64_t first = 0; first < length; first += most) {
    const int count = length - first < most ? static_cast<int>(length - first) : most;
    part.load(row + first, count, padding);
    visit(part, first, count);
  }
}

// A thread's packs in shared memory, which serves as more registers than a thread can have: any row
// that fits.
template <class T>
class SharedRow : public RowOfPacks<T, SharedRow<T>> {
  using Base = RowOfPacks<T, SharedRow<T>>;

 public:
  // The row has row_length elements. The block's part of it lies in `memory`: of each of its
  // threads ceil(row_length / (size * kPackSize)) packs.
  __device__ __forceinline__ SharedRow(uint4* memory, int row_length, unsigned rank, unsigned size)
      : Base(rank, size), slots_(memory + threadIdx.x), count_(Base::packs_of(row_length)) {}

  __device__ __forceinline__ int count() const { return count_; }
  __device__ __forceinline__ const uint4& get(int p) const { return *slot(p); }
  __device__ __forceinline__ void set(int p, const uint4& pack) { *slot(p) = pack; }

  // How many packs of `memory` a block takes of a row.
  static __device__ __forceinline__ unsigned packs_of_block(int row_length, unsigned size) {
    const auto packs = static_cast<unsigned>((row_length - 1) / kPackSize<T> + 1);
    return (packs + size - 1) / size * blockDim.x;
  }

  // No more than row_length elements.
  __device__ __forceinline__ void load(const T* row, int length, T padding) {
    start_load(row, length, padding);
    finish_load(row, length, padding);
  }

  __device__ __forceinline__ void start_load(const T* row, int length, T padding) {
    if (is_pack_aligned(row)) {
#pragma unroll 4
      for (int p = 0; p < count_; ++p) {
        if (Base::first(p) + kPackSize<T> <= length) {
          ptx::cp_async_cg_shared_global_16(address(p), row + Base::first(p));
        } else {
          set(p, Base::load_apart(p, row, length, padding));
        }
      }
    } else {
#pragma unroll 4
      for (int p = 0; p < count_; ++p) {
        if (sizeof(T) >= 4 && Base::first(p) + kPackSize<T> <= length) {
          copy_apart(p, row);
        } else {
          set(p, Base::load_apart(p, row, length, padding));
        }
      }
    }
  }

  __device__ __forceinline__ void finish_load(const T*, int, T) { ptx::cp_async_wait_all(); }

 private:
  __device__ __forceinline__ uint4* slot(int p) const {
    return slots_ + static_cast<unsigned>(p) * blockDim.x;
  }
  __device__ __forceinline__ uint32_t address(int p) const {
    return static_cast<uint32_t>(__cvta_generic_to_shared(slot(p)));
  }

  // There is no asynchronous copy of two bytes.
  __device__ __forceinline__ void copy_apart(int p, const T* row) {
    if constexpr (sizeof(T) >= 4) {
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) {
        ptx::cp_async_ca_shared_global<sizeof(T)>(address(p) + static_cast<uint32_t>(i * sizeof(T)),
                                                  row + Base::first(p) + i);
      }
    }
  }

  uint4* slots_;
  int count_;
};

}  // namespace culebra

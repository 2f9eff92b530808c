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
    for_each_numbered([&](int, A x) { visit(x); });
  }

  // The same with its number among the thread's elements: visit(k, x).
  template <class Visit>
  __device__ __forceinline__ void for_each_numbered(Visit visit) const {
    const Self& self = static_cast<const Self&>(*this);
#pragma unroll 4
    for (int p = 0; p < self.count(); ++p) {
      T elements[kPackSize<T>];
      unpack(self.get(p), elements);
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) {
        visit(p * kPackSize<T> + i, to_accumulator(elements[i]));
      }
    }
  }

  // The place in the row of the thread's k-th element; it grows with k.
  __device__ __forceinline__ int place(int k) const {
    return first(k / kPackSize<T>) + k % kPackSize<T>;
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
    store_packs(row, length, [&](int p) {
      T elements[kPackSize<T>];
      unpack(self.get(p), elements);
      A results[kPackSize<T>];
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) results[i] = change(to_accumulator(elements[i]));
      return pack_from(results);
    });
  }

  // Writes change(x, other's x), as store does. `other` is a row of the same length.
  template <class Change>
  __device__ __forceinline__ void store_with(const Self& other, T* row, int length,
                                             Change change) const {
    const Self& self = static_cast<const Self&>(*this);
    store_packs(row, length, [&](int p) {
      T elements[kPackSize<T>];
      T others[kPackSize<T>];
      unpack(self.get(p), elements);
      unpack(other.get(p), others);
      A results[kPackSize<T>];
#pragma unroll
      for (int i = 0; i < kPackSize<T>; ++i) {
        results[i] = change(to_accumulator(elements[i]), to_accumulator(others[i]));
      }
      return pack_from(results);
    });
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

  // How many of the thread's packs lie in a row of `length` as a whole.
  __device__ __forceinline__ int whole_packs_of(int length) const {
    return packs_of(length - kPackSize<T> + 1);
  }

  static __device__ __forceinline__ uint4 pack_of(const T (&elements)[kPackSize<T>]) {
    uint4 pack;
    memcpy(&pack, elements, kPackBytes);
    return pack;
  }

  // All are rounded together: of 16 bits two by one instruction.
  static __device__ __forceinline__ uint4 pack_from(const A (&values)[kPackSize<T>]) {
    T elements[kPackSize<T>];
#pragma unroll
    for (int i = 0; i < kPackSize<T>; ++i) elements[i] = from_accumulator<T>(values[i]);
    return pack_of(elements);
  }

  static __device__ __forceinline__ uint4 pack_of_all(T x) {
    T elements[kPackSize<T>];
#pragma unroll
    for (T& element : elements) element = x;
    return pack_of(elements);
  }

  static __device__ __forceinline__ void unpack(const uint4& pack, T (&elements)[kPackSize<T>]) {
    memcpy(elements, &pack, kPackBytes);
  }

  // Whether all of pack p lies in a row of `length`.
  __device__ __forceinline__ bool is_whole(int p, int length) const {
    return first(p) + kPackSize<T> <= length;
  }

  // The pack p, element by element: at the row's end.
  __device__ __forceinline__ uint4 load_apart(int p, const T* row, int length, T padding) const {
    PackQueue<T> elements;
#pragma unroll 1
    for (int i = first(p); i < first(p) + kPackSize<T>; ++i) {
      elements.push_back(i < length ? row[i] : padding);
    }
    return elements.pack();
  }

 private:
  // Writes the packs that make(p) gives.
  template <class Make>
  __device__ __forceinline__ void store_packs(T* row, int length, Make make) const {
    const Self& self = static_cast<const Self&>(*this);
    const bool aligned = is_pack_aligned(row);
    if (Self::kOneLoopStores) {
      store_whole_packs(length, make, [&](int p, const uint4& pack) {
        if (aligned) {
          AlignedPack::store(row + first(p), pack);
        } else {
          visit_pieces(row, [&](auto pieces) { pieces.store(row + first(p), pack); });
        }
      });
    } else if (aligned) {
      store_whole_packs(length, make, [&](int p, const uint4& pack) {
        AlignedPack::store(row + first(p), pack);
      });
    } else {
      visit_pieces(row, [&](auto pieces) {
        store_whole_packs(length, make,
                          [&](int p, const uint4& pack) { pieces.store(row + first(p), pack); });
      });
    }
    self.for_partial_pack(length, [&](int p) {
      PackQueue<T> elements(make(p));
#pragma unroll 1
      for (int i = first(p); i < length; ++i) row[i] = elements.pop_front();
    });
  }

  template <class Make, class Store>
  __device__ __forceinline__ void store_whole_packs(int length, Make make, Store store) const {
#pragma unroll 4
    for (int p = 0; p < static_cast<const Self&>(*this).count(); ++p) {
      if (!is_whole(p, length)) break;
      store(p, make(p));
    }
  }

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

  static constexpr bool kOneLoopStores = false;  // it would spill

  __device__ __forceinline__ constexpr int count() const { return kPacks; }
  __device__ __forceinline__ const uint4& get(int p) const { return packs_[p]; }
  __device__ __forceinline__ void set(int p, const uint4& pack) { packs_[p] = pack; }

  __device__ __forceinline__ void load(const T* row, int length, T padding) {
    start_load(row, length, padding);
    finish_load(row, length, padding);
  }

  __device__ __forceinline__ void start_load(const T* row, int length, T padding) {
    const bool aligned = is_pack_aligned(row);
    const uint4 fill = Base::pack_of_all(padding);
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      packs_[p] = fill;
      if (aligned && Base::is_whole(p, length)) {
        packs_[p] = ptx::ld_global_v4_u32(row + Base::first(p));
      }
    }
  }

  __device__ __forceinline__ void finish_load(const T* row, int length, T padding) {
    const bool aligned = is_pack_aligned(row);
    if (aligned && length % kPackSize<T> == 0) return;
    if (!aligned) visit_pieces(row, [&](auto pieces) { load_in_pieces(row, length, pieces); });
    for_partial_pack(length, [&](int p) { packs_[p] = Base::load_apart(p, row, length, padding); });
  }

  // Calls visit(p) if the thread has the row's last pack and that is not whole.
  template <class Visit>
  __device__ __forceinline__ void for_partial_pack(int length, Visit visit) const {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (Base::first(p) < length && !Base::is_whole(p, length)) visit(p);
    }
  }

 private:
  template <class Pieces>
  __device__ __forceinline__ void load_in_pieces(const T* row, int length, Pieces pieces) {
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (Base::is_whole(p, length)) pieces.start_load(packs_[p], row + Base::first(p));
    }
#pragma unroll
    for (int p = 0; p < kPacks; ++p) {
      if (Base::is_whole(p, length)) pieces.finish_load(packs_[p], row + Base::first(p));
    }
  }

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

  // Whether one loop stores aligned rows and others: measured on an H200, softmax of bf16 2 %
  // faster, of f32 2 % slower than a loop of their own for aligned rows.
  static constexpr bool kOneLoopStores = sizeof(T) == 2;

  __device__ __forceinline__ int count() const { return count_; }
  __device__ __forceinline__ const uint4& get(int p) const { return *slot(p); }
  __device__ __forceinline__ void set(int p, const uint4& pack) { *slot(p) = pack; }

  template <class Visit>
  __device__ __forceinline__ void for_partial_pack(int length, Visit visit) const {
    const int p = Base::whole_packs_of(length);
    if (p < count_ && Base::first(p) < length) visit(p);
  }

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
      start_load_of_whole(row, length, AlignedPack());
    } else {
      visit_pieces(row, [&](auto pieces) { start_load_of_whole(row, length, pieces); });
    }
    for_partial_pack(length, [&](int p) { set(p, Base::load_apart(p, row, length, padding)); });
    const uint4 fill = Base::pack_of_all(padding);
#pragma unroll 1
    for (int p = Base::packs_of(length); p < count_; ++p) set(p, fill);
  }

  __device__ __forceinline__ void finish_load(const T*, int, T) { ptx::cp_async_wait_all(); }

 private:
  __device__ __forceinline__ uint4* slot(int p) const {
    return slots_ + static_cast<unsigned>(p) * blockDim.x;
  }
  __device__ __forceinline__ uint32_t address(int p) const {
    return static_cast<uint32_t>(__cvta_generic_to_shared(slot(p)));
  }

  template <class Pieces>
  __device__ __forceinline__ void start_load_of_whole(const T* row, int length, Pieces pieces) {
#pragma unroll 4
    for (int p = 0; p < count_; ++p) {
      if (!Base::is_whole(p, length)) break;
      start_load_of_pack(p, row + Base::first(p), pieces);
    }
  }

  __device__ __forceinline__ void start_load_of_pack(int p, const T* from, AlignedPack) {
    ptx::cp_async_cg_shared_global_16(address(p), from);
  }

  template <class Piece>
  __device__ __forceinline__ void start_load_of_pack(int p, const T* from, EvenPieces<Piece>) {
#pragma unroll
    for (unsigned byte = 0; byte < kPackBytes; byte += sizeof(Piece)) {
      ptx::cp_async_ca_shared_global<sizeof(Piece)>(address(p) + byte,
                                                    reinterpret_cast<const char*>(from) + byte);
    }
  }

  // There is no asynchronous copy of two bytes.
  __device__ __forceinline__ void start_load_of_pack(int p, const T* from, OddPieces pieces) {
    uint4 pack;
    pieces.start_load(pack, from);
    pieces.finish_load(pack, from);
    set(p, pack);
  }

  uint4* slots_;
  int count_;
};

}  // namespace culebra

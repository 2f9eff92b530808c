// Reductions of columns: along any axis but the last, of which reduction_ops.cuh says what each
// computes.
//
// Symbols: culebra_reduce_columns_<op>_<type>, all taking ReduceColumnsParams. One access an
// element.
//
// Rows are read in packs of 16 bytes, and a thread keeps the states of all columns of a pack. A
// block has blockDim.x packs side by side (of one matrix and of those behind it) and blockDim.y
// threads for each, which share its rows; both are powers of two. It reads kRows rows a thread
// whose loads are all on their way before it takes in the first. Where columns are few and long,
// they are cut into pieces for several blocks, and culebra_reduce_<op>_merge_<type> of the family
// reduce joins the states. Which element joins which hangs on the shape alone, so the result
// repeats bit for bit.
#include "culebra/platform.cuh"

#include "culebra/params.h"
#include "culebra/ptx.cuh"
#include "culebra/reduction_ops.cuh"
#include "culebra/types.cuh"
#include "culebra/vec.cuh"

namespace culebra {
namespace {

constexpr int kRows = 4;

// Reads the packs of some rows, one a row.
template <class T>
class PackColumn {
 public:
  // `columns` of the pack's places have an element, the others hold `padding`.
  __device__ __forceinline__ PackColumn(const T* top, int64_t row_stride, int columns, T padding)
      : top_(top), row_stride_(row_stride), columns_(columns), padding_(padding) {
    wide_ = columns == kPackSize<T> && is_pack_aligned(top) && row_stride % kPackSize<T> == 0;
  }

  __device__ __forceinline__ uint4 padding() const {
    T elements[kPackSize<T>];
#pragma unroll
    for (T& x : elements) x = padding_;
    return pack_of(elements);
  }

  __device__ __forceinline__ uint4 load(int64_t row) const {
    const T* const first = top_ + row * row_stride_;
    if (wide_) return ptx::ld_global_v4_u32(first);
    T elements[kPackSize<T>];
#pragma unroll
    for (int c = 0; c < kPackSize<T>; ++c) elements[c] = c < columns_ ? first[c] : padding_;
    return pack_of(elements);
  }

 private:
  static __device__ __forceinline__ uint4 pack_of(const T (&elements)[kPackSize<T>]) {
    uint4 pack;
    memcpy(&pack, elements, kPackBytes);
    return pack;
  }

  const T* top_;
  int64_t row_stride_;
  int columns_;
  T padding_;
  bool wide_;
};

// One column of the packs that a thread has read.
template <class T>
struct ColumnBatch {
  const uint4 (&packs)[kRows];
  int column;
  int64_t first;  // row of the first pack
  unsigned step;  // from one pack's row to the next one's

  template <class Visit>
  __device__ __forceinline__ void for_each(Visit visit) const {
#pragma unroll
    for (int k = 0; k < kRows; ++k) {
      T elements[kPackSize<T>];
      memcpy(elements, &packs[k], kPackBytes);
      visit(k, to_accumulator(elements[column]));
    }
  }
  __device__ __forceinline__ int64_t index(int k) const { return first + int64_t{k} * step; }
};

// Combines the states of the block's threads with the same threadIdx.x into those of the first;
// all threads of the block call together.
template <int kThreads, class Op, int kStates>
__device__ __forceinline__ void reduce_down(typename Op::State (&states)[kStates]) {
  CULEBRA_SHARED(typename Op::State, slots, kStates * kThreads / 2);
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    const unsigned given = half * blockDim.x;  // states of a column of packs
    const unsigned place = threadIdx.y % half * blockDim.x + threadIdx.x;
    if (threadIdx.y >= half && threadIdx.y < 2 * half) {
#pragma unroll
      for (int c = 0; c < kStates; ++c) slots[c * given + place] = states[c];
    }
    // The lower half of the threads waits for the states of the upper.
    __syncthreads();
    if (threadIdx.y < half) {
#pragma unroll
      for (int c = 0; c < kStates; ++c) states[c] = Op()(states[c], slots[c * given + place]);
    }
    // And what comes next in the slots waits until they are read.
    __syncthreads();
  }
}

template <class T, class Op, int kThreads>
__device__ __forceinline__ void reduce_columns(const ReduceColumnsParams& params) {
  const int64_t packs_a_row = (params.columns - 1) / kPackSize<T> + 1;
  const int64_t packs = params.outer * packs_a_row;
  const int64_t tiles = (packs - 1) / blockDim.x + 1;
  for (int64_t work = blockIdx.x; work < tiles * params.pieces; work += gridDim.x) {
    const int64_t piece = work / tiles;
    const int64_t pack = (work - piece * tiles) * blockDim.x + threadIdx.x;
    const bool exists = pack < packs;
    const int64_t matrix = exists ? pack / packs_a_row : 0;
    const int64_t first_column = exists ? (pack - matrix * packs_a_row) * kPackSize<T> : 0;
    const int64_t columns_left = params.columns - first_column;
    const int columns = columns_left < kPackSize<T> ? static_cast<int>(columns_left) : kPackSize<T>;

    const int64_t begin = piece * params.piece_length;
    const int64_t rows_left = params.length - begin;
    const int64_t end = begin + (rows_left < params.piece_length ? rows_left : params.piece_length);
    const PackColumn<T> column(
        static_cast<const T*>(params.in) + matrix * params.in_outer_stride + first_column,
        params.in_row_stride, columns, from_accumulator<T>(Op::kPadding));

    typename Op::Running running[kPackSize<T>];
#pragma unroll
    for (auto& one : running) one = Op::empty();
    if (exists) {
      for (int64_t row = begin + threadIdx.y; row < end; row += int64_t{kRows} * blockDim.y) {
        uint4 batch[kRows];
#pragma unroll
        for (int k = 0; k < kRows; ++k) {
          const int64_t at = row + int64_t{k} * blockDim.y;
          batch[k] = at < end ? column.load(at) : column.padding();
        }
#pragma unroll
        for (int c = 0; c < kPackSize<T>; ++c) {
          Op::absorb(running[c], ColumnBatch<T>{batch, c, row, blockDim.y});
        }
      }
    }

    typename Op::State states[kPackSize<T>];
#pragma unroll
    for (int c = 0; c < kPackSize<T>; ++c) states[c] = Op::state(running[c]);
    reduce_down<kThreads, Op>(states);

    if (!exists || threadIdx.y > 0) continue;
    const int64_t first_out = matrix * params.columns + first_column;
#pragma unroll
    for (int c = 0; c < kPackSize<T>; ++c) {
      if (c >= columns) break;
      if (begin < end) Op::settle(states[c], begin);
      if (params.to_states != 0) {
        static_cast<typename Op::State*>(params.out)[(first_out + c) * params.pieces + piece] =
            states[c];
      } else {
        static_cast<typename Op::Result*>(params.out)[first_out + c] =
            Op::finish(states[c], params.divisor);
      }
    }
  }
}

}  // namespace
}  // namespace culebra

#define CULEBRA_REDUCE_COLUMNS(op, type, threads, resident_threads, lanes, blocks, reason)    \
  extern "C" __global__ void __launch_bounds__(threads, resident_threads / threads)           \
      culebra_reduce_columns_##op##_##type(const ReduceColumnsParams params) {                \
    culebra::reduce_columns<culebra::type, culebra::ops::op<culebra::type>, threads>(params); \
  }                                                                                           \
  CULEBRA_KERNEL(culebra_reduce_columns_##op##_##type, threads, params)

#include "reduce_columns.def"

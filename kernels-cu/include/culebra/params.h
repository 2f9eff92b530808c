// The parameter structs that kernels take by value. Plain data, no CUDA: also included by host
// programs.
//
// Addresses are device addresses; lengths and strides count elements of the kernel's storage type,
// in 64 bits.
#pragma once

#include <cstdint>

#ifndef CULEBRA_STRUCT
#define CULEBRA_STRUCT(type, ...)
#endif

// out[r, i] = softmax over i of scale * in[r, i]
struct SoftmaxParams {
  void* out;  // may be `in` itself with the same row stride; any other overlap is undefined
  const void* in;
  int64_t rows;
  int64_t row_length;      // elements of a row; they lie side by side
  int64_t out_row_stride;  // from one row's start to the next one's
  int64_t in_row_stride;
  double scale;  // any sign, narrowed to the accumulator's type, of which it is at most half the
                 // largest value
};
CULEBRA_STRUCT(SoftmaxParams, out, in, rows, row_length, out_row_stride, in_row_stride, scale)

// out[r] = (reduction over i of in[r, i]) / divisor
struct ReduceParams {
  void* out;  // rows results of the accumulator's type, side by side
  const void* in;
  int64_t rows;
  int64_t row_length;
  int64_t in_row_stride;
  int64_t element_limit;  // a row ends here at the latest, counted from `in`: lets the last row of
                          // a list of chunks be short
  double
      divisor;  // of a sum: 1, or the number of elements for a mean; max and min do not look at it
};
CULEBRA_STRUCT(ReduceParams, out, in, rows, row_length, in_row_stride, element_limit, divisor)

// The K largest of each row (of a negative scale: the smallest), sorted, and their places. Work is
// given out in pieces of rows: with more than one a row, each leaves its own K best in the
// workspace, and a second kernel merges them.
struct TopKParams {
  void* out;      // rows x k: probabilities, their logarithms or the elements, of the input's type
  void* indices;  // rows x k: i32 or i64
  const void* in;
  void* keys;    // workspace of rows x splits x k u64; not used with one piece a row
  void* states;  // workspace of rows x splits pairs of f32; not used with one piece a row
  int64_t rows;
  int64_t row_length;  // at most 2^31 - 1
  int64_t in_row_stride;
  int64_t out_row_stride;
  int64_t indices_row_stride;
  int64_t split_elements;  // of a piece; a multiple of 16 bytes of them, or one piece a row
  double scale;            // as of SoftmaxParams
  int32_t splits;          // pieces a row
  int32_t k;               // 1 to row_length, at most what the launch table says
  int32_t content;         // of out: TopKContent
  int32_t index_bytes;     // 4 or 8
};
CULEBRA_STRUCT(TopKParams, out, indices, in, keys, states, rows, row_length, in_row_stride,
               out_row_stride, indices_row_stride, split_elements, scale, splits, k, content,
               index_bytes)

enum TopKContent : int32_t {
  kTopKProbabilities = 0,
  kTopKLogProbabilities = 1,
  kTopKElements = 2,  // without a softmax
};

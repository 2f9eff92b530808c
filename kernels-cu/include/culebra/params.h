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

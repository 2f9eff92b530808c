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

// The same for rows of which only some elements count.
struct MaskedSoftmaxParams {
  void* out;  // may be `in` itself with the same row stride; any other overlap is undefined
  const void* in;
  int64_t rows;
  int64_t row_length;  // below 2^31
  int64_t out_row_stride;
  int64_t in_row_stride;
  double scale;            // as in SoftmaxParams
  const int32_t* lengths;  // null, or for each row how many of its elements count: below 0 is 0,
                           // and above row_length is row_length; the others are masked
  const uint8_t* mask;     // null, or for each element 0 where it is masked: as if it were -inf
  // The mask's row for row r begins at r % inner_rows * inner_stride
  // + r / inner_rows % middle_rows * middle_stride + r / inner_rows / middle_rows * outer_stride.
  int64_t mask_inner_rows;
  int64_t mask_inner_stride;
  int64_t mask_middle_rows;
  int64_t mask_middle_stride;
  int64_t mask_outer_stride;
  uint32_t log;            // 1: the logarithm
  uint32_t empty_is_zero;  // 1: a row of nothing but masked elements gives 0 (log: -inf), not NaN
};
CULEBRA_STRUCT(MaskedSoftmaxParams, out, in, rows, row_length, out_row_stride, in_row_stride, scale,
               lengths, mask, mask_inner_rows, mask_inner_stride, mask_middle_rows,
               mask_middle_stride, mask_outer_stride, log, empty_is_zero)

// Rows done in pieces of `piece_length` elements, a multiple of 16 bytes' worth; the last one of a
// row may be shorter. A state is two numbers of the accumulator's type: the largest element of a
// piece, after multiplication by the scale's sign, and the sum of the weights relative to it.
struct SoftmaxPieces {
  void* states;  // a row's side by side
  int64_t pieces;
  int64_t piece_length;
  int64_t row_states;  // that a row has when it is finished: `pieces`, or 1 if they were merged
};
CULEBRA_STRUCT(SoftmaxPieces, states, pieces, piece_length, row_states)

// out[r] = the state of row r, of which `row_states` are there. Strides count states.
struct SoftmaxMergeParams {
  void* out;
  const void* states;
  int64_t rows;
  int64_t row_states;
  int64_t row_stride;    // from a row's first state to the next row's
  int64_t state_stride;  // from a row's state to its next one
  double scale;          // as in SoftmaxParams; 1 for states of sums
};
CULEBRA_STRUCT(SoftmaxMergeParams, out, states, rows, row_states, row_stride, state_stride, scale)

// What is added to the logits of MaskedSoftmaxParams: out = softmax over i of scale * in + addend.
struct SoftmaxAddends {
  const void* addends;        // of the input's type, or f32; -inf masks
  uint32_t addends_are_f32;   // 1: f32
  int64_t addend_inner_rows;  // where the addends' row for row r begins: as of the mask
  int64_t addend_inner_stride;
  int64_t addend_middle_rows;
  int64_t addend_middle_stride;
  int64_t addend_outer_stride;
};
CULEBRA_STRUCT(SoftmaxAddends, addends, addends_are_f32, addend_inner_rows, addend_inner_stride,
               addend_middle_rows, addend_middle_stride, addend_outer_stride)

// The gradient of a softmax or its logarithm: from its result y and the result's gradient dy that
// of its input,
//
//   dx[r, i] = scale * y[r, i] * (dy[r, i] - sum over j of y[r, j] * dy[r, j])
//   log: dx[r, i] = scale * (dy[r, i] - exp(y[r, i]) * sum over j of dy[r, j])
//
// An element of y that is 0 (log: -inf), as of a masked one, takes no part: its dy is not looked
// at, its dx is 0.
struct SoftmaxBackwardParams {
  void* dx;  // may be `y` or `dy` itself with the same row stride; any other overlap is undefined
  const void* y;
  const void* dy;
  int64_t rows;
  int64_t row_length;  // below 2^31
  int64_t dx_row_stride;
  int64_t y_row_stride;
  int64_t dy_row_stride;
  double scale;  // that of the softmax, as in SoftmaxParams
  uint32_t log;  // 1: y is the logarithm
};
CULEBRA_STRUCT(SoftmaxBackwardParams, dx, y, dy, rows, row_length, dx_row_stride, y_row_stride,
               dy_row_stride, scale, log)

// Rows of it done in pieces, cut as those of SoftmaxPieces.
struct SoftmaxBackwardPieces {
  void* sums;  // rows * pieces numbers of the accumulator's type, a row's side by side
  int64_t pieces;
  int64_t piece_length;
};
CULEBRA_STRUCT(SoftmaxBackwardPieces, sums, pieces, piece_length)

// out[r, p] = (reduction over the elements i of in[r, i] in piece p) / divisor
struct ReduceParams {
  void* out;  // rows x pieces results or states, side by side
  const void* in;
  int64_t rows;
  int64_t row_length;
  int64_t in_row_stride;
  int64_t piece_length;  // of a row's pieces; the last one may be shorter
  int64_t pieces;        // of a row
  double divisor;  // of a sum: 1, or the number of elements for a mean; others do not look at it
};
CULEBRA_STRUCT(ReduceParams, out, in, rows, row_length, in_row_stride, piece_length, pieces,
               divisor)

// out[o, c] = (reduction over i of in[o, i, c]) / divisor: of `outer` matrices their columns
struct ReduceColumnsParams {
  void* out;  // outer x columns results, or outer x columns x pieces states
  const void* in;
  int64_t outer;
  int64_t length;   // rows of a matrix
  int64_t columns;  // of a matrix; elements of a row lie side by side
  int64_t in_outer_stride;
  int64_t in_row_stride;
  int64_t piece_length;  // rows of a piece; the last one of a column may be shorter
  int64_t pieces;        // of a column
  double divisor;        // as of ReduceParams; of results
  int32_t to_states;     // 1: states are written; 0: results, of a single piece
};
CULEBRA_STRUCT(ReduceColumnsParams, out, in, outer, length, columns, in_outer_stride, in_row_stride,
               piece_length, pieces, divisor, to_states)

// A piece of a segment that is too long for a few lanes.
struct ReduceSegmentPiece {
  int64_t segment;  // from 1; 0 is no piece
  int64_t first;    // number of the segment's first piece in the list
};

// out[s] = reduction over the elements in[offsets[s]], ..., in[offsets[s + 1] - 1]. Offsets below 0
// count as 0, beyond `elements` as that, and where the second is below the first there are none.
struct ReduceSegmentsParams {
  void* out;
  const void* in;
  const void* offsets;  // segments + 1 of them
  int64_t segments;
  int64_t elements;  // of `in`
  int64_t longest;   // of the segments that the first launch reduces; it lists the pieces of others
  int64_t piece_length;  // a multiple of 16 bytes of elements
  int64_t piece_limit;   // of the list; a segment whose pieces do not fit is not cut
  void* piece_count;     // a u64 that is 0 before the first launch
  void* pieces;          // piece_limit times ReduceSegmentPiece, 0 before the first launch
  void* states;          // piece_limit of them
  int32_t offset_bytes;  // 4 or 8
  int32_t mean;          // 1: divides by a segment's length
};
CULEBRA_STRUCT(ReduceSegmentsParams, out, in, offsets, segments, elements, longest, piece_length,
               piece_limit, piece_count, pieces, states, offset_bytes, mean)

// What a top-k gives beside the indices.
enum TopKContent : int32_t {
  kTopKProbabilities = 0,
  kTopKLogProbabilities = 1,
  kTopKElements = 2,  // without a softmax
};

// The K largest of each row (of a negative scale: the smallest), sorted, and their places.
struct TopKParams {
  void* out;      // rows x k: what `content` says, of the input's type
  void* indices;  // rows x k: i32 or i64
  const void* in;
  int64_t rows;
  int64_t row_length;  // at most 2^31 - 1
  int64_t in_row_stride;
  int64_t out_row_stride;
  int64_t indices_row_stride;
  double scale;         // as of SoftmaxParams
  int32_t k;            // 1 to row_length, at most what the launch table says
  int32_t content;      // TopKContent
  int32_t index_bytes;  // 4 or 8
};
CULEBRA_STRUCT(TopKParams, out, indices, in, rows, row_length, in_row_stride, out_row_stride,
               indices_row_stride, scale, k, content, index_bytes)

// The first of two launches where rows are cut into pieces: what a merge needs to know of each.
struct TopKPiecesParams {
  void* keys;    // rows x pieces x k u64: the piece's best, sorted; 0 where it has fewer elements
  void* states;  // rows x pieces pairs of f32: (m, d)
  const void* in;
  int64_t rows;
  int64_t row_length;
  int64_t in_row_stride;
  int64_t piece_elements;  // a multiple of 16 bytes of them; a row's last piece may be shorter
  double scale;
  int32_t pieces;  // a row
  int32_t k;
  int32_t content;
};
CULEBRA_STRUCT(TopKPiecesParams, keys, states, in, rows, row_length, in_row_stride, piece_elements,
               scale, pieces, k, content)

// The second: as TopKParams, with the rows already read.
struct TopKMergeParams {
  void* out;
  void* indices;
  const void* keys;
  const void* states;
  const void* in;  // for kTopKElements
  int64_t rows;
  int64_t in_row_stride;
  int64_t out_row_stride;
  int64_t indices_row_stride;
  double scale;
  int32_t pieces;
  int32_t k;
  int32_t content;
  int32_t index_bytes;
};
CULEBRA_STRUCT(TopKMergeParams, out, indices, keys, states, in, rows, in_row_stride, out_row_stride,
               indices_row_stride, scale, pieces, k, content, index_bytes)

// One token a row of logits, drawn from softmax(logits / temperature) as filters leave it. A row's
// parameter is the array's, where there is one.
struct SamplingParams {
  void* tokens;          // rows i32 or i64, side by side
  float* probabilities;  // null, or that of each token
  const void* in;
  int64_t rows;
  int64_t row_length;  // 1 to 2^31 - 1
  int64_t in_row_stride;
  const float* temperatures;  // null, or rows of them; so the others
  const int32_t* top_ks;
  const float* top_ps;
  const float* min_ps;
  const int64_t* seeds;  // where there are some, a row's number has no part in its draw
  const int64_t* offsets;
  double temperature;   // 0: the largest logit
  double top_p;         // 1 or more: all
  double min_p;         // 0 or less: all; 1 or more: those equal to the largest
  int64_t seed;         // all 64 bits count
  int64_t offset;       // likewise
  int64_t first_row;    // the number that the first row has in its draw
  int32_t top_k;        // 0 or less: all
  int32_t token_bytes;  // 4 or 8
};
CULEBRA_STRUCT(SamplingParams, tokens, probabilities, in, rows, row_length, in_row_stride,
               temperatures, top_ks, top_ps, min_ps, seeds, offsets, temperature, top_p, min_p,
               seed, offset, first_row, top_k, token_bytes)

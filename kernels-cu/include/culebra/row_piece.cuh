// Rows cut into pieces: for rows that do not fit on chip, and for few long rows, on which many
// blocks work together.
#pragma once

#include "culebra/platform.cuh"

namespace culebra {

// Piece `number` of all rows, a row's pieces side by side.
struct RowPiece {
  int64_t row;
  int64_t first;  // element of the row
  int64_t end;

  // Rows of row_length elements, `pieces` of them each, of piece_length elements but for the last.
  __device__ __forceinline__ RowPiece(int64_t row_length, int64_t pieces, int64_t piece_length,
                                      int64_t number)
      : row(number / pieces),
        first((number - row * pieces) * piece_length),
        end(first + piece_length < row_length ? first + piece_length : row_length) {}

  // Calls visit(first, count) for each part of the piece of at most `most` elements.
  template <class Visit>
  __device__ __forceinline__ void for_each_part(int most, Visit visit) const {
    for (int64_t start = first; start < end; start += most) {
      visit(start, end - start < most ? static_cast<int>(end - start) : most);
    }
  }
};

}  // namespace culebra

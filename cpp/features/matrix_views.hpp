/// Matrices as callers hold them; nothing is copied.
#pragma once

#include <cstdint>

namespace ramify {

/// A dense matrix of any layout; strides count elements.
template <class Number>
struct MatrixView {
  const Number* data;
  std::int64_t n_rows, n_columns, row_stride, column_stride;

  Number operator()(std::int64_t row, std::int64_t column) const {
    return data[row * row_stride + column * column_stride];
  }
};

/// A compressed sparse matrix: columns of a CSC or rows of a CSR matrix; indices ascending.
template <class Number, class Index>
struct CompressedView {
  const Number* data;
  const Index* indices;
  const Index* offsets;
  std::int64_t n_slices;  ///< columns of a CSC, rows of a CSR
  std::int64_t length;    ///< rows of a CSC, columns of a CSR
};

}  // namespace ramify

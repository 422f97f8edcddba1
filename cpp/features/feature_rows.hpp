/// Rows to send through trees, whatever holds their values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "features/feature_table.hpp"
#include "features/matrix_views.hpp"

namespace ramify {

/// Gives blocks of rows as dense doubles. The block's memory starts as zeros and is handed back as zeros.
class FeatureRows {
 public:
  virtual ~FeatureRows() = default;
  virtual std::int64_t n_rows() const = 0;
  virtual std::int64_t n_features() const = 0;

  /// Write rows [first, last) to `block`, row-major.
  virtual void load(std::int64_t first, std::int64_t last, double* block) const = 0;

  /// Put zeros where `load` wrote.
  virtual void unload(std::int64_t first, std::int64_t last, double* block) const = 0;

  /// Rows per block: about a megabyte, at most 64.
  std::int64_t rows_per_block() const {
    return std::max<std::int64_t>(1, std::min<std::int64_t>(64, (1 << 17) / std::max<std::int64_t>(1, n_features())));
  }
};

template <class Number>
std::unique_ptr<FeatureRows> dense_rows(MatrixView<Number> X);

/// Rows of a CSR matrix; indices must lie in the matrix, which is checked here once.
template <class Number, class Index>
std::unique_ptr<FeatureRows> compressed_rows(CompressedView<Number, Index> X);

std::unique_ptr<FeatureRows> table_rows(const FeatureTable& table);

}  // namespace ramify

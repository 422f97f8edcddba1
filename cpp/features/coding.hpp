/// From matrices to tables of rank codes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_table.hpp"
#include "features/matrix_views.hpp"

namespace ramify {

/// Code a dense matrix. `n_categories[f]` is 0 for a numeric feature, else the number of
/// categories (codes 0 .. k - 1 in the cells). NaN is missing. `max_bins` > 0 bins numeric features
/// with more distinct values by quantiles; 0 keeps every distinct value.
template <class Number>
FeatureTable code_dense(MatrixView<Number> X, const std::vector<std::int32_t>& n_categories, std::int32_t max_bins,
                        int n_threads, const Poll& poll);

/// Code the columns of a CSC matrix; absent cells are zeros and stay absent.
template <class Number, class Index>
FeatureTable code_sparse(CompressedView<Number, Index> X, const std::vector<std::int32_t>& n_categories,
                         std::int32_t max_bins, int n_threads, const Poll& poll);

/// How values become codes. Numeric: the number of edges below a value, so that bin b holds values up to edges[b].
/// Nominal: the value is its code.
struct ColumnCuts {
  std::int32_t n_categories = 0;  ///< 0 for a numeric feature
  std::vector<double> edges;      ///< numeric only, ascending

  std::int32_t n_codes() const { return n_categories > 0 ? n_categories : static_cast<std::int32_t>(edges.size()) + 1; }
};

/// Edges of the bins that `code_dense` would make of these rows; a column with at most `max_bins` distinct values has
/// an edge at each but the last.
std::vector<std::vector<double>> find_edges(MatrixView<double> X, std::int32_t max_bins, int n_threads,
                                            const Poll& poll);

/// Codes of rows, by column: column f begins at f * n_rows. `lower` and `upper`, per column the smallest and largest
/// value of each code so far, are widened.
std::vector<std::uint16_t> code_rows(MatrixView<double> X, const std::vector<ColumnCuts>& cuts,
                                     const std::vector<double*>& lower, const std::vector<double*>& upper,
                                     int n_threads, const Poll& poll);

/// A dense column whose codes something else holds, with everything that is counted of them; refuses codes above
/// `n_codes`.
std::shared_ptr<const Column> column_of_codes(std::shared_ptr<const std::uint8_t> codes, int width, std::int64_t n_rows,
                                              const ColumnCuts& cuts, std::vector<double> lower,
                                              std::vector<double> upper);

}  // namespace ramify

/// From matrices to tables of rank codes.
#pragma once

#include <cstdint>
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

}  // namespace ramify

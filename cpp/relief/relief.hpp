/// How features differ, and sums of their differences over pairs of examples: with the nearest neighbours
/// (relief/relief_neighbors.hpp) the two halves of every algorithm of the Relief family.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/parallel.hpp"

namespace ramify {

/// How the values of one feature differ. Differences are between 0 and 1.
///
/// Numeric: |a - b| / range, 0 where the range is 0; one value missing: max(t, 1 - t) with t the other's place in the
/// range; both missing: 1. Nominal: 0 or 1, or what a table says; one or both missing: 1 - 1 / n_values.
struct FeatureScale {
  bool nominal = false;
  double low = 0;           ///< smallest value
  double range = 0;         ///< largest less smallest value
  double n_values = 1;      ///< nominal: number of values
  std::int32_t table = -1;  ///< nominal: number of the table of differences of its values, or -1
};

/// Which differences are taken and how they are summed into a distance.
struct Differences {
  std::vector<FeatureScale> scales;  ///< one per feature
  double equal_below = 0;            ///< ramp: known numeric differences up to this are 0 ...
  double different_above = 0;        ///< ... and from this on 1; no ramp where it is 0
  bool squared = false;              ///< sum weight * difference^2 instead of difference
  std::vector<double> weights;       ///< one per feature where squared

  /// Differences of the values 0 .. n - 1 of a nominal feature, row by row.
  struct Table {
    std::int64_t n;
    std::vector<double> values;
  };
  std::vector<Table> tables;

  /// Difference of two values of a feature; NaN is missing.
  double between(std::int64_t feature, double a, double b) const {
    const FeatureScale& scale = scales[static_cast<std::size_t>(feature)];
    if (!scale.nominal && different_above <= 0) {
      const double share = std::fabs(a - b) / scale.range;
      if (share < std::numeric_limits<double>::infinity()) return share;
    }
    return between_any(scale, a, b);
  }

  /// What the two values add to the distance.
  double term(std::int64_t feature, double a, double b) const {
    const double difference = between(feature, a, b);
    return squared ? weights[static_cast<std::size_t>(feature)] * (difference * difference) : difference;
  }

 private:
  /// The same for nominal, missing and constant features and for the ramp.
  double between_any(const FeatureScale& scale, double a, double b) const;
};

/// Row-major matrix.
struct DenseRows {
  const double* values;
  std::int64_t n_rows, n_features;
};

/// CSR and CSC arrays of one matrix; absent cells are 0, indices ascend.
struct SparseMatrix {
  std::int64_t n_rows, n_features;
  const double* row_values;
  const std::int32_t* row_features;
  const std::int64_t* row_offsets;
  const double* column_values;
  const std::int32_t* column_rows;
  const std::int64_t* column_offsets;
};

/// Pairs of rows, each with a sparse row of coefficients.
struct WeightedPairs {
  const std::int64_t* first;
  const std::int64_t* second;
  std::int64_t n_pairs;
  const std::int64_t* offsets;  ///< n_pairs + 1, into columns and coefficients
  const std::int32_t* columns;
  const double* coefficients;
  std::int64_t n_columns;
};

/// Per feature and column, the sum over pairs of coefficient * difference of the pair: n_features x n_columns.
std::vector<double> difference_sums_dense(const DenseRows& X, const Differences& differences,
                                          const WeightedPairs& pairs, int n_threads, const Poll& poll);
std::vector<double> difference_sums_sparse(const SparseMatrix& X, const Differences& differences,
                                           const WeightedPairs& pairs, int n_threads, const Poll& poll);

}  // namespace ramify

#include "relief/row_differences.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace ramify {

RowDifferences::RowDifferences(const Differences& differences, const std::vector<DenseRows>& matrices)
    : differences_(differences) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::size_t n_features = differences.scales.size();
  std::vector<char> has_missing(n_features, 0), has_fraction(n_features, 0);
  for (const DenseRows& matrix : matrices) {
    for (std::int64_t row = 0; row < matrix.n_rows; ++row) {
      const double* const values = matrix.values + row * matrix.n_features;
      for (std::size_t f = 0; f < n_features; ++f) {
        has_missing[f] |= values[f] != values[f];
        if (differences.scales[f].nominal) has_fraction[f] |= values[f] != std::floor(values[f]);
      }
    }
  }
  for (std::size_t f = 0; f < n_features; ++f) {
    const FeatureScale& scale = differences.scales[f];
    divisors_.push_back(scale.nominal ? 1.0 : scale.range > 0 ? scale.range : infinity);
    limits_.push_back(scale.nominal ? 1.0 : infinity);
    again_.push_back(scale.nominal ? has_missing[f] || has_fraction[f] || scale.table >= 0
                                   : differences.different_above > 0);
    any_missing_ = any_missing_ || has_missing[f];
    one_by_one_ = one_by_one_ || again_.back() || has_missing[f];
  }
}

void RowDifferences::compute_again(const double* a, const double* b, std::int64_t first, std::int64_t last,
                                   double* out) const {
  for (std::int64_t f = first; f < last; ++f, ++out) {
    if (*out != *out || again_[static_cast<std::size_t>(f)]) *out = differences_.between(f, a[f], b[f]);
  }
}

void RowDifferences::distances(const double* query, const DenseRows& rows, const std::int64_t* ids, std::int64_t n,
                               double* out) const {
  constexpr std::int64_t rows_at_once = 4, features_at_once = 16;
  double terms[rows_at_once][features_at_once];
  for (std::int64_t begin = 0; begin < n; begin += rows_at_once) {
    const std::int64_t n_rows = std::min(rows_at_once, n - begin);
    double sums[rows_at_once] = {0, 0, 0, 0};
    for (std::int64_t first = 0; first < rows.n_features; first += features_at_once) {
      const std::int64_t last = std::min(rows.n_features, first + features_at_once);
      for (std::int64_t r = 0; r < n_rows; ++r) {
        between(query, rows.values + ids[begin + r] * rows.n_features, first, last, terms[r]);
        if (!differences_.squared) continue;
        for (std::int64_t f = first; f < last; ++f) {
          double& term = terms[r][f - first];
          term = differences_.weights[static_cast<std::size_t>(f)] * (term * term);
        }
      }
      // Four sums side by side hide the time that each addition takes; the terms of missing rows are not used.
      for (std::int64_t k = 0; k < last - first; ++k) {
        for (std::int64_t r = 0; r < rows_at_once; ++r) sums[r] += r < n_rows ? terms[r][k] : 0.0;
      }
    }
    std::copy(sums, sums + n_rows, out + begin);
  }
}

}  // namespace ramify

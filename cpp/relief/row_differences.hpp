/// Exact differences of two dense rows, feature by feature, several features at once.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "relief/relief.hpp"

namespace ramify {

/// Numbers are |a - b| / range whatever the feature, so they are computed four at a time; where that gives no number
/// one of the two is missing, and such differences are computed again. Categories are whole numbers, so theirs are the
/// smaller of |a - b| and 1. What does not fit this is computed one by one. The values are those of
/// `Differences::between`, bit by bit.
class RowDifferences {
 public:
  /// For rows of these matrices.
  RowDifferences(const Differences& differences, const std::vector<DenseRows>& matrices);

  /// Differences of features [first, last) of two rows; `out` has one place per feature of the range.
  void between(const double* a, const double* b, std::int64_t first, std::int64_t last, double* out) const {
    const double* const divisor = divisors_.data();
    const double* const limit = limits_.data();
    std::int64_t f = first;
    double* at = out;
    for (; f + 4 <= last; f += 4, at += 4) {
      for (int k = 0; k < 4; ++k) at[k] = lesser(limit[f + k], std::fabs(a[f + k] - b[f + k]) / divisor[f + k]);
    }
    for (; f < last; ++f, ++at) *at = lesser(limit[f], std::fabs(a[f] - b[f]) / divisor[f]);
    if (one_by_one_) compute_again(a, b, first, last, out);
  }

  bool any_missing() const { return any_missing_; }

  /// Sum of the terms over all features in their order, for several rows at once.
  void distances(const double* query, const DenseRows& rows, const std::int64_t* ids, std::int64_t n,
                 double* out) const;

 private:
  /// The second where it is no number.
  static double lesser(double limit, double difference) { return limit < difference ? limit : difference; }

  void compute_again(const double* a, const double* b, std::int64_t first, std::int64_t last, double* out) const;

  const Differences& differences_;
  std::vector<double> divisors_, limits_;
  bool one_by_one_ = false;  ///< whether any difference may have to be computed again
  bool any_missing_ = false;
  std::vector<char> again_;  ///< per feature: always
};

}  // namespace ramify

/// Nominal features of a sparse matrix that are absent or have one value, as bits: 64 of them are compared at once.
#pragma once

#include <cstdint>
#include <vector>

#include "relief/relief.hpp"

namespace ramify {

/// The features that are worth it: those that at least one row of 32 has. So the bits take no more memory than the
/// values.
class BinaryFeatures {
 public:
  BinaryFeatures(const SparseMatrix& X, const Differences& differences);

  const std::vector<std::int32_t>& features() const { return features_; }
  bool has(std::int64_t feature) const { return place_of_[static_cast<std::size_t>(feature)] >= 0; }

  std::int64_t n_words() const { return n_words_; }
  const std::uint64_t* row(std::int64_t row) const { return bits_.data() + row * n_words_; }

  /// Set the bits of one row of another matrix, and return whether each of its values is the one that bits stand for.
  bool set_bits(const SparseMatrix& queries, std::int64_t query, std::uint64_t* bits) const;
  bool is_the_value(std::int64_t feature, double value) const {
    return value == value_of_[static_cast<std::size_t>(place_of_[static_cast<std::size_t>(feature)])];
  }

  /// Number of features in which each row differs from each of the queries, added to `distances`.
  void add_differences(const std::vector<std::uint64_t>* queries, int n_queries, std::vector<double>* distances) const;

 private:
  std::int64_t n_rows_, n_words_ = 0;
  std::vector<std::int32_t> features_;  ///< ascending
  std::vector<std::int32_t> place_of_;  ///< of each feature among them, or -1
  std::vector<double> value_of_;        ///< per place
  std::vector<std::uint64_t> bits_;
};

}  // namespace ramify

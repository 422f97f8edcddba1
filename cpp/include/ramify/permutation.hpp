/// The Random Forest score: how much worse out-of-bag predictions become when a feature is permuted.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ramify/forest.hpp"
#include "ramify/importances.hpp"

namespace ramify {

/// Where one tree's out-of-bag rows go, as they are and with one feature permuted among them.
class OutOfBagPaths {
 public:
  OutOfBagPaths(const Tree& tree, const FeatureTable& table, const Examples& examples);

  const std::vector<std::uint32_t>& rows() const { return rows_; }
  const std::vector<std::int32_t>& leaves() const { return leaves_; }      ///< node id per out-of-bag row
  const std::vector<std::int32_t>& features() const { return features_; }  ///< tested on some row's path, ascending

  /// Call `changed(i, leaf)` for every out-of-bag row i that reaches another leaf when feature number k of `features()`
  /// is permuted. Only rows whose own path tests the feature are sent again.
  void permute(std::size_t k, const std::function<void(std::size_t, std::int32_t)>& changed) const;

 private:
  const Tree& tree_;
  const FeatureTable& table_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::int32_t> leaves_;
  std::vector<std::int32_t> features_;
  std::vector<std::int64_t> offsets_;     ///< of each feature into tested_by_
  std::vector<std::uint32_t> tested_by_;  ///< out-of-bag rows whose path tests the feature
};

/// Positives and negatives at each distinct score, best score first.
struct ScoreCounts {
  std::vector<std::int64_t> positives, negatives;
};

/// Area under the precision-recall curve with the interpolation of Davis and Goadrich (2006); 0 without positives.
double interpolated_area(const ScoreCounts& counts);

enum class LabelError { auprc, misclassification };

/// Mean over trees of (err permuted - err) / err on out-of-bag rows; a tree without error adds 0.
std::vector<double> permutation_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                                       LabelError error, const Examples& examples, int n_threads, const Poll& poll);

/// Mean over trees of the increase of each label's Brier score.
ScoreMatrix permutation_brier(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                              const Examples& examples, int n_threads, const Poll& poll);

/// As permutation_labels with the weighted mean squared error.
std::vector<double> permutation_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                                        const Examples& examples, int n_threads, const Poll& poll);

}  // namespace ramify

/// The Random Forest score: how much worse out-of-bag predictions become when a feature is permuted.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_table.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "scores/importances.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// Positives and negatives at each distinct score, best score first.
struct ScoreCounts {
  std::vector<std::int64_t> positives, negatives;
};

/// Area under the precision-recall curve with the interpolation of Davis and Goadrich (2006); 0 without positives.
double interpolated_area(const ScoreCounts& counts);

enum class LabelError { auprc, brier, hamming, misclassification };

struct LabelIncreases {
  std::vector<double>
      scores;             ///< per feature: mean over trees of (err permuted - err) / err; a tree without error adds 0
  ScoreMatrix per_label;  ///< mean over trees of the increase of each label's Brier score, or each number's squared
                          ///< error; empty unless asked for
};

/// What permuting a feature does to the error of label sets or classes on out-of-bag rows.
LabelIncreases permutation_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                                  LabelError error, bool per_label, const Examples& examples, int n_threads,
                                  const Poll& poll);

/// The same by the weighted mean squared error of numbers; per target the weights play no part.
LabelIncreases permutation_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                                   bool per_target, const Examples& examples, int n_threads, const Poll& poll);

}  // namespace ramify

/// Which features decide which pair of labels.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "features/feature_table.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "rankings/rank_criteria.hpp"

namespace ramify {

/// The Random Forest score of rankings.
struct RankingIncreases {
  std::vector<double> scores;       ///< per feature: mean over trees of (err permuted - err) / err, err = 1 - tau-b
  std::vector<double> pair_scores;  ///< n_features x n_pairs: mean over trees of the increase of the Brier score
};
RankingIncreases permutation_rankings(const Forest& forest, const FeatureTable& table, const RankingRows& target,
                                      const Examples& examples, int n_threads, const Poll& poll);

}  // namespace ramify

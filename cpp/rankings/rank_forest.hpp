/// Forests of rankings: growing them, and what their leaves predict.
///
/// Such a forest is one of numbers, the mean sign of each label pair, so that all else that reads forests serves it.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_rows.hpp"
#include "forest/forest.hpp"
#include "forest/growing.hpp"
#include "rankings/rank_criteria.hpp"

namespace ramify {

enum class RankCriterion { correlation, entropy, mallows };

/// The number of pairs of labels; there must be two labels.
std::int64_t n_pairs_of(std::int64_t n_labels);

/// Grow trees for rankings. A node's decrease is, for every criterion, that of the mean variance of the pairs' signs.
Forest grow_rankings(const FeatureTable& table, const RankingRows& target, RankCriterion criterion, double gamma,
                     const Examples& examples, const GrowParams& params, const Poll& poll);

/// Ranks of the labels by the mean signs of their pairs (the average ranking); tied labels share their mean rank.
class LabelRanker {
 public:
  explicit LabelRanker(std::int64_t n_labels);
  void rank(const double* pair_means, double* ranks);

 private:
  std::int64_t n_labels_;
  std::vector<double> wins_;
};

/// The ranking of each leaf of a tree, n_leaves x n_labels.
std::vector<double> leaf_rankings(const Tree& tree, std::int64_t n_labels);

/// Sum over trees of the rankings of the leaves that a row reaches (n_rows x n_labels), or of the signs of the label
/// pairs in them (n_rows x n_pairs). With `examples`, over the trees whose bag lacks the row; `n_trees` counts the
/// trees.
struct SummedRankings {
  std::vector<double> sums;
  std::vector<std::int64_t> n_trees;
};
SummedRankings sum_rankings(const Forest& forest, std::int64_t n_labels, const FeatureRows& rows,
                            const Examples* examples, bool as_signs, int n_threads, const Poll& poll);

}  // namespace ramify

#include "rankings/rank_permutation.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "rankings/rank_forest.hpp"
#include "scores/out_of_bag_paths.hpp"

namespace ramify {

namespace {

/// Errors of one tree's leaves on rows.
class LeafErrors {
 public:
  LeafErrors(const Tree& tree, const RankingRows& target)
      : tree_(tree), target_(target), pair_sums_(static_cast<std::size_t>(target.n_pairs)) {
    const std::vector<double> rankings = leaf_rankings(tree, target.n_labels);
    for (std::size_t start = 0; start < rankings.size(); start += static_cast<std::size_t>(target.n_labels)) {
      for (std::int64_t a = 0; a < target.n_labels; ++a) {
        for (std::int64_t b = a + 1; b < target.n_labels; ++b) {
          const double lead =
              rankings[start + static_cast<std::size_t>(b)] - rankings[start + static_cast<std::size_t>(a)];
          signs_.push_back(static_cast<std::int8_t>((lead > 0) - (lead < 0)));
        }
      }
    }
  }

  /// 1 - tau-b over the pairs that the row compares; 1 where the leaf orders none, 0 where the row orders none.
  double error(std::uint32_t row, std::int32_t node) const {
    const std::int64_t at = static_cast<std::int64_t>(row) * target_.n_pairs;
    const std::int8_t* leaf = signs_.data() + leaf_of(node) * target_.n_pairs;
    std::int64_t agreement = 0, n_row = 0, n_leaf = 0;
    for (std::int64_t p = 0; p < target_.n_pairs; ++p) {
      if (target_.compared != nullptr && !target_.compared[at + p]) continue;
      agreement += target_.signs[at + p] * leaf[p];
      n_row += target_.signs[at + p] != 0;
      n_leaf += leaf[p] != 0;
    }
    if (n_row == 0) return 0.0;
    if (n_leaf == 0) return 1.0;
    return 1.0 - static_cast<double>(agreement) / std::sqrt(static_cast<double>(n_row) * static_cast<double>(n_leaf));
  }

  void clear_pairs() { std::fill(pair_sums_.begin(), pair_sums_.end(), 0.0); }

  /// Add the row's squared errors of the pairs' probabilities.
  void add_pairs(std::uint32_t row, std::int32_t node, double sign) {
    const std::int64_t at = static_cast<std::int64_t>(row) * target_.n_pairs;
    const double* means = tree_.leaf_values.data() + leaf_of(node) * target_.n_pairs;
    for (std::int64_t p = 0; p < target_.n_pairs; ++p) {
      if (target_.compared != nullptr && !target_.compared[at + p]) continue;
      const double off = (means[p] - target_.signs[at + p]) / 2;
      pair_sums_[static_cast<std::size_t>(p)] += sign * off * off;
    }
  }

  const std::vector<double>& pair_sums() const { return pair_sums_; }

 private:
  std::int64_t leaf_of(std::int32_t node) const { return tree_.child[static_cast<std::size_t>(node)]; }

  const Tree& tree_;
  const RankingRows& target_;
  std::vector<std::int8_t> signs_;  ///< per leaf and pair
  std::vector<double> pair_sums_;
};

/// What permuting one feature does to one tree.
struct Increase {
  std::int32_t feature;
  double relative;
  std::vector<double> pairs;
};

std::vector<Increase> increases_of_tree(const Tree& tree, const FeatureTable& table, const RankingRows& target,
                                        const Examples& examples, const Control& control) {
  const OutOfBagPaths paths(tree, table, examples, control);
  LeafErrors errors(tree, target);
  const auto n_rows = static_cast<double>(paths.rows().size());
  double before = 0;
  for (std::size_t i = 0; i < paths.rows().size(); ++i) before += errors.error(paths.rows()[i], paths.leaves()[i]);
  std::vector<Increase> increases;
  for (std::size_t k = 0; k < paths.features().size(); ++k) {
    control.check();
    double change = 0;
    errors.clear_pairs();
    paths.permute(k, [&](std::size_t i, std::int32_t leaf) {
      change += errors.error(paths.rows()[i], leaf) - errors.error(paths.rows()[i], paths.leaves()[i]);
      errors.add_pairs(paths.rows()[i], leaf, 1.0);
      errors.add_pairs(paths.rows()[i], paths.leaves()[i], -1.0);
    });
    increases.push_back({paths.features()[k], before > 0 ? change / before : 0.0, errors.pair_sums()});
    for (double& sum : increases.back().pairs) sum /= n_rows;
  }
  return increases;
}

}  // namespace

RankingIncreases permutation_rankings(const Forest& forest, const FeatureTable& table, const RankingRows& target,
                                      const Examples& examples, int n_threads, const Poll& poll) {
  if (forest.outcome != Outcome::numbers || forest.n_outputs != target.n_pairs)
    throw std::invalid_argument("The forest was grown for another kind of target.");
  if (table.n_categories() != forest.n_categories)
    throw std::invalid_argument("The forest was grown on other features.");
  if (table.n_rows() != target.n_rows)
    throw std::invalid_argument("Features and targets must have the same number of rows.");
  constexpr std::int64_t trees_at_once = 16;  // bounds the memory; sums still run over trees in order
  const auto n_pairs = static_cast<std::size_t>(target.n_pairs);
  const double share = 1 / static_cast<double>(std::max<std::int64_t>(1, forest.n_trees()));
  RankingIncreases result;
  result.scores.assign(forest.n_categories.size(), 0.0);
  result.pair_scores.assign(forest.n_categories.size() * n_pairs, 0.0);
  for (std::int64_t first = 0; first < forest.n_trees(); first += trees_at_once) {
    const std::int64_t n = std::min(trees_at_once, forest.n_trees() - first);
    std::vector<std::vector<Increase>> of_tree(static_cast<std::size_t>(n));
    const Poll poll_all = poll ? Poll([&](std::int64_t n_done) { return poll(first + n_done); }) : Poll();
    run_tasks(
        n, n_threads,
        [&](std::int64_t t, int, const Control& control) {
          of_tree[static_cast<std::size_t>(t)] =
              increases_of_tree(*forest.trees[static_cast<std::size_t>(first + t)], table, target, examples, control);
        },
        poll_all);
    for (const std::vector<Increase>& increases : of_tree) {
      for (const Increase& increase : increases) {
        const auto feature = static_cast<std::size_t>(increase.feature);
        result.scores[feature] += share * increase.relative;
        for (std::size_t p = 0; p < n_pairs; ++p)
          result.pair_scores[feature * n_pairs + p] += share * increase.pairs[p];
      }
    }
  }
  return result;
}

}  // namespace ramify

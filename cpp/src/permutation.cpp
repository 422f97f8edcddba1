#include "ramify/permutation.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "ramify/bagging.hpp"
#include "ramify/predictor.hpp"
#include "ramify/tree_errors.hpp"

namespace ramify {

OutOfBagPaths::OutOfBagPaths(const Tree& tree, const FeatureTable& table, const Examples& examples)
    : tree_(tree), table_(table) {
  const std::vector<std::uint64_t> bag = in_bag(tree, examples, table.n_rows());
  for (const std::uint32_t row : examples.rows) {
    if (!has_bit(bag, row)) rows_.push_back(row);
  }
  std::vector<std::pair<std::int32_t, std::uint32_t>> tests;
  std::vector<std::int32_t> on_path;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    std::int32_t node = 0;
    on_path.clear();
    while (tree.feature[static_cast<std::size_t>(node)] >= 0) {
      const std::int32_t feature = tree.feature[static_cast<std::size_t>(node)];
      on_path.push_back(feature);
      node = tree.next(node, table.column(feature).value(rows_[i]));
    }
    leaves_.push_back(node);
    std::sort(on_path.begin(), on_path.end());
    on_path.erase(std::unique(on_path.begin(), on_path.end()), on_path.end());
    for (const std::int32_t feature : on_path) tests.emplace_back(feature, static_cast<std::uint32_t>(i));
  }
  std::sort(tests.begin(), tests.end());
  for (const auto& [feature, row] : tests) {
    if (features_.empty() || features_.back() != feature) {
      features_.push_back(feature);
      offsets_.push_back(static_cast<std::int64_t>(tested_by_.size()));
    }
    tested_by_.push_back(row);
  }
  offsets_.push_back(static_cast<std::int64_t>(tested_by_.size()));
}

void OutOfBagPaths::permute(std::size_t k, const std::function<void(std::size_t, std::int32_t)>& changed) const {
  const std::int32_t permuted = features_[k];
  const Column& column = table_.column(permuted);
  std::vector<std::uint32_t> partner(rows_.size());
  std::iota(partner.begin(), partner.end(), 0u);
  Random random(tree_.seed, permutation_stream + static_cast<std::uint64_t>(permuted));
  for (std::size_t i = partner.size(); i > 1; --i) std::swap(partner[i - 1], partner[random.below(i)]);
  for (std::int64_t t = offsets_[k]; t < offsets_[k + 1]; ++t) {
    const std::size_t i = tested_by_[static_cast<std::size_t>(t)];
    const double value = column.value(rows_[partner[i]]);
    std::int32_t node = 0;
    while (tree_.feature[static_cast<std::size_t>(node)] >= 0) {
      const std::int32_t feature = tree_.feature[static_cast<std::size_t>(node)];
      node = tree_.next(node, feature == permuted ? value : table_.column(feature).value(rows_[i]));
    }
    if (node != leaves_[i]) changed(i, node);
  }
}

namespace {

void check(const Forest& forest, const FeatureTable& table, Outcome outcome, std::int64_t n_rows,
           std::int64_t n_outputs) {
  if (forest.outcome != outcome || forest.n_outputs != n_outputs)
    throw std::invalid_argument("The forest was grown for another kind of target.");
  if (table.n_categories() != forest.n_categories)
    throw std::invalid_argument("The forest was grown on other features.");
  if (table.n_rows() != n_rows) throw std::invalid_argument("Features and targets must have the same number of rows.");
  if (forest.trees.empty()) throw std::invalid_argument("The forest has no tree.");
}

/// Relative increases of one kind of error, tree by tree.
template <class Error, class Data>
std::vector<double> relative_increases(const Forest& forest, const FeatureTable& table, const Data& data,
                                       const Examples& examples, int n_threads, const Poll& poll) {
  std::vector<std::vector<std::pair<std::int32_t, double>>> of_tree(forest.trees.size());
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control& control) {
        const Tree& tree = *forest.trees[static_cast<std::size_t>(t)];
        const OutOfBagPaths paths(tree, table, examples);
        Error error(forest, tree, data);
        error.begin(paths);
        const double before = error.value();
        if (paths.rows().empty() || !(before > 0)) return;
        for (std::size_t k = 0; k < paths.features().size(); ++k) {
          control.check();
          error.restart();
          bool any = false;
          paths.permute(k, [&](std::size_t i, std::int32_t leaf) {
            error.move(paths.rows()[i], paths.leaves()[i], leaf);
            any = true;
          });
          if (any)
            of_tree[static_cast<std::size_t>(t)].emplace_back(paths.features()[k], (error.value() - before) / before);
        }
      },
      poll);
  std::vector<double> scores(forest.n_categories.size(), 0.0);
  for (const auto& increases : of_tree) {
    for (const auto& [feature, increase] : increases) scores[static_cast<std::size_t>(feature)] += increase;
  }
  for (double& score : scores) score /= static_cast<double>(forest.n_trees());
  return scores;
}

using LabelScores = std::vector<std::pair<std::int32_t, double>>;  // ascending labels

/// Sums squared errors label by label over rows that change leaves.
class BrierSums {
 public:
  BrierSums(const Forest& forest, const Tree& tree, const LabelRows& labels)
      : tree_(tree),
        labels_(labels),
        truth_(static_cast<std::size_t>(forest.n_outputs), 0),
        sums_(truth_.size(), 0.0),
        known_(truth_.size(), 0) {}

  void move(std::uint32_t row, std::int32_t from, std::int32_t to) {
    for (std::int64_t p = labels_.offsets[row]; p < labels_.offsets[row + 1]; ++p)
      truth_[static_cast<std::size_t>(labels_.labels[p])] = 1;
    add_leaf(to, 1.0);
    add_leaf(from, -1.0);
    for (std::int64_t p = labels_.offsets[row]; p < labels_.offsets[row + 1]; ++p)
      truth_[static_cast<std::size_t>(labels_.labels[p])] = 0;
  }

  /// The sums since the last call, divided.
  LabelScores take(double divisor) {
    std::sort(touched_.begin(), touched_.end());
    LabelScores scores;
    for (const std::int32_t label : touched_) {
      const auto at = static_cast<std::size_t>(label);
      if (sums_[at] != 0) scores.emplace_back(label, sums_[at] / divisor);
      sums_[at] = 0;
      known_[at] = 0;
    }
    touched_.clear();
    return scores;
  }

 private:
  /// A label's error differs from that of frequency 0, which is y^2, by p^2 - 2 p y; labels outside the leaf by
  /// nothing.
  void add_leaf(std::int32_t node, double sign) {
    const auto leaf = static_cast<std::size_t>(tree_.child[static_cast<std::size_t>(node)]);
    const std::int64_t first = tree_.leaf_offsets[leaf], last = tree_.leaf_offsets[leaf + 1];
    const std::int64_t partial = tree_.leaf_partial[leaf], certain = last - (tree_.leaf_partial[leaf + 1] - partial);
    for (std::int64_t p = first; p < last; ++p) {
      const std::int32_t label = tree_.leaf_labels[static_cast<std::size_t>(p)];
      const double frequency = p < certain ? 1.0
                                           : tree_.leaf_counts[static_cast<std::size_t>(partial + p - certain)] /
                                                 tree_.weight[static_cast<std::size_t>(node)];
      const auto at = static_cast<std::size_t>(label);
      if (!known_[at]) {
        known_[at] = 1;
        touched_.push_back(label);
      }
      sums_[at] += sign * frequency * (frequency - 2.0 * truth_[at]);
    }
  }

  const Tree& tree_;
  const LabelRows& labels_;
  std::vector<std::uint8_t> truth_;
  std::vector<double> sums_;
  std::vector<char> known_;
  std::vector<std::int32_t> touched_;
};

void merge_into(LabelScores& sum, const LabelScores& more) {
  LabelScores merged;
  merged.reserve(sum.size() + more.size());
  std::size_t p = 0, q = 0;
  while (p < sum.size() || q < more.size()) {
    if (q == more.size() || (p < sum.size() && sum[p].first < more[q].first)) {
      merged.push_back(sum[p++]);
    } else if (p == sum.size() || more[q].first < sum[p].first) {
      merged.push_back(more[q++]);
    } else {
      merged.emplace_back(sum[p].first, sum[p].second + more[q].second);
      ++p;
      ++q;
    }
  }
  sum.swap(merged);
}

}  // namespace

std::vector<double> permutation_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                                       LabelError error, const Examples& examples, int n_threads, const Poll& poll) {
  check(forest, table, Outcome::labels, labels.n_rows, labels.n_labels);
  if (error == LabelError::auprc)
    return relative_increases<AuprcError>(forest, table, labels, examples, n_threads, poll);
  return relative_increases<MisclassificationError>(forest, table, labels, examples, n_threads, poll);
}

std::vector<double> permutation_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                                        const Examples& examples, int n_threads, const Poll& poll) {
  check(forest, table, Outcome::numbers, numbers.n_rows, numbers.n_targets);
  return relative_increases<SquaredError>(forest, table, numbers, examples, n_threads, poll);
}

ScoreMatrix permutation_brier(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                              const Examples& examples, int n_threads, const Poll& poll) {
  check(forest, table, Outcome::labels, labels.n_rows, labels.n_labels);
  constexpr std::int64_t trees_at_once = 16;  // bounds the memory; sums still run over trees in order
  std::vector<LabelScores> sums(forest.n_categories.size());
  for (std::int64_t first = 0; first < forest.n_trees(); first += trees_at_once) {
    const std::int64_t n = std::min(trees_at_once, forest.n_trees() - first);
    std::vector<std::vector<std::pair<std::int32_t, LabelScores>>> of_tree(static_cast<std::size_t>(n));
    const Poll poll_all = poll ? Poll([&](std::int64_t n_done) { return poll(first + n_done); }) : Poll();
    run_tasks(
        n, n_threads,
        [&](std::int64_t t, int, const Control& control) {
          const Tree& tree = *forest.trees[static_cast<std::size_t>(first + t)];
          const OutOfBagPaths paths(tree, table, examples);
          BrierSums errors(forest, tree, labels);
          for (std::size_t k = 0; k < paths.features().size(); ++k) {
            control.check();
            paths.permute(
                k, [&](std::size_t i, std::int32_t leaf) { errors.move(paths.rows()[i], paths.leaves()[i], leaf); });
            of_tree[static_cast<std::size_t>(t)].emplace_back(paths.features()[k],
                                                              errors.take(static_cast<double>(paths.rows().size())));
          }
        },
        poll_all);
    for (const auto& scores : of_tree) {
      for (const auto& [feature, of_labels] : scores) merge_into(sums[static_cast<std::size_t>(feature)], of_labels);
    }
  }
  ScoreMatrix scores;
  scores.offsets.push_back(0);
  for (const LabelScores& of_feature : sums) {
    for (const auto& [label, sum] : of_feature) {
      scores.outputs.push_back(label);
      scores.values.push_back(sum / static_cast<double>(forest.n_trees()));
    }
    scores.offsets.push_back(static_cast<std::int64_t>(scores.outputs.size()));
  }
  return scores;
}

}  // namespace ramify

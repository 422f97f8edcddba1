#include "scores/permutation.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "scores/out_of_bag_paths.hpp"
#include "scores/tree_errors.hpp"

namespace ramify {

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

using LabelScores = std::vector<std::pair<std::int32_t, double>>;  // ascending labels

/// Sums squared errors label by label over rows that change leaves.
class BrierSums {
 public:
  BrierSums(const Forest& forest, const Tree& tree, const LabelRows& labels)
      : tree_(tree),
        labels_(labels),
        truth_(static_cast<std::size_t>(forest.n_outputs), 0),
        sums_(truth_.size(), 0.0),
        noted_(truth_.size(), 0) {}

  void begin(const OutOfBagPaths& paths) {
    n_known_.assign(sums_.size(), static_cast<std::int64_t>(paths.rows().size()));
    if (!labels_.partly_known()) return;
    for (const std::uint32_t row : paths.rows()) {
      for (std::int64_t p = labels_.unknown_offsets[row]; p < labels_.unknown_offsets[row + 1]; ++p)
        --n_known_[static_cast<std::size_t>(labels_.unknown[p])];
    }
  }

  void move(std::uint32_t row, std::int32_t from, std::int32_t to) {
    for (std::int64_t p = labels_.offsets[row]; p < labels_.offsets[row + 1]; ++p)
      truth_[static_cast<std::size_t>(labels_.labels[p])] = 1;
    mark_unknown(row, unknown);
    add_leaf(to, 1.0);
    add_leaf(from, -1.0);
    mark_unknown(row, 0);
    for (std::int64_t p = labels_.offsets[row]; p < labels_.offsets[row + 1]; ++p)
      truth_[static_cast<std::size_t>(labels_.labels[p])] = 0;
  }

  /// The sums since the last call, divided by the rows of which the label is known.
  LabelScores take() {
    std::sort(touched_.begin(), touched_.end());
    LabelScores scores;
    for (const std::int32_t label : touched_) {
      const auto at = static_cast<std::size_t>(label);
      if (sums_[at] != 0) scores.emplace_back(label, sums_[at] / static_cast<double>(n_known_[at]));
      sums_[at] = 0;
      noted_[at] = 0;
    }
    touched_.clear();
    return scores;
  }

 private:
  static constexpr std::uint8_t unknown = 2;  ///< in place of a label's truth

  void mark_unknown(std::uint32_t row, std::uint8_t mark) {
    if (!labels_.partly_known()) return;
    for (std::int64_t p = labels_.unknown_offsets[row]; p < labels_.unknown_offsets[row + 1]; ++p)
      truth_[static_cast<std::size_t>(labels_.unknown[p])] = mark;
  }

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
      if (truth_[at] == unknown) continue;
      if (!noted_[at]) {
        noted_[at] = 1;
        touched_.push_back(label);
      }
      sums_[at] += sign * frequency * (frequency - 2.0 * truth_[at]);
    }
  }

  const Tree& tree_;
  const LabelRows& labels_;
  std::vector<std::uint8_t> truth_;
  std::vector<double> sums_;
  std::vector<std::int64_t> n_known_;
  std::vector<char> noted_;
  std::vector<std::int32_t> touched_;
};

/// Sums the squared errors of each target over rows that change leaves.
class SquaredSums {
 public:
  SquaredSums(const Forest& forest, const Tree& tree, const NumberRows& numbers)
      : tree_(tree), numbers_(numbers), sums_(static_cast<std::size_t>(forest.n_outputs), 0.0) {}

  void move(std::uint32_t row, std::int32_t from, std::int32_t to) {
    add_leaf(row, to, 1.0);
    add_leaf(row, from, -1.0);
  }

  void begin(const OutOfBagPaths& paths) {
    const auto n_targets = static_cast<std::int64_t>(sums_.size());
    n_known_.assign(sums_.size(), 0);
    for (const std::uint32_t row : paths.rows()) {
      const double* const truth = numbers_.values + static_cast<std::int64_t>(row) * n_targets;
      for (std::size_t t = 0; t < sums_.size(); ++t) n_known_[t] += truth[t] == truth[t];
    }
  }

  /// The sums since the last call, divided by the rows of which the number is known.
  LabelScores take() {
    LabelScores scores;
    for (std::size_t t = 0; t < sums_.size(); ++t) {
      if (sums_[t] != 0) scores.emplace_back(static_cast<std::int32_t>(t), sums_[t] / static_cast<double>(n_known_[t]));
      sums_[t] = 0;
    }
    return scores;
  }

 private:
  void add_leaf(std::uint32_t row, std::int32_t node, double sign) {
    const auto n_targets = static_cast<std::int64_t>(sums_.size());
    const double* const mean = tree_.leaf_values.data() + tree_.child[static_cast<std::size_t>(node)] * n_targets;
    const double* const truth = numbers_.values + static_cast<std::int64_t>(row) * n_targets;
    for (std::int64_t t = 0; t < n_targets; ++t) {
      if (truth[t] == truth[t])
        sums_[static_cast<std::size_t>(t)] += sign * (mean[t] - truth[t]) * (mean[t] - truth[t]);
    }
  }

  const Tree& tree_;
  const NumberRows& numbers_;
  std::vector<double> sums_;
  std::vector<std::int64_t> n_known_;
};

void merge_into(LabelScores& sum, const LabelScores& more) {
  if (more.empty()) return;
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

/// Where scores per label are not asked for.
struct NoSums {
  void begin(const OutOfBagPaths&) {}
  void move(std::uint32_t, std::int32_t, std::int32_t) {}
  LabelScores take() { return {}; }
};

/// What permuting one feature does to one tree.
struct Increase {
  std::int32_t feature;
  double relative;
  LabelScores of_labels;
};

template <class Error, class Sums>
std::vector<Increase> increases_of_tree(const OutOfBagPaths& paths, Error error, Sums sums, const Control& control) {
  error.begin(paths);
  sums.begin(paths);
  const double before = error.value();
  std::vector<Increase> increases;
  for (std::size_t k = 0; k < paths.features().size(); ++k) {
    control.check();
    error.restart();
    bool any = false;
    paths.permute(k, [&](std::size_t i, std::int32_t leaf) {
      error.move(paths.rows()[i], paths.leaves()[i], leaf);
      sums.move(paths.rows()[i], paths.leaves()[i], leaf);
      any = true;
    });
    if (!any) continue;
    const double relative = before > 0 ? (error.value() - before) / before : 0.0;
    increases.push_back({paths.features()[k], relative, sums.take()});
  }
  return increases;
}

/// Means over trees; `of_tree(tree, control)` gives the increases of one.
template <class OfTree>
LabelIncreases mean_increases(const Forest& forest, int n_threads, const Poll& poll, const OfTree& of_tree) {
  constexpr std::int64_t trees_at_once = 16;  // bounds the memory; sums still run over trees in order
  const auto n_features = forest.n_categories.size();
  const auto n_trees = static_cast<double>(forest.n_trees());
  LabelIncreases means;
  means.scores.assign(n_features, 0.0);
  std::vector<LabelScores> sums(n_features);
  for (std::int64_t first = 0; first < forest.n_trees(); first += trees_at_once) {
    const std::int64_t n = std::min(trees_at_once, forest.n_trees() - first);
    std::vector<std::vector<Increase>> of_trees(static_cast<std::size_t>(n));
    const Poll poll_all = poll ? Poll([&](std::int64_t n_done) { return poll(first + n_done); }) : Poll();
    run_tasks(
        n, n_threads,
        [&](std::int64_t t, int, const Control& control) {
          of_trees[static_cast<std::size_t>(t)] = of_tree(*forest.trees[static_cast<std::size_t>(first + t)], control);
        },
        poll_all);
    for (const std::vector<Increase>& increases : of_trees) {
      for (const Increase& increase : increases) {
        means.scores[static_cast<std::size_t>(increase.feature)] += increase.relative;
        merge_into(sums[static_cast<std::size_t>(increase.feature)], increase.of_labels);
      }
    }
  }
  means.per_label.offsets.push_back(0);
  for (std::size_t f = 0; f < n_features; ++f) {
    means.scores[f] /= n_trees;
    for (const auto& [label, sum] : sums[f]) {
      means.per_label.outputs.push_back(label);
      means.per_label.values.push_back(sum / n_trees);
    }
    means.per_label.offsets.push_back(static_cast<std::int64_t>(means.per_label.outputs.size()));
  }
  return means;
}

template <class Error>
LabelIncreases label_increases(const Forest& forest, const FeatureTable& table, const LabelRows& labels, bool per_label,
                               const Examples& examples, int n_threads, const Poll& poll) {
  return mean_increases(forest, n_threads, poll, [&](const Tree& tree, const Control& control) {
    const OutOfBagPaths paths(tree, table, examples, control);
    const Error error(forest, tree, labels);
    if (per_label) return increases_of_tree(paths, error, BrierSums(forest, tree, labels), control);
    return increases_of_tree(paths, error, NoSums(), control);
  });
}

}  // namespace

LabelIncreases permutation_labels(const Forest& forest, const FeatureTable& table, const LabelRows& labels,
                                  LabelError error, bool per_label, const Examples& examples, int n_threads,
                                  const Poll& poll) {
  check(forest, table, Outcome::labels, labels.n_rows, labels.n_labels);
  const auto by = [&](auto increases) {
    return increases(forest, table, labels, per_label, examples, n_threads, poll);
  };
  switch (error) {
    case LabelError::brier:
      return by(label_increases<SummedLabelError<BrierLoss>>);
    case LabelError::hamming:
      return by(label_increases<SummedLabelError<HammingLoss>>);
    case LabelError::misclassification:
      return by(label_increases<MisclassificationError>);
    case LabelError::auprc:
      break;
  }
  return by(label_increases<AuprcError>);
}

LabelIncreases permutation_numbers(const Forest& forest, const FeatureTable& table, const NumberRows& numbers,
                                   bool per_target, const Examples& examples, int n_threads, const Poll& poll) {
  check(forest, table, Outcome::numbers, numbers.n_rows, numbers.n_targets);
  return mean_increases(forest, n_threads, poll, [&](const Tree& tree, const Control& control) {
    const OutOfBagPaths paths(tree, table, examples, control);
    const SquaredError error(forest, tree, numbers);
    if (per_target) return increases_of_tree(paths, error, SquaredSums(forest, tree, numbers), control);
    return increases_of_tree(paths, error, NoSums(), control);
  });
}

}  // namespace ramify

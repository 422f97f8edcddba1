#include "scores/importances.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "forest/predictor.hpp"
#include "scores/gain_sums.hpp"

namespace ramify {

std::vector<double> symbolic(const Forest& forest) {
  std::vector<double> scores(forest.n_categories.size(), 0.0);
  for (const auto& tree : forest.trees) {
    for (std::size_t i = 0; i < tree->feature.size(); ++i) {
      if (tree->feature[i] < 0) continue;
      tree->each_tested(static_cast<std::int32_t>(i), [&](std::int32_t feature, double share) {
        scores[static_cast<std::size_t>(feature)] += share * (tree->weight[i] / tree->weight[0]);
      });
    }
  }
  for (double& score : scores) score /= static_cast<double>(forest.n_trees());
  return scores;
}

std::vector<double> genie3(const Forest& forest) {
  std::vector<double> scores(forest.n_categories.size(), 0.0);
  for (const auto& tree : forest.trees) {
    for (std::size_t i = 0; i < tree->feature.size(); ++i) {
      if (tree->feature[i] < 0) continue;
      tree->each_tested(static_cast<std::int32_t>(i), [&](std::int32_t feature, double share) {
        scores[static_cast<std::size_t>(feature)] += share * (tree->decrease[i] / tree->weight[0]);
      });
    }
  }
  for (double& score : scores) score /= static_cast<double>(forest.n_trees());
  return scores;
}

namespace {

/// Weight of a label's examples in a node. Gains multiply the frequencies in the bag with the counts `measured`.
struct LabelCount {
  std::int32_t label;
  double count;
  double measured() const { return count; }
  LabelCount operator+(const LabelCount& other) const { return {label, count + other.count}; }
};

/// Gain of a label that only one side of a split has.
template <class Entry>
double gain_alone(const Entry& entry, double weight, bool left, const SideShares& per) {
  return weight * entry.count * entry.measured() * ((left ? per.left : per.right) - per.node) * per.total;
}

/// Gain of a label that both sides have.
template <class Entry>
double gain_of_both(const Entry& a, const Entry& b, double weight, const SideShares& per) {
  const Entry both = a + b;
  const double apart = a.count * a.measured() * per.left + b.count * b.measured() * per.right;
  const double together = both.count * both.measured() * per.node;
  // equal frequencies gain nothing; their rounding errors would only fill the matrix
  if (!(std::fabs(apart - together) > 1e-14 * together)) return 0;
  return weight * (apart - together) * per.total;
}

/// The same with other examples to measure on.
struct PairedCount {
  std::int32_t label;
  double count, outside;
  double measured() const { return outside; }
  PairedCount operator+(const PairedCount& other) const {
    return {label, count + other.count, outside + other.outside};
  }
};

using CountList = std::vector<LabelCount>;

/// The counts of a leaf's labels in a range, both parts of the leaf merged.
void leaf_counts_of(const Tree& tree, std::int32_t node, OutputRange range, CountList& list) {
  const auto leaf = static_cast<std::size_t>(tree.child[static_cast<std::size_t>(node)]);
  const std::int64_t partial = tree.leaf_partial[leaf], n_partial = tree.leaf_partial[leaf + 1] - partial;
  const std::int32_t* const labels = tree.leaf_labels.data();
  const std::int64_t first = tree.leaf_offsets[leaf], last = tree.leaf_offsets[leaf + 1], certain = last - n_partial;
  const double weight = tree.weight[static_cast<std::size_t>(node)];
  std::int64_t p = std::lower_bound(labels + first, labels + certain, range.first) - labels;
  std::int64_t q = std::lower_bound(labels + certain, labels + last, range.first) - labels;
  while (true) {
    const bool has_p = p < certain && labels[p] < range.last, has_q = q < last && labels[q] < range.last;
    if (!has_p && !has_q) return;
    if (has_p && (!has_q || labels[p] < labels[q])) {
      list.push_back({labels[p++], weight});
    } else {
      list.push_back({labels[q], tree.leaf_counts[static_cast<std::size_t>(partial + q - certain)]});
      ++q;
    }
  }
}

/// Gains of numbers: weight n_left n_right / n (mean_left - mean_right)^2.
void add_number_gains(const Forest& forest, const Tree& tree, const std::vector<std::int32_t>& row_of_feature,
                      const double* weights, OutputRange range, std::vector<double>& sums) {
  const std::int64_t width = range.last - range.first;
  for (std::int32_t output = range.first; output < range.last; ++output) {
    const std::vector<double> values = node_values(forest, tree, output);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (tree.feature[i] < 0) continue;
      const auto left = static_cast<std::size_t>(tree.child[i]);
      const double n_left = tree.weight[left], n_right = tree.weight[left + 1], apart = values[left] - values[left + 1];
      const double gain = weights[output] * n_left * n_right / (n_left + n_right) * apart * apart / tree.weight[0];
      tree.each_tested(static_cast<std::int32_t>(i), [&](std::int32_t feature, double share) {
        const std::int64_t row = row_of_feature[static_cast<std::size_t>(feature)];
        sums[static_cast<std::size_t>(row * width + output - range.first)] += share * gain;
      });
    }
  }
}

}  // namespace

ScoreMatrix genie3_per_output(const Forest& forest, const double* output_weights, int n_threads, const Poll& poll) {
  if (forest.outcome == Outcome::steps)
    throw std::invalid_argument("Leaves of steps have no impurity; boosting itself gives the gains per output.");
  std::vector<std::int32_t> row_of_feature;
  const std::vector<std::int32_t> used = used_features(forest, row_of_feature);
  return collect(forest, used, n_threads, poll,
                 [&](OutputRange range, const Control& control, std::vector<double>& sums) {
                   GainSummer<LabelCount> summer;
                   for (const auto& tree : forest.trees) {
                     control.check();
                     if (forest.outcome == Outcome::numbers) {
                       add_number_gains(forest, *tree, row_of_feature, output_weights, range, sums);
                     } else {
                       summer.add_tree(
                           *tree, tree->weight[0], row_of_feature, output_weights, range,
                           [&](std::int32_t node, CountList& list) { leaf_counts_of(*tree, node, range, list); }, sums);
                     }
                   }
                 });
}

namespace {

/// Where a tree's out-of-bag examples end up: their weight in all and their label counts per leaf.
struct OutOfBag {
  double weight = 0;
  std::vector<CountList> counts;  ///< by row among the leaves, ascending labels
};

void sum_equal_labels(CountList& list) {
  std::stable_sort(list.begin(), list.end(),
                   [](const LabelCount& a, const LabelCount& b) { return a.label < b.label; });
  std::size_t kept = 0;
  for (const LabelCount& entry : list) {
    if (kept > 0 && list[kept - 1].label == entry.label) {
      list[kept - 1].count += entry.count;
    } else {
      list[kept++] = entry;
    }
  }
  list.resize(kept);
}

OutOfBag route_out_of_bag(const Tree& tree, const FeatureRows& rows, const LabelRows& labels, const Examples& examples,
                          std::int64_t n_leaves) {
  OutOfBag oob;
  oob.counts.resize(static_cast<std::size_t>(n_leaves));
  for (const OutsideRow& at : rows_outside(tree, rows, examples)) {
    oob.weight += at.weight;
    CountList& list = oob.counts[static_cast<std::size_t>(tree.child[static_cast<std::size_t>(at.leaf)])];
    for (std::int64_t p = labels.offsets[at.row]; p < labels.offsets[at.row + 1]; ++p)
      list.push_back({labels.labels[p], at.weight});
  }
  for (CountList& list : oob.counts) sum_equal_labels(list);
  return oob;
}

/// A leaf's counts in the bag and outside, side by side.
void pair_counts(const CountList& inside, const CountList& outside, OutputRange range, std::vector<PairedCount>& list) {
  std::size_t p = 0, q = 0;
  while (q < outside.size() && outside[q].label < range.first) ++q;
  while (true) {
    const bool has_p = p < inside.size(), has_q = q < outside.size() && outside[q].label < range.last;
    if (!has_p && !has_q) return;
    if (has_p && has_q && inside[p].label == outside[q].label) {
      list.push_back({inside[p].label, inside[p].count, outside[q].count});
      ++p;
      ++q;
    } else if (has_p && (!has_q || inside[p].label < outside[q].label)) {
      list.push_back({inside[p].label, inside[p].count, 0});
      ++p;
    } else {
      list.push_back({outside[q].label, 0, outside[q].count});
      ++q;
    }
  }
}

}  // namespace

ScoreMatrix genie3_oob(const Forest& forest, const FeatureRows& rows, const LabelRows& labels, const Examples& examples,
                       int n_threads, const Poll& poll) {
  if (forest.outcome != Outcome::labels)
    throw std::invalid_argument("Out-of-bag gains per output are defined for label forests.");
  if (labels.n_rows != rows.n_rows())
    throw std::invalid_argument("Features and targets must have the same number of rows.");
  if (labels.n_labels != forest.n_outputs)
    throw std::invalid_argument("The forest has another number of labels than the target.");
  check_features(forest, rows);
  std::vector<std::int32_t> row_of_feature;
  const std::vector<std::int32_t> used = used_features(forest, row_of_feature);
  std::vector<OutOfBag> oobs(forest.trees.size());
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control&) {
        const Tree& tree = *forest.trees[static_cast<std::size_t>(t)];
        oobs[static_cast<std::size_t>(t)] =
            route_out_of_bag(tree, rows, labels, examples, tree.n_leaves(forest.outcome, forest.n_outputs));
      },
      poll);
  return collect(
      forest, used, n_threads, poll, [&](OutputRange range, const Control& control, std::vector<double>& sums) {
        GainSummer<PairedCount> summer;
        CountList inside;
        for (std::size_t t = 0; t < forest.trees.size(); ++t) {
          control.check();
          const Tree& tree = *forest.trees[t];
          summer.add_tree(
              tree, oobs[t].weight, row_of_feature, labels.label_weights, range,
              [&](std::int32_t node, std::vector<PairedCount>& list) {
                inside.clear();
                leaf_counts_of(tree, node, range, inside);
                pair_counts(inside,
                            oobs[t].counts[static_cast<std::size_t>(tree.child[static_cast<std::size_t>(node)])], range,
                            list);
              },
              sums);
        }
      });
}

}  // namespace ramify

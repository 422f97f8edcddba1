/// The forest: what growing gives and what predicting, ranking and saving read.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace ramify {

/// What leaves hold: label frequencies, means of numbers, or steps that are added up over the trees.
enum class Outcome : std::uint8_t { labels = 0, numbers = 1, steps = 2 };

/// A feature of a combination: a sum over features of weight * (value - centre) / scale, to which missing values add
/// nothing. The absolute weights sum to 1: they are the shares of the features in the split.
struct CombinedFeature {
  std::int32_t feature;
  double weight, centre, scale;

  double share() const { return std::fabs(weight); }
  double standardised(double value) const { return value != value ? 0.0 : (value - centre) / scale; }
};

/// One tree in flat arrays. Node 0 is the root; both children of a node stand side by side at
/// `child` and `child + 1`, behind their parent, so loops replace recursion.
struct Tree {
  std::uint64_t seed = 0;  ///< regenerates the tree's bag

  // nodes
  std::vector<std::int32_t> feature;  ///< tested feature (of a combination the heaviest), -1 in a leaf
  std::vector<double> threshold;      ///< numeric: values or combinations <= threshold go left
  std::vector<std::int32_t> child;    ///< left child (right = + 1); in a leaf its row among the leaves
  std::vector<std::int32_t> subset;   ///< nominal: which subset of categories goes left; combination c: -2 - c; else -1
  std::vector<std::uint8_t> missing_left;  ///< 1 if missing values go left
  std::vector<double> weight;              ///< total weight of the in-bag examples that reach the node
  std::vector<double> decrease;            ///< weight * impurity less the children's, or a gain; 0 in a leaf

  // category subsets: bit c of a subset is set if category c goes left
  std::vector<std::int64_t> subset_offsets{0};
  std::vector<std::uint64_t> subset_words;

  // combinations of numeric features, features ascending; none in trees that test one feature per node
  std::vector<std::int64_t> combination_offsets{0};
  std::vector<CombinedFeature> combined;

  // leaves for labels: ids of labels that all examples have, then ids of those some have,
  // whose weighted counts are in leaf_counts
  std::vector<std::int64_t> leaf_offsets{0};
  std::vector<std::int32_t> leaf_labels;
  std::vector<std::int64_t> leaf_partial{0};
  std::vector<double> leaf_counts;

  // leaves for numbers: n_outputs means per leaf; leaves for steps: one per entry of leaf_labels, which ascend
  std::vector<double> leaf_values;

  std::int64_t n_nodes() const { return static_cast<std::int64_t>(feature.size()); }
  std::int64_t n_leaves(Outcome outcome, std::int64_t n_outputs) const;
  std::int64_t n_bytes() const;

  /// The next node of an example whose tested feature has `value`.
  std::int32_t next(std::int32_t node, double value) const {
    bool left;
    if (value != value) {
      left = missing_left[node] != 0;
    } else if (subset[node] < 0) {
      left = value <= threshold[node];
    } else {
      left = category_goes_left(node, value);
    }
    return child[node] + (left ? 0 : 1);
  }

  bool category_goes_left(std::int32_t node, double value) const;

  /// Call `visit(feature, share)` for what a node tests; the shares sum to 1.
  template <class Visit>
  void each_tested(std::int32_t node, Visit visit) const {
    if (subset[node] >= -1) return visit(feature[node], 1.0);
    for (const CombinedFeature* one = combination(node); one != combination_end(node); ++one)
      visit(one->feature, one->share());
  }

  /// The next node of an example; `value_of(feature)` gives its values.
  template <class ValueOf>
  std::int32_t next_by(std::int32_t node, ValueOf value_of) const {
    if (subset[node] >= -1) return next(node, value_of(feature[node]));
    double sum = 0;
    for (const CombinedFeature* one = combination(node); one != combination_end(node); ++one)
      sum += one->weight * one->standardised(value_of(one->feature));
    return next(node, sum);
  }

  const CombinedFeature* combination(std::int32_t node) const {
    return combined.data() + combination_offsets[-2 - subset[node]];
  }
  const CombinedFeature* combination_end(std::int32_t node) const {
    return combined.data() + combination_offsets[-1 - subset[node]];
  }
};

/// Trees over the same features and outputs. Copies, `first` and `concatenate` share the trees.
struct Forest {
  Outcome outcome = Outcome::labels;
  std::int64_t n_outputs = 0;
  std::vector<std::int32_t> n_categories;  ///< per feature, 0 = numeric
  std::vector<std::shared_ptr<const Tree>> trees;

  std::int64_t n_features() const { return static_cast<std::int64_t>(n_categories.size()); }
  std::int64_t n_trees() const { return static_cast<std::int64_t>(trees.size()); }
  std::int64_t n_bytes() const;

  /// What the sum over trees is divided by to predict: steps are added, all else is averaged.
  double divisor() const { return outcome == Outcome::steps ? 1.0 : static_cast<double>(n_trees()); }

  Forest first(std::int64_t n_trees) const;
};

Forest concatenate(const std::vector<Forest>& forests);

}  // namespace ramify

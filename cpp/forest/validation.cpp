#include "forest/validation.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "features/feature_table.hpp"

namespace ramify {

namespace {

[[noreturn]] void refuse(std::int64_t tree, const std::string& what) {
  throw std::invalid_argument("Tree " + std::to_string(tree) + " is damaged: " + what + ".");
}

template <class T>
void check_size(std::int64_t tree, const std::vector<T>& values, std::size_t size, const char* name) {
  if (values.size() != size)
    refuse(tree, std::string(name) + " has " + std::to_string(values.size()) + " entries, not " + std::to_string(size));
}

void check_offsets(std::int64_t tree, const std::vector<std::int64_t>& offsets, std::size_t total, const char* name) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != static_cast<std::int64_t>(total))
    refuse(tree, std::string(name) + " does not span its array");
  for (std::size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] < offsets[i - 1]) refuse(tree, std::string(name) + " does not ascend");
  }
}

void check_combinations(const Forest& forest, const Tree& tree, std::int64_t index) {
  check_offsets(index, tree.combination_offsets, tree.combined.size(), "combination_offsets");
  for (std::size_t c = 0; c + 1 < tree.combination_offsets.size(); ++c) {
    const auto first = static_cast<std::size_t>(tree.combination_offsets[c]);
    const auto last = static_cast<std::size_t>(tree.combination_offsets[c + 1]);
    const std::string name = "combination " + std::to_string(c);
    if (last - first < 2) refuse(index, name + " has fewer than two features");
    double total = 0;
    for (std::size_t i = first; i < last; ++i) {
      const CombinedFeature& one = tree.combined[i];
      if (one.feature < 0 || one.feature >= forest.n_features() ||
          forest.n_categories[static_cast<std::size_t>(one.feature)] > 0)
        refuse(index, name + " has feature " + std::to_string(one.feature) + ", which is no numeric one");
      if (i > first && one.feature <= tree.combined[i - 1].feature)
        refuse(index, "the features of " + name + " do not ascend");
      if (!std::isfinite(one.centre) || !(one.scale > 0) || std::isinf(one.scale))
        refuse(index, name + " has no finite centre or positive scale");
      total += one.share();
    }
    if (!(std::fabs(total - 1) < 1e-9)) refuse(index, "the absolute weights of " + name + " do not sum to 1");
  }
}

void check_nodes(const Forest& forest, const Tree& tree, std::int64_t index) {
  const std::size_t n = tree.feature.size();
  if (n == 0) refuse(index, "it has no node");
  if (n > 0x7FFFFFFF) refuse(index, "it has more than 2^31 - 1 nodes");
  check_size(index, tree.threshold, n, "threshold");
  check_size(index, tree.child, n, "child");
  check_size(index, tree.subset, n, "subset");
  check_size(index, tree.missing_left, n, "missing_left");
  check_size(index, tree.weight, n, "weight");
  check_size(index, tree.decrease, n, "decrease");
  const auto n_leaves = tree.n_leaves(forest.outcome, forest.n_outputs);
  const auto n_subsets = static_cast<std::int64_t>(tree.subset_offsets.size()) - 1;
  const auto n_combinations = static_cast<std::int64_t>(tree.combination_offsets.size()) - 1;
  std::vector<char> reached(n, 0);
  std::vector<char> used(static_cast<std::size_t>(n_leaves), 0);
  reached[0] = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (!reached[i]) refuse(index, "node " + std::to_string(i) + " has no parent before it");
    if (!(tree.weight[i] > 0) || std::isinf(tree.weight[i]))
      refuse(index, "the weight of node " + std::to_string(i) + " is not a positive number");
    if (forest.outcome == Outcome::steps) {  // a gain falls below 0 where the penalty outweighs it
      if (!std::isfinite(tree.decrease[i])) refuse(index, "the gain of node " + std::to_string(i) + " is not finite");
    } else if (!(tree.decrease[i] >= 0) || std::isinf(tree.decrease[i])) {
      refuse(index, "the decrease of node " + std::to_string(i) + " is not a number from 0");
    }
    if (tree.missing_left[i] > 1) refuse(index, "missing_left of node " + std::to_string(i) + " is neither 0 nor 1");
    const std::int64_t child = tree.child[i];
    if (tree.feature[i] == -1) {
      if (child < 0 || child >= n_leaves) refuse(index, "leaf " + std::to_string(i) + " points outside the leaves");
      if (used[static_cast<std::size_t>(child)]++) refuse(index, "two leaves share the row " + std::to_string(child));
      if (tree.subset[i] != -1) refuse(index, "leaf " + std::to_string(i) + " has a subset");
      continue;
    }
    if (tree.feature[i] < 0 || tree.feature[i] >= forest.n_features())
      refuse(index, "node " + std::to_string(i) + " tests feature " + std::to_string(tree.feature[i]));
    if (child <= static_cast<std::int64_t>(i) || child + 1 >= static_cast<std::int64_t>(n))
      refuse(index, "the children of node " + std::to_string(i) + " do not stand behind it");
    if (reached[static_cast<std::size_t>(child)] || reached[static_cast<std::size_t>(child) + 1])
      refuse(index, "node " + std::to_string(child) + " has two parents");
    reached[static_cast<std::size_t>(child)] = reached[static_cast<std::size_t>(child) + 1] = 1;
    const std::int32_t n_categories = forest.n_categories[static_cast<std::size_t>(tree.feature[i])];
    if ((n_categories > 0) != (tree.subset[i] >= 0))
      refuse(index, "node " + std::to_string(i) + " does not fit its feature, nominal or numeric");
    if (n_categories > 0) {
      const std::int64_t subset = tree.subset[i];
      if (subset >= n_subsets) refuse(index, "node " + std::to_string(i) + " points outside the subsets");
      const std::int64_t n_words = tree.subset_offsets[static_cast<std::size_t>(subset) + 1] -
                                   tree.subset_offsets[static_cast<std::size_t>(subset)];
      if (n_words != (n_categories + 63) / 64)
        refuse(index, "the subset of node " + std::to_string(i) + " has the wrong size");
    } else if (-2 - std::int64_t{tree.subset[i]} >= n_combinations) {
      refuse(index, "node " + std::to_string(i) + " points outside the combinations");
    } else if (tree.threshold[i] != tree.threshold[i]) {
      refuse(index, "the threshold of node " + std::to_string(i) + " is not a number");
    }
  }
  for (const char once : used)
    if (!once) refuse(index, "a row of the leaves belongs to no leaf");
}

void check_label_leaves(const Forest& forest, const Tree& tree, std::int64_t index) {
  check_offsets(index, tree.leaf_offsets, tree.leaf_labels.size(), "leaf_offsets");
  check_offsets(index, tree.leaf_partial, tree.leaf_counts.size(), "leaf_partial");
  check_size(index, tree.leaf_partial, tree.leaf_offsets.size(), "leaf_partial");
  check_size(index, tree.leaf_values, 0, "leaf_values");
  for (std::size_t leaf = 0; leaf + 1 < tree.leaf_offsets.size(); ++leaf) {
    const std::int64_t first = tree.leaf_offsets[leaf], last = tree.leaf_offsets[leaf + 1];
    const std::int64_t n_partial = tree.leaf_partial[leaf + 1] - tree.leaf_partial[leaf];
    if (n_partial > last - first) refuse(index, "leaf row " + std::to_string(leaf) + " has more counts than labels");
    for (std::int64_t p = first; p < last; ++p) {
      const std::int32_t label = tree.leaf_labels[static_cast<std::size_t>(p)];
      if (label < 0 || label >= forest.n_outputs)
        refuse(index, "leaf row " + std::to_string(leaf) + " has label " + std::to_string(label));
      if (p > first && p != last - n_partial && label <= tree.leaf_labels[static_cast<std::size_t>(p) - 1])
        refuse(index, "the labels of leaf row " + std::to_string(leaf) + " do not ascend");
    }
  }
}

void check_step_leaves(const Forest& forest, const Tree& tree, std::int64_t index) {
  check_offsets(index, tree.leaf_offsets, tree.leaf_labels.size(), "leaf_offsets");
  check_size(index, tree.leaf_values, tree.leaf_labels.size(), "leaf_values");
  for (std::size_t leaf = 0; leaf + 1 < tree.leaf_offsets.size(); ++leaf) {
    for (std::int64_t p = tree.leaf_offsets[leaf]; p < tree.leaf_offsets[leaf + 1]; ++p) {
      const std::int32_t label = tree.leaf_labels[static_cast<std::size_t>(p)];
      if (label < 0 || label >= forest.n_outputs)
        refuse(index, "leaf row " + std::to_string(leaf) + " has a step of output " + std::to_string(label));
      if (p > tree.leaf_offsets[leaf] && label <= tree.leaf_labels[static_cast<std::size_t>(p) - 1])
        refuse(index, "the outputs of leaf row " + std::to_string(leaf) + " do not ascend");
    }
  }
}

void check_finite_values(const Tree& tree, std::int64_t index) {
  for (const double value : tree.leaf_values)
    if (!std::isfinite(value)) refuse(index, "a leaf value is not finite");
}

/// Counts lie between 0 and the weight of their leaf, so that probabilities are ones.
void check_counts(const Tree& tree, std::int64_t index) {
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] != -1) continue;
    const auto leaf = static_cast<std::size_t>(tree.child[i]);
    for (std::int64_t p = tree.leaf_partial[leaf]; p < tree.leaf_partial[leaf + 1]; ++p) {
      const double count = tree.leaf_counts[static_cast<std::size_t>(p)];
      if (!(count > 0 && count <= tree.weight[i]))
        refuse(index, "a count of leaf row " + std::to_string(leaf) + " is outside its leaf's weight");
    }
  }
}

}  // namespace

void validate(const Forest& forest) {
  if (forest.n_outputs < 0 || forest.n_outputs > 0x7FFFFFFF)
    throw std::invalid_argument("The forest's number of outputs is out of range.");
  for (const std::int32_t k : forest.n_categories) {
    if (k < 0 || k > max_categories)
      throw std::invalid_argument("A number of categories lies outside 0 to " + std::to_string(max_categories) + ".");
  }
  for (std::int64_t index = 0; index < forest.n_trees(); ++index) {
    const Tree& tree = *forest.trees[static_cast<std::size_t>(index)];
    check_offsets(index, tree.subset_offsets, tree.subset_words.size(), "subset_offsets");
    check_combinations(forest, tree, index);
    if (forest.outcome == Outcome::labels) {
      check_label_leaves(forest, tree, index);
    } else if (forest.outcome == Outcome::steps) {
      check_step_leaves(forest, tree, index);
      check_finite_values(tree, index);
    } else {
      const std::size_t n_values = tree.leaf_values.size();
      if (forest.n_outputs == 0 || n_values % static_cast<std::size_t>(forest.n_outputs) != 0)
        refuse(index, "leaf_values is no matrix of leaves and outputs");
      check_finite_values(tree, index);
    }
    check_nodes(forest, tree, index);
    if (forest.outcome == Outcome::labels) check_counts(tree, index);
  }
}

}  // namespace ramify

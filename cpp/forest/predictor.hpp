/// What a forest says about rows. Rows are cut into blocks; a row's sums run over trees in order, so the result is the
/// same for every number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_rows.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"

namespace ramify {

/// Rows [first, last) of a FeatureRows.
struct RowRange {
  std::int64_t first, last;
};

/// Throws std::invalid_argument unless the rows have the forest's features and it has trees.
void check_features(const Forest& forest, const FeatureRows& rows);

/// Mean over trees of the leaves' label frequencies or means: `out` has (last - first) x n_outputs cells.
void predict(const Forest& forest, const FeatureRows& rows, RowRange range, int n_threads, const Poll& poll,
             double* out);

/// Compressed rows of probabilities.
struct SparsePrediction {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> labels;
  std::vector<double> values;
};

/// As `predict` for labels, keeping values > 0 that reach the threshold; memory by what is kept.
SparsePrediction predict_sparse(const Forest& forest, const FeatureRows& rows, RowRange range, double threshold,
                                int n_threads, const Poll& poll);

/// The `n_top` outputs of largest value in each row, as `predict` has them, larger ones first and of equal ones the
/// lower output; (last - first) x n_top cells each. Memory and time by what leaves hold, not by the outputs there are.
void predict_top(const Forest& forest, const FeatureRows& rows, RowRange range, std::int64_t n_top, int n_threads,
                 const Poll& poll, std::int32_t* outputs, double* values);

/// The leaf of every row in every tree: n_rows x n_trees node ids.
void apply(const Forest& forest, const FeatureRows& rows, int n_threads, const Poll& poll, std::int32_t* out);

/// As `predict` over the trees whose bag lacks the row; rows without such a tree get NaN. `n_trees` counts the trees.
void predict_oob(const Forest& forest, const FeatureRows& rows, const Examples& examples, RowRange range, int n_threads,
                 const Poll& poll, double* out, std::int32_t* n_trees);

/// What each feature added to one output along the paths, n_rows x n_features (starts as zeros); returns the mean of
/// the roots, to which a row's contributions add up to the prediction.
double contributions(const Forest& forest, const FeatureRows& rows, std::int64_t output, int n_threads,
                     const Poll& poll, double* out);

/// The value of one output in every node, from the leaves upwards.
std::vector<double> node_values(const Forest& forest, const Tree& tree, std::int64_t output);

/// One bit per row: is it in the tree's bag?
std::vector<std::uint64_t> in_bag(const Tree& tree, const Examples& examples, std::int64_t n_rows);

/// A tree's out-of-bag examples, each with the leaf that it reaches.
struct OutsideRow {
  std::int64_t row;
  std::int32_t leaf;  ///< node id
  double weight;
};
std::vector<OutsideRow> rows_outside(const Tree& tree, const FeatureRows& rows, const Examples& examples);

/// Call `add(output, value)` for what a leaf says.
template <class Add>
void read_leaf(const Forest& forest, const Tree& tree, std::int32_t node, Add add) {
  const auto leaf = static_cast<std::size_t>(tree.child[static_cast<std::size_t>(node)]);
  if (forest.outcome == Outcome::numbers) {
    const double* values = tree.leaf_values.data() + static_cast<std::int64_t>(leaf) * forest.n_outputs;
    for (std::int64_t t = 0; t < forest.n_outputs; ++t) add(static_cast<std::int32_t>(t), values[t]);
    return;
  }
  const std::int64_t first = tree.leaf_offsets[leaf], last = tree.leaf_offsets[leaf + 1];
  if (forest.outcome == Outcome::steps) {
    for (std::int64_t p = first; p < last; ++p)
      add(tree.leaf_labels[static_cast<std::size_t>(p)], tree.leaf_values[static_cast<std::size_t>(p)]);
    return;
  }
  const std::int64_t partial = tree.leaf_partial[leaf], n_partial = tree.leaf_partial[leaf + 1] - partial;
  const std::int64_t certain = last - n_partial;
  const double weight = tree.weight[static_cast<std::size_t>(node)];
  for (std::int64_t p = first; p < certain; ++p) add(tree.leaf_labels[static_cast<std::size_t>(p)], 1.0);
  for (std::int64_t p = certain; p < last; ++p) {
    add(tree.leaf_labels[static_cast<std::size_t>(p)],
        tree.leaf_counts[static_cast<std::size_t>(partial + p - certain)] / weight);
  }
}

/// The leaf (node id) that a row of feature values reaches.
inline std::int32_t find_leaf(const Tree& tree, const double* row) {
  std::int32_t node = 0;
  while (tree.feature[static_cast<std::size_t>(node)] >= 0)
    node = tree.next_by(node, [row](std::int32_t feature) { return row[feature]; });
  return node;
}

/// A node for many rows to pass: all that a step needs side by side, where the tree has it in four arrays.
struct StepNode {
  double threshold;
  std::int32_t feature;  ///< twice the feature, plus 1 if missing values go left
  std::int32_t child;    ///< a leaf is its own left child, and everything goes left

  std::int32_t next(const double* row) const {
    const double value = row[feature >> 1];
    const bool left = (value <= threshold) | ((value != value) & ((feature & 1) != 0));
    return child + (left ? 0 : 1);
  }
};

/// The nodes of a tree that tests single numbers only.
std::vector<StepNode> step_nodes(const Tree& tree);

/// The same for n rows, the i-th at `row_at(i)`. Several go down side by side, so that their waits for memory overlap.
template <class RowAt>
void find_leaves(const Tree& tree, std::int64_t n, RowAt row_at, std::int32_t* leaves) {
  constexpr std::int64_t together = 16;
  std::int64_t first = 0;
  if (tree.subset_words.empty() && tree.combined.empty() && n >= tree.n_nodes() / 8) {
    const std::vector<StepNode> nodes = step_nodes(tree);
    for (; first + together <= n; first += together) {
      std::int32_t at[together] = {};
      for (bool any = true; any;) {
        any = false;
        for (std::int64_t i = 0; i < together; ++i) {
          const std::int32_t next = nodes[static_cast<std::size_t>(at[i])].next(row_at(first + i));
          any |= next != at[i];
          at[i] = next;
        }
      }
      std::copy_n(at, together, leaves + first);
    }
  }
  for (; first < n; first += together) {
    const std::int64_t n_together = std::min(together, n - first);
    std::int32_t nodes[together] = {};
    for (bool any = true; any;) {
      any = false;
      for (std::int64_t i = 0; i < n_together; ++i) {
        if (tree.feature[static_cast<std::size_t>(nodes[i])] < 0) continue;
        const double* const row = row_at(first + i);
        nodes[i] = tree.next_by(nodes[i], [row](std::int32_t feature) { return row[feature]; });
        any = true;
      }
    }
    std::copy_n(nodes, n_together, leaves + first);
  }
}

}  // namespace ramify

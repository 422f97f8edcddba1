/// Growing forests.
#pragma once

#include <cstdint>

#include "base/parallel.hpp"
#include "features/feature_table.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// How trees are grown.
struct GrowParams {
  std::uint64_t seed = 0;
  std::int64_t first_tree = 0;  ///< trees first_tree .. first_tree + n_trees - 1 of the forest with this seed
  std::int64_t n_trees = 1;
  std::int64_t max_features = 1;  ///< features looked at per node, constant ones not counted
  bool bootstrap = true;
  bool random_splits = false;   ///< extra trees: one random cut per feature
  std::int64_t max_depth = -1;  ///< < 0: no limit
  std::int64_t min_samples_split = 2;
  std::int64_t min_samples_leaf = 1;   ///< counts draws, weights aside
  double min_impurity_decrease = 0.0;  ///< of decrease / weight of the root
  int n_threads = 1;
  bool all_features_at_root = false;      ///< draw on where the root's features give no split
  double min_weight_fraction_leaf = 0.0;  ///< smallest weight of a side, of the weight of the root
  std::int64_t oblique = 0;               ///< numeric features per combination that is also looked at; 0: none
  std::int64_t min_category_rows = 1;     ///< in a node, nominal values with fewer draws go to one side together
  std::int64_t backing = 0;               ///< leaves are backed by their ancestors of at most so many draws
};

/// Grow trees for label sets; the impurity is sum w p (1 - p).
Forest grow_labels(const FeatureTable& table, const LabelRows& target, const Examples& examples,
                   const GrowParams& params, const Poll& poll);

/// Grow trees for numbers; the impurity is sum w Var.
Forest grow_numbers(const FeatureTable& table, const NumberRows& target, const Examples& examples,
                    const GrowParams& params, const Poll& poll);

}  // namespace ramify

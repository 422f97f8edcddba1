// Small random data for tests of forests.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "features/coding.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "forest/growing.hpp"
#include "forest/validation.hpp"

struct ForestData {
  std::int64_t n_rows, n_features, n_labels;
  std::vector<double> X;
  std::vector<std::int32_t> n_categories;
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> labels;
  std::vector<double> label_weights, numbers, target_weights{1.0, 0.5};

  /// Feature f drives label f; every fourth feature is nominal with 70 categories, every fifth mostly zero.
  ForestData(std::int64_t rows, std::int64_t features, std::int64_t n_labels_, std::uint64_t seed, double missing = 0.1)
      : n_rows(rows), n_features(features), n_labels(n_labels_), X(static_cast<std::size_t>(rows * features)) {
    ramify::Random random(seed, 0);
    for (std::int64_t f = 0; f < features; ++f) n_categories.push_back(f % 4 == 3 ? 70 : 0);
    for (std::int64_t j = 0; j < n_labels; ++j) label_weights.push_back(j % 3 == 2 ? 0.5 : 1.0);
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t f = 0; f < features; ++f) {
        double value = std::floor(20 * random.uniform()) / 4;
        if (f % 4 == 3) value = static_cast<double>(random.below(70));
        if (f % 5 == 4 && random.uniform() < 0.9) value = 0;
        if (random.uniform() < missing) value = std::numeric_limits<double>::quiet_NaN();
        X[static_cast<std::size_t>(i * features + f)] = value;
      }
      for (std::int64_t j = 0; j < n_labels; ++j) {
        const double value = X[static_cast<std::size_t>(i * features + j % features)];
        if (value > 2.4 || random.uniform() < 0.1) labels.push_back(static_cast<std::int32_t>(j));
      }
      offsets.push_back(static_cast<std::int64_t>(labels.size()));
      for (int t = 0; t < 2; ++t)
        numbers.push_back(std::fmax(0, X[static_cast<std::size_t>(i * features + t)]) + random.uniform());
    }
  }

  ramify::FeatureTable table(std::int32_t max_bins = 0, int n_threads = 1) const {
    return ramify::code_dense<double>({X.data(), n_rows, n_features, n_features, 1}, n_categories, max_bins, n_threads,
                                      {});
  }
  ramify::LabelRows label_rows() const {
    return {offsets.data(), labels.data(), n_rows, n_labels, label_weights.data()};
  }
  ramify::NumberRows number_rows() const { return {numbers.data(), n_rows, 2, target_weights.data()}; }
  ramify::Examples examples() const { return ramify::select_examples(n_rows, nullptr, nullptr); }
};

inline ramify::GrowParams grow_params(std::int64_t n_trees, std::int64_t max_features) {
  ramify::GrowParams params;
  params.seed = 5;
  params.n_trees = n_trees;
  params.max_features = max_features;
  return params;
}

inline bool same_trees(const ramify::Forest& a, const ramify::Forest& b) {
  if (a.n_trees() != b.n_trees()) return false;
  for (std::size_t t = 0; t < a.trees.size(); ++t) {
    const ramify::Tree &x = *a.trees[t], &y = *b.trees[t];
    if (x.seed != y.seed || x.feature != y.feature || x.threshold != y.threshold || x.child != y.child ||
        x.subset != y.subset)
      return false;
    if (x.missing_left != y.missing_left || x.weight != y.weight || x.decrease != y.decrease ||
        x.subset_words != y.subset_words)
      return false;
    if (x.leaf_offsets != y.leaf_offsets || x.leaf_labels != y.leaf_labels || x.leaf_counts != y.leaf_counts ||
        x.leaf_values != y.leaf_values)
      return false;
  }
  return true;
}

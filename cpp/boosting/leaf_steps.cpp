#include "boosting/leaf_steps.hpp"

#include <algorithm>
#include <cmath>

namespace ramify {

std::vector<std::int32_t> tested_features(const Tree& tree) {
  std::vector<std::int32_t> features;
  for (const std::int32_t feature : tree.feature) {
    if (feature >= 0) features.push_back(feature);
  }
  std::sort(features.begin(), features.end());
  features.erase(std::unique(features.begin(), features.end()), features.end());
  return features;
}

void sum_gradients(const Tree& tree, const std::vector<LeafSums>& leaves, std::int64_t first, std::int64_t last,
                   StepBlock& block) {
  const std::int64_t width = last - first;
  const std::size_t n_nodes = tree.feature.size();
  block.gradients.assign(n_nodes * static_cast<std::size_t>(width), 0.0);
  block.curvatures.assign(n_nodes * static_cast<std::size_t>(width), 0.0);
  for (const LeafSums& leaf : leaves) {
    double* const g = block.gradients.data() + leaf.node * width;
    double* const h = block.curvatures.data() + leaf.node * width;
    for (std::int64_t j = 0; j < width; ++j) {
      g[j] += leaf.gradients[first + j];
      h[j] += leaf.curvatures[first + j];
    }
  }
  for (std::size_t i = n_nodes; i-- > 0;) {
    if (tree.feature[i] < 0) continue;
    double* const g = block.gradients.data() + static_cast<std::int64_t>(i) * width;
    double* const h = block.curvatures.data() + static_cast<std::int64_t>(i) * width;
    const double* const child_g = block.gradients.data() + tree.child[i] * width;
    const double* const child_h = block.curvatures.data() + tree.child[i] * width;
    for (std::int64_t j = 0; j < width; ++j) {
      g[j] = child_g[j] + child_g[width + j];
      h[j] = child_h[j] + child_h[width + j];
    }
  }
}

void find_steps(const Tree& tree, const BoostParams& params, std::int64_t first, std::int64_t last, StepBlock& block) {
  constexpr double longest = 4;
  const std::int64_t width = last - first;
  const std::size_t n_leaves = (tree.feature.size() + 1) / 2;
  block.labels.assign(n_leaves, {});
  block.steps.assign(n_leaves, {});
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    if (tree.feature[i] >= 0) continue;
    const auto leaf = static_cast<std::size_t>(tree.child[i]);
    const double* const g = block.gradients.data() + static_cast<std::int64_t>(i) * width;
    const double* const h = block.curvatures.data() + static_cast<std::int64_t>(i) * width;
    for (std::int64_t j = 0; j < width; ++j) {
      const double step = std::min(longest, std::max(-longest, g[j] / (h[j] + params.l2)));
      if (step == 0 || std::abs(step) < params.tolerance) continue;
      block.labels[leaf].push_back(static_cast<std::int32_t>(first + j));
      block.steps[leaf].push_back(params.learning_rate * step);
    }
  }
}

void find_gains(const Tree& tree, const double* output_weights, double l2, std::int64_t first, std::int64_t last,
                std::int64_t n_outputs, StepBlock& block, FeatureGains& gains) {
  const std::int64_t width = last - first;
  const std::size_t n_nodes = tree.feature.size();
  block.node_gains.assign(n_nodes, 0.0);
  std::vector<double> worth(n_nodes * static_cast<std::size_t>(width));  // G^2 / (H + l2)
  for (std::size_t c = 0; c < worth.size(); ++c)
    worth[c] = block.gradients[c] * block.gradients[c] / (block.curvatures[c] + l2);
  for (std::size_t i = 0; i < n_nodes; ++i) {
    if (tree.feature[i] < 0) continue;
    const double* const own = worth.data() + static_cast<std::int64_t>(i) * width;
    const double* const left = worth.data() + tree.child[i] * width;
    double sum = 0;
    for (std::int64_t j = 0; j < width; ++j) sum += output_weights[first + j] * (left[j] + left[width + j] - own[j]);
    block.node_gains[i] = sum;
    const auto at = std::lower_bound(gains.features.begin(), gains.features.end(), tree.feature[i]);
    double* const row = gains.values.data() + (at - gains.features.begin()) * n_outputs + first;
    for (std::int64_t j = 0; j < width; ++j)
      row[j] += output_weights[first + j] * (left[j] + left[width + j] - own[j]) / tree.weight[0];
  }
}

void write_steps(const std::vector<StepBlock>& blocks, Tree& tree) {
  const std::size_t n_leaves = (tree.feature.size() + 1) / 2;
  tree.leaf_values.clear();
  tree.leaf_offsets.assign(1, 0);
  for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
    for (const StepBlock& block : blocks) {
      tree.leaf_labels.insert(tree.leaf_labels.end(), block.labels[leaf].begin(), block.labels[leaf].end());
      tree.leaf_values.insert(tree.leaf_values.end(), block.steps[leaf].begin(), block.steps[leaf].end());
    }
    tree.leaf_offsets.push_back(static_cast<std::int64_t>(tree.leaf_labels.size()));
  }
  tree.leaf_labels.shrink_to_fit();
  tree.leaf_values.shrink_to_fit();
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    tree.decrease[i] = 0;
    for (const StepBlock& block : blocks) tree.decrease[i] += block.node_gains[i];
  }
}

}  // namespace ramify

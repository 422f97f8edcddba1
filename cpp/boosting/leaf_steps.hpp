/// Newton steps of a tree's leaves and the gains of its splits, from the gradients of the rows it was grown on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "boosting/boosting.hpp"

namespace ramify {

/// Rows of a tree, leaf by leaf.
struct LeafRows {
  std::vector<std::int64_t> offsets;  ///< by node; nodes that are no leaf have no rows
  std::vector<std::uint32_t> rows;
};

/// Gains of the splits of one tree, summed by feature.
struct FeatureGains {
  std::vector<std::int32_t> features;  ///< ascending
  std::vector<double> values;          ///< features x outputs
};

/// The features that a tree tests, ascending.
std::vector<std::int32_t> tested_features(const Tree& tree);

/// What a block of outputs needs while the steps are found.
struct StepBlock {
  std::vector<double> gradients, curvatures;      ///< nodes x outputs of the block
  std::vector<std::vector<std::int32_t>> labels;  ///< by row among the leaves: outputs whose step is stored
  std::vector<std::vector<double>> steps;
  std::vector<double> node_gains;  ///< by node, weighted over the outputs of the block
};

/// Gradients and curvatures of each leaf in outputs [first, last), then of the nodes above.
template <class Loss>
void sum_gradients(const Loss& loss, const Tree& tree, const LeafRows& leaf_rows, const std::vector<double>& weights,
                   const float* responses, std::int64_t first, std::int64_t last, StepBlock& block) {
  const std::int64_t width = last - first, n_outputs = loss.n_outputs();
  const std::size_t n_nodes = tree.feature.size();
  block.gradients.assign(n_nodes * static_cast<std::size_t>(width), 0.0);
  block.curvatures.assign(n_nodes * static_cast<std::size_t>(width), 0.0);
  for (std::size_t i = n_nodes; i-- > 0;) {
    double* const g = block.gradients.data() + static_cast<std::int64_t>(i) * width;
    double* const h = block.curvatures.data() + static_cast<std::int64_t>(i) * width;
    if (tree.feature[i] >= 0) {
      const std::int64_t left = tree.child[i] * width;
      for (std::int64_t j = 0; j < width; ++j) {
        g[j] = block.gradients[static_cast<std::size_t>(left + j)] +
               block.gradients[static_cast<std::size_t>(left + width + j)];
        h[j] = block.curvatures[static_cast<std::size_t>(left + j)] +
               block.curvatures[static_cast<std::size_t>(left + width + j)];
      }
      continue;
    }
    for (std::int64_t k = leaf_rows.offsets[i]; k < leaf_rows.offsets[i + 1]; ++k) {
      const std::int64_t row = leaf_rows.rows[static_cast<std::size_t>(k)];
      const double weight = weights.empty() ? 1.0 : weights[static_cast<std::size_t>(row)];
      const float* const response = responses + row * n_outputs + first;
      for (std::int64_t j = 0; j < width; ++j) {
        const double r = response[j];
        g[j] -= weight * r;
        h[j] += weight * Loss::curvature(r);
      }
      loss.each_target(row, first, last, [&](std::int64_t j, double target) { g[j - first] += weight * target; });
      loss.each_unknown(row, first, last, [&](std::int64_t j) {
        g[j - first] += weight * response[j - first];
        h[j - first] -= weight * Loss::curvature(response[j - first]);
      });
    }
  }
}

/// Stored steps of the leaves in a block.
void find_steps(const Tree& tree, const BoostParams& params, std::int64_t first, std::int64_t last, StepBlock& block);

/// GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2) of every split, weighted: summed over the outputs of the block,
/// and per feature and output in `gains`.
void find_gains(const Tree& tree, const double* output_weights, double l2, std::int64_t first, std::int64_t last,
                std::int64_t n_outputs, StepBlock& block, FeatureGains& gains);

/// Put the blocks' steps and gains into the tree.
void write_steps(const std::vector<StepBlock>& blocks, Tree& tree);

}  // namespace ramify

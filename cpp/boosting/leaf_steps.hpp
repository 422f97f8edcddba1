/// Newton steps of a tree's leaves and the gains of its splits, from the gradients of the rows it was grown on.
#pragma once

#include <cstdint>
#include <vector>

#include "boosting/boosting.hpp"

namespace ramify {

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

/// Gradients and curvatures of some rows of a leaf.
struct LeafSums {
  std::int32_t node;
  const double *gradients, *curvatures;  ///< by output
};

/// Gradients and curvatures of each leaf in outputs [first, last), then of the nodes above. The sums are exact, so
/// their order does not matter.
void sum_gradients(const Tree& tree, const std::vector<LeafSums>& leaves, std::int64_t first, std::int64_t last,
                   StepBlock& block);

/// Stored steps of the leaves in a block.
void find_steps(const Tree& tree, const BoostParams& params, std::int64_t first, std::int64_t last, StepBlock& block);

/// GL^2 / (HL + l2) + GR^2 / (HR + l2) - G^2 / (H + l2) of every split, weighted: summed over the outputs of the block,
/// and per feature and output in `gains`.
void find_gains(const Tree& tree, const double* output_weights, double l2, std::int64_t first, std::int64_t last,
                std::int64_t n_outputs, StepBlock& block, FeatureGains& gains);

/// Put the blocks' steps and gains into the tree.
void write_steps(const std::vector<StepBlock>& blocks, Tree& tree);

}  // namespace ramify

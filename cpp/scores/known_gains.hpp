/// Genie3 per output where targets are known in part: what a node gains is read from the examples, not from the leaves.
#pragma once

#include "base/parallel.hpp"
#include "features/feature_rows.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "scores/importances.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// Whether trees have bags, and whether gains are measured on the examples outside them.
struct GainOptions {
  bool bootstrap, outside;
};

/// In a node with mean mu of the known examples in the bag, unknown outputs count as mu: with p the means and s' the
/// sums of the examples measured on, it adds w (p_left s'_left + p_right s'_right - mu s'). Measured in the bag, the
/// sum over outputs is the decrease by which the tree was grown.
ScoreMatrix known_gains(const Forest& forest, const FeatureRows& rows, const LabelRows& labels,
                        const Examples& examples, GainOptions options, int n_threads, const Poll& poll);

/// The same for numbers.
ScoreMatrix known_gains(const Forest& forest, const FeatureRows& rows, const NumberRows& numbers,
                        const Examples& examples, GainOptions options, int n_threads, const Poll& poll);

}  // namespace ramify

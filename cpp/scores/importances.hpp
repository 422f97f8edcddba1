/// Feature scores from the trees alone: symbolic and Genie3, in all and per output.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "features/feature_rows.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// Mean over trees of the weight of the nodes that test a feature over the weight of the root.
std::vector<double> symbolic(const Forest& forest);

/// Mean over trees of decrease / weight of the root.
std::vector<double> genie3(const Forest& forest);

/// A sparse matrix of features x outputs, compressed by feature.
struct ScoreMatrix {
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> outputs;
  std::vector<double> values;
};

/// Genie3 output by output, from the leaves upwards; a row's sum is the feature's Genie3 score.
ScoreMatrix genie3_per_output(const Forest& forest, const double* output_weights, int n_threads, const Poll& poll);

/// The same with the gains measured on out-of-bag examples: with p the frequencies in the bag and c' the counts out of
/// it, a node adds w (p_left c'_left + p_right c'_right - p c'), whose expectation is 0 for a useless feature (Li et
/// al., "A debiased MDI feature importance measure for random forests", 2019). In-bag counts would give Genie3.
ScoreMatrix genie3_oob(const Forest& forest, const FeatureRows& rows, const LabelRows& labels, const Examples& examples,
                       int n_threads, const Poll& poll);

}  // namespace ramify

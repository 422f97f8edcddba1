/// Genie3 of numbers with the gains measured on out-of-bag examples.
#pragma once

#include <vector>

#include "base/parallel.hpp"
#include "features/feature_rows.hpp"
#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// As `genie3_oob` of labels: a node adds w (mean_left s'_left + mean_right s'_right - mean s') with the means of the
/// bag and the sums s' outside it. Features x targets, dense.
std::vector<double> genie3_oob_numbers(const Forest& forest, const FeatureRows& rows, const NumberRows& numbers,
                                       const Examples& examples, int n_threads, const Poll& poll);

}  // namespace ramify

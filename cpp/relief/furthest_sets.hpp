/// The two label sets that are furthest apart, by which distances of targets are scaled.
#pragma once

#include <cstdint>
#include <utility>

#include "base/parallel.hpp"

namespace ramify {

/// Label sets as compressed rows; the labels of a row ascend.
struct LabelSets {
  const std::int64_t* offsets;  ///< n_rows + 1
  const std::int32_t* labels;
  std::int64_t n_rows, n_labels;
};

/// The rows whose labels that only one of the two has weigh most, the lower row first; (0, 0) where no two differ. Of
/// several such pairs the first by rows. Weights are not negative.
///
/// The weight is a + b - 2c with a, b of the rows' own labels and c of those they share, each summed in the order of
/// the labels. No two rows can be further apart than a + b, so rows are compared from the heaviest on until that is
/// less than what has been found. The result is the same for every `n_threads`, and memory grows with the rows.
std::pair<std::int64_t, std::int64_t> furthest_sets(const LabelSets& sets, const double* weights, int n_threads,
                                                    const Poll& poll);

}  // namespace ramify

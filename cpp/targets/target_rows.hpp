/// What is learnt, as callers hold it: one row per example; nothing is copied.
#pragma once

#include <cstdint>

namespace ramify {

/// Label sets as compressed rows, with the weight of each label in the impurity.
struct LabelRows {
  const std::int64_t* offsets;
  const std::int32_t* labels;  ///< ascending within a row
  std::int64_t n_rows, n_labels;
  const double* label_weights;
};

/// Numbers, row-major, with the weight of each target in the impurity. Standardised by the caller.
struct NumberRows {
  const double* values;
  std::int64_t n_rows, n_targets;
  const double* target_weights;
};

}  // namespace ramify

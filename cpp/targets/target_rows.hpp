/// What is learnt, as callers hold it: one row per example; nothing is copied.
#pragma once

#include <cstdint>

namespace ramify {

/// Label sets as compressed rows, with the weight of each label in the impurity.
///
/// Labels of which it is not known whether a row has them are compressed rows of their own; in a node they count as the
/// mean of the rows that are known, which adds nothing to a centred sum.
struct LabelRows {
  const std::int64_t* offsets;
  const std::int32_t* labels;  ///< ascending within a row
  std::int64_t n_rows, n_labels;
  const double* label_weights;
  const std::int64_t* unknown_offsets = nullptr;  ///< null: all are known
  const std::int32_t* unknown = nullptr;          ///< ascending within a row, none of them among its labels

  bool partly_known() const { return unknown_offsets != nullptr; }
};

/// Numbers, row-major, with the weight of each target in the impurity. Standardised by the caller; NaN is unknown.
struct NumberRows {
  const double* values;
  std::int64_t n_rows, n_targets;
  const double* target_weights;
  bool partly_known = false;  ///< is any of them NaN?
};

}  // namespace ramify

// What the binding files of forests share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "features/feature_rows.hpp"
#include "forest/bagging.hpp"

/// Rows with the arrays they read from.
struct HeldRows {
  nb::object arrays;
  std::unique_ptr<ramify::FeatureRows> rows;
};

using OptionalRows = std::optional<InArray<std::int64_t>>;
using OptionalWeights = std::optional<InArray<double>>;

inline ramify::Examples examples_of(std::int64_t n_rows, const OptionalRows& rows, const OptionalWeights& weights) {
  if (weights && static_cast<std::int64_t>(weights->size()) != n_rows)
    throw nb::value_error("sample_weight needs one entry per row.");
  return ramify::select_examples(n_rows, rows ? rows->data() : nullptr,
                                 rows ? static_cast<std::int64_t>(rows->size()) : 0,
                                 weights ? weights->data() : nullptr);
}

inline ramify::GrowParams checked(ramify::GrowParams params) {
  if (params.n_trees < 0 || params.first_tree < 0 || params.n_threads < 1 || params.max_features < 1)
    throw nb::value_error("n_trees and first_tree must be at least 0, n_threads and max_features at least 1.");
  return params;
}

/// All trees as flat arrays, and back through the validator.
nb::dict forest_arrays(const ramify::Forest& forest);
ramify::Forest forest_from_arrays(const std::string& outcome, std::int64_t n_outputs, const nb::dict& arrays);

/// Label sets of compressed rows, checked.
ramify::LabelRows label_rows(const InArray<std::int64_t>& indptr, const InArray<std::int32_t>& indices,
                             const InArray<double>& weights);

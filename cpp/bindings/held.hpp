// The nouns that kernels take, with the arrays they read from: what the binding files of forests share.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "arrays.hpp"
#include "features/feature_rows.hpp"
#include "forest/bagging.hpp"
#include "rankings/rank_forest.hpp"
#include "targets/target_rows.hpp"

template <class Number>
using WholeRows = nb::ndarray<nb::numpy, const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Rows to send through trees.
struct HeldFeatures {
  nb::object arrays;
  std::unique_ptr<ramify::FeatureRows> rows;
};

/// Label sets.
struct HeldLabels {
  InArray<std::int64_t> indptr;
  InArray<std::int32_t> indices;
  InArray<double> weights;
  std::optional<InArray<std::int64_t>> unknown_indptr;
  std::optional<InArray<std::int32_t>> unknown_indices;
  ramify::LabelRows rows;
};

/// Numbers.
struct HeldNumbers {
  WholeRows<double> values;
  InArray<double> weights;
  ramify::NumberRows rows;
};

/// Rankings, and the criterion by which trees split them.
struct HeldRankings {
  WholeRows<std::int8_t> signs;
  std::optional<WholeRows<std::uint8_t>> compared;
  WholeRows<double> vectors;
  InArray<std::int32_t> kinds;
  std::string criterion;
  double gamma;
  ramify::RankCriterion by;
  ramify::RankingRows rows;
};

using OptionalGroups = std::optional<InArray<std::int64_t>>;
using OptionalWeights = std::optional<InArray<double>>;
using OptionalProgress = std::optional<nb::callable>;

inline ramify::Examples examples_of(std::int64_t n_rows, const OptionalWeights& weights,
                                    const OptionalGroups& groups = std::nullopt) {
  if (weights && static_cast<std::int64_t>(weights->size()) != n_rows)
    throw nb::value_error("sample_weight needs one entry per row.");
  if (groups && static_cast<std::int64_t>(groups->size()) != n_rows)
    throw nb::value_error("row_groups needs one entry per row.");
  return ramify::select_examples(n_rows, weights ? weights->data() : nullptr, groups ? groups->data() : nullptr);
}

/// What Python calls the content of the leaves.
const char* outcome_name(ramify::Outcome outcome);

/// All trees as flat arrays, and back through the validator.
nb::dict forest_arrays(const ramify::Forest& forest);
ramify::Forest forest_from_arrays(const std::string& outcome, std::int64_t n_outputs, const nb::dict& arrays);

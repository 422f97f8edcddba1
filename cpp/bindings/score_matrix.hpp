// Scores of features x outputs as CSR arrays.
#pragma once

#include <tuple>
#include <utility>

#include "arrays.hpp"
#include "scores/importances.hpp"

/// data, indices, indptr
using CompressedScores = std::tuple<OutArray<double>, OutArray<std::int32_t>, OutArray<std::int64_t>>;

inline CompressedScores compressed(ramify::ScoreMatrix&& scores) {
  return {to_numpy(std::move(scores.values)), to_numpy(std::move(scores.outputs)), to_numpy(std::move(scores.offsets))};
}

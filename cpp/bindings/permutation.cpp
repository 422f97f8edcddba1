// The Random Forest score of labels, numbers and rankings.
#include "scores/permutation.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <string>

#include "held.hpp"
#include "rankings/rank_permutation.hpp"
#include "score_matrix.hpp"

using namespace ramify;

namespace {

using Increases = std::tuple<OutArray<double>, CompressedScores>;

Increases in_arrays(LabelIncreases&& found) {
  return {to_numpy(std::move(found.scores)), compressed(std::move(found.per_label))};
}

LabelError label_error(const std::string& name) {
  if (name == "auprc") return LabelError::auprc;
  if (name == "brier") return LabelError::brier;
  if (name == "hamming") return LabelError::hamming;
  if (name == "misclassification") return LabelError::misclassification;
  throw nb::value_error("error is 'auprc', 'brier', 'hamming' or 'misclassification'.");
}

Increases bind_permutation_labels(const Forest& forest, const FeatureTable& table, const HeldLabels& target,
                                  const std::string& error, bool per_output, const OptionalWeights& sample_weight,
                                  const OptionalGroups& row_groups, int n_threads, OptionalProgress progress) {
  const Examples examples = examples_of(table.n_rows(), sample_weight, row_groups);
  const LabelError kind = label_error(error);
  return in_arrays(Patience(std::move(progress)).run([&](const Poll& poll) {
    return permutation_labels(forest, table, target.rows, kind, per_output, examples, threads(n_threads), poll);
  }));
}

Increases bind_permutation_numbers(const Forest& forest, const FeatureTable& table, const HeldNumbers& target,
                                   bool per_output, const OptionalWeights& sample_weight,
                                   const OptionalGroups& row_groups, int n_threads, OptionalProgress progress) {
  const Examples examples = examples_of(table.n_rows(), sample_weight, row_groups);
  return in_arrays(Patience(std::move(progress)).run([&](const Poll& poll) {
    return permutation_numbers(forest, table, target.rows, per_output, examples, threads(n_threads), poll);
  }));
}

std::tuple<OutArray<double>, OutArray<double>> bind_permutation_rankings(
    const Forest& forest, const FeatureTable& table, const HeldRankings& target, const OptionalWeights& sample_weight,
    const OptionalGroups& row_groups, int n_threads, OptionalProgress progress) {
  const Examples examples = examples_of(table.n_rows(), sample_weight, row_groups);
  RankingIncreases found = Patience(std::move(progress)).run([&](const Poll& poll) {
    return permutation_rankings(forest, table, target.rows, examples, threads(n_threads), poll);
  });
  const std::size_t n_features = found.scores.size();
  return {to_numpy(std::move(found.scores)), to_numpy(std::move(found.pair_scores), n_features, target.rows.n_pairs)};
}

}  // namespace

void bind_permutation(nb::module_& m) {
  m.def("permutation", &bind_permutation_labels, "forest"_a, "table"_a, "target"_a, nb::kw_only(), "error"_a,
        "per_output"_a, "sample_weight"_a.noconvert().none(), "row_groups"_a.noconvert().none(), "n_threads"_a,
        "progress"_a.none(),
        R"(Random Forest score per feature: mean over trees of (err permuted - err) / err on out-of-bag rows.

``error`` is "auprc" (1 - pooled AUPRC), "brier", "hamming" or "misclassification" (one label per row). With ``per_output`` also the
mean over trees of the increase of the Brier score: CSR (data, indices, indptr), features x labels; else empty.)");
  m.def("permutation", &bind_permutation_numbers, "forest"_a, "table"_a, "target"_a, nb::kw_only(), "per_output"_a,
        "sample_weight"_a.noconvert().none(), "row_groups"_a.noconvert().none(), "n_threads"_a, "progress"_a.none(),
        "By the weighted mean squared error, and per output the increase of its own.");
  m.def("permutation", &bind_permutation_rankings, "forest"_a, "table"_a, "target"_a, nb::kw_only(),
        "sample_weight"_a.noconvert().none(), "row_groups"_a.noconvert().none(), "n_threads"_a, "progress"_a.none(),
        "By 1 - tau-b, and the increase of the Brier score per pair: dense (n_features, n_pairs).");
}

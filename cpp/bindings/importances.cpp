// Feature scores of forests.
#include "scores/importances.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "forests.hpp"
#include "scores/permutation.hpp"

using namespace ramify;

namespace {

nb::tuple to_tuple(ScoreMatrix&& scores) {
  return nb::make_tuple(to_numpy(std::move(scores.values)), to_numpy(std::move(scores.outputs)),
                        to_numpy(std::move(scores.offsets)));
}

nb::tuple bind_genie3_per_output(const Forest& forest, const InArray<double>& output_weights, int n_threads) {
  if (static_cast<std::int64_t>(output_weights.size()) != forest.n_outputs)
    throw nb::value_error("output_weights needs one entry per output.");
  return to_tuple(Patience().run(
      [&](const Poll& poll) { return genie3_per_output(forest, output_weights.data(), threads(n_threads), poll); }));
}

nb::tuple bind_genie3_oob(const Forest& forest, const HeldRows& rows, const InArray<std::int64_t>& indptr,
                          const InArray<std::int32_t>& indices, const InArray<double>& output_weights,
                          const OptionalRows& bag_rows, const OptionalWeights& sample_weight, int n_threads) {
  const LabelRows labels = label_rows(indptr, indices, output_weights);
  const Examples examples = examples_of(rows.rows->n_rows(), bag_rows, sample_weight);
  return to_tuple(Patience().run(
      [&](const Poll& poll) { return genie3_oob(forest, *rows.rows, labels, examples, threads(n_threads), poll); }));
}

std::vector<double> unit_weights(const Forest& forest) {
  return std::vector<double>(static_cast<std::size_t>(forest.n_outputs), 1.0);
}

/// Label sets whose weights play no part.
LabelRows unweighted(const InArray<std::int64_t>& indptr, const InArray<std::int32_t>& indices,
                     const std::vector<double>& ones) {
  const std::size_t shape[1] = {ones.size()};
  return label_rows(indptr, indices, InArray<double>(ones.data(), 1, shape, nb::handle()));
}

nb::tuple bind_permutation_labels(const Forest& forest, const FeatureTable& table, const InArray<std::int64_t>& indptr,
                                  const InArray<std::int32_t>& indices, const std::string& error, bool per_label,
                                  const OptionalRows& bag_rows, const OptionalWeights& sample_weight, int n_threads,
                                  std::optional<nb::callable> progress) {
  if (error != "auprc" && error != "misclassification")
    throw nb::value_error("error is 'auprc' or 'misclassification'.");
  const std::vector<double> ones = unit_weights(forest);
  const LabelRows labels = unweighted(indptr, indices, ones);
  const Examples examples = examples_of(table.n_rows(), bag_rows, sample_weight);
  const LabelError kind = error == "auprc" ? LabelError::auprc : LabelError::misclassification;
  LabelIncreases found = Patience(std::move(progress)).run([&](const Poll& poll) {
    return permutation_labels(forest, table, labels, kind, per_label, examples, threads(n_threads), poll);
  });
  return nb::make_tuple(to_numpy(std::move(found.scores)), to_tuple(std::move(found.per_label)));
}

nb::tuple bind_permutation_numbers(const Forest& forest, const FeatureTable& table,
                                   const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& values,
                                   const InArray<double>& target_weights, bool per_target, const OptionalRows& bag_rows,
                                   const OptionalWeights& sample_weight, int n_threads,
                                   std::optional<nb::callable> progress) {
  if (values.shape(1) != target_weights.size()) throw nb::value_error("target_weights needs one entry per target.");
  const NumberRows numbers{values.data(), static_cast<std::int64_t>(values.shape(0)),
                           static_cast<std::int64_t>(values.shape(1)), target_weights.data()};
  const Examples examples = examples_of(table.n_rows(), bag_rows, sample_weight);
  LabelIncreases found = Patience(std::move(progress)).run([&](const Poll& poll) {
    return permutation_numbers(forest, table, numbers, per_target, examples, threads(n_threads), poll);
  });
  return nb::make_tuple(to_numpy(std::move(found.scores)), to_tuple(std::move(found.per_label)));
}

OutArray<double> bind_genie3_oob_numbers(
    const Forest& forest, const HeldRows& rows,
    const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& values,
    const InArray<double>& target_weights, const OptionalRows& bag_rows, const OptionalWeights& sample_weight,
    int n_threads) {
  if (values.shape(1) != target_weights.size()) throw nb::value_error("target_weights needs one entry per target.");
  const NumberRows numbers{values.data(), static_cast<std::int64_t>(values.shape(0)),
                           static_cast<std::int64_t>(values.shape(1)), target_weights.data()};
  const Examples examples = examples_of(rows.rows->n_rows(), bag_rows, sample_weight);
  auto scores = Patience().run([&](const Poll& poll) {
    return genie3_oob_numbers(forest, *rows.rows, numbers, examples, threads(n_threads), poll);
  });
  return to_numpy(std::move(scores), static_cast<std::size_t>(forest.n_features()), values.shape(1));
}

}  // namespace

void bind_importances(nb::module_& m) {
  m.def("symbolic", [](const Forest& forest) { return to_numpy(symbolic(forest)); }, "forest"_a);
  m.def("genie3", [](const Forest& forest) { return to_numpy(genie3(forest)); }, "forest"_a);
  m.def("genie3_per_output", &bind_genie3_per_output, "forest"_a, nb::kw_only(), "output_weights"_a.noconvert(),
        "n_threads"_a);
  m.def("genie3_oob", &bind_genie3_oob, "forest"_a, "rows"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(),
        nb::kw_only(), "output_weights"_a.noconvert(), "bag_rows"_a.noconvert().none(),
        "sample_weight"_a.noconvert().none(), "n_threads"_a);
  m.def("genie3_oob_numbers", &bind_genie3_oob_numbers, "forest"_a, "rows"_a, "values"_a.noconvert(), nb::kw_only(),
        "target_weights"_a.noconvert(), "bag_rows"_a.noconvert().none(), "sample_weight"_a.noconvert().none(),
        "n_threads"_a);
  m.def("permutation_labels", &bind_permutation_labels, "forest"_a, "table"_a, "indptr"_a.noconvert(),
        "indices"_a.noconvert(), nb::kw_only(), "error"_a, "per_label"_a, "bag_rows"_a.noconvert().none(),
        "sample_weight"_a.noconvert().none(), "n_threads"_a, "progress"_a.none());
  m.def("permutation_numbers", &bind_permutation_numbers, "forest"_a, "table"_a, "values"_a.noconvert(), nb::kw_only(),
        "target_weights"_a.noconvert(), "per_target"_a, "bag_rows"_a.noconvert().none(),
        "sample_weight"_a.noconvert().none(), "n_threads"_a, "progress"_a.none());
}

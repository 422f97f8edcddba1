// Feature scores from the trees: symbolic and Genie3.
#include "scores/importances.hpp"

#include <nanobind/stl/tuple.h>

#include "held.hpp"
#include "score_matrix.hpp"
#include "scores/known_gains.hpp"
#include "scores/oob_number_gains.hpp"

using namespace ramify;

namespace {

CompressedScores bind_genie3_per_output(const Forest& forest, const InArray<double>& output_weights, int n_threads) {
  if (static_cast<std::int64_t>(output_weights.size()) != forest.n_outputs)
    throw nb::value_error("output_weights needs one entry per output.");
  return compressed(Patience().run(
      [&](const Poll& poll) { return genie3_per_output(forest, output_weights.data(), threads(n_threads), poll); }));
}

CompressedScores bind_genie3_oob(const Forest& forest, const HeldFeatures& rows, const HeldLabels& target,
                                 const OptionalWeights& sample_weight, const OptionalGroups& row_groups,
                                 int n_threads) {
  const Examples examples = examples_of(rows.rows->n_rows(), sample_weight, row_groups);
  return compressed(Patience().run([&](const Poll& poll) {
    return genie3_oob(forest, *rows.rows, target.rows, examples, threads(n_threads), poll);
  }));
}

template <class Target>
CompressedScores bind_genie3_known(const Forest& forest, const HeldFeatures& rows, const Target& target, bool bootstrap,
                                   bool outside, const OptionalWeights& sample_weight, const OptionalGroups& row_groups,
                                   int n_threads) {
  const Examples examples = examples_of(rows.rows->n_rows(), sample_weight, row_groups);
  return compressed(Patience().run([&](const Poll& poll) {
    return known_gains(forest, *rows.rows, target.rows, examples, {bootstrap, outside}, threads(n_threads), poll);
  }));
}

template <class Target>
void def_genie3_known(nb::module_& m, const char* text) {
  m.def("genie3_known", &bind_genie3_known<Target>, "forest"_a, "rows"_a, "target"_a, nb::kw_only(), "bootstrap"_a,
        "outside"_a, "sample_weight"_a.noconvert().none(), "row_groups"_a.noconvert().none(), "n_threads"_a, text);
}

OutArray<double> bind_genie3_oob_numbers(const Forest& forest, const HeldFeatures& rows, const HeldNumbers& target,
                                         const OptionalWeights& sample_weight, const OptionalGroups& row_groups,
                                         int n_threads) {
  const Examples examples = examples_of(rows.rows->n_rows(), sample_weight, row_groups);
  auto scores = Patience().run([&](const Poll& poll) {
    return genie3_oob_numbers(forest, *rows.rows, target.rows, examples, threads(n_threads), poll);
  });
  return to_numpy(std::move(scores), forest.n_features(), target.rows.n_targets);
}

template <class Scores>
void def_genie3_oob(nb::module_& m, Scores scores, const char* text) {
  m.def("genie3_oob", scores, "forest"_a, "rows"_a, "target"_a, nb::kw_only(), "sample_weight"_a.noconvert().none(),
        "row_groups"_a.noconvert().none(), "n_threads"_a, text);
}

}  // namespace

void bind_importances(nb::module_& m) {
  m.def(
      "symbolic", [](const Forest& forest) { return to_numpy(symbolic(forest)); }, "forest"_a,
      "Mean over trees of the share of examples that reach the nodes that test a feature.");
  m.def(
      "genie3", [](const Forest& forest) { return to_numpy(genie3(forest)); }, "forest"_a,
      "Mean over trees of decrease / weight of the root, per feature.");
  m.def("genie3", &bind_genie3_per_output, "forest"_a, nb::kw_only(), "output_weights"_a.noconvert(), "n_threads"_a,
        "The same per output: CSR (data, indices, indptr) of features x outputs, whose rows sum to the scores of all.");
  def_genie3_oob(m, &bind_genie3_oob,
                 "``genie3`` per output with the gains of the same splits on out-of-bag examples (may be negative).");
  def_genie3_oob(m, &bind_genie3_oob_numbers, "For numbers: dense (n_features, n_targets).");
  def_genie3_known<HeldLabels>(
      m,
      "Genie3 per output of partly known targets, from the examples that the forest was grown on; ``outside`` measures "
      "the\ngains on out-of-bag examples.");
  def_genie3_known<HeldNumbers>(m, "For numbers.");
}

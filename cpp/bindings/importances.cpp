// Feature scores of forests.
#include "ramify/importances.hpp"

#include "forests.hpp"

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
      [&](const Poll& poll) { return genie3_per_output(forest, output_weights.data(), n_threads, poll); }));
}

nb::tuple bind_genie3_oob(const Forest& forest, const HeldRows& rows, const InArray<std::int64_t>& indptr,
                          const InArray<std::int32_t>& indices, const InArray<double>& output_weights,
                          const OptionalRows& bag_rows, const OptionalWeights& sample_weight, int n_threads) {
  const LabelRows labels = label_rows(indptr, indices, output_weights);
  const Examples examples = examples_of(rows.rows->n_rows(), bag_rows, sample_weight);
  return to_tuple(Patience().run(
      [&](const Poll& poll) { return genie3_oob(forest, *rows.rows, labels, examples, n_threads, poll); }));
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
}

// What redrawn features do to out-of-bag errors.
#include "scores/redraw.hpp"

#include <nanobind/stl/tuple.h>

#include "checks.hpp"
#include "held.hpp"

using namespace ramify;

namespace {

using Cube = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Sums = std::tuple<OutArray<double>, OutArray<double>, OutArray<double>, OutArray<double>, OutArray<double>,
                        OutArray<double>>;

/// What is redrawn and looked at, checked.
struct Question {
  Redraws redraws;
  RedrawScope scope;
  Examples examples;

  Question(const FeatureTable& table, const InArray<std::int64_t>& unit_offsets,
           const InArray<std::int32_t>& unit_features, const Cube& draws, const InArray<std::int32_t>& outputs,
           const InArray<double>& row_weights, const OptionalWeights& sample_weight, const OptionalGroups& row_groups)
      : redraws{static_cast<std::int64_t>(unit_offsets.size()) - 1,
                static_cast<std::int64_t>(draws.shape(0)),
                static_cast<std::int64_t>(draws.shape(1)),
                static_cast<std::int64_t>(draws.shape(2)),
                unit_offsets.data(),
                unit_features.data(),
                draws.data()},
        scope{{outputs.data(), outputs.data() + outputs.size()}, row_weights.data()},
        examples(examples_of(table.n_rows(), sample_weight, row_groups)) {
    require_offsets(unit_offsets, unit_features.size(), "unit_offsets");
    require(unit_features.size() == draws.shape(1), "There must be a redrawn column for each feature of a unit.");
    require(draws.shape(0) > 0, "At least one draw is needed.");
    require(static_cast<std::int64_t>(row_weights.size()) == table.n_rows(), "row_weights needs one entry per row.");
  }
};

RedrawSums sums_of(const Forest& forest, const FeatureTable& table, const HeldLabels& target, const Question& question,
                   const double* residuals, int n_threads, const Poll& poll) {
  return redraw_labels(forest, table, target.rows, question.examples, question.redraws, question.scope, residuals,
                       n_threads, poll);
}

RedrawSums sums_of(const Forest& forest, const FeatureTable& table, const HeldNumbers& target, const Question& question,
                   const double* residuals, int n_threads, const Poll& poll) {
  return redraw_numbers(forest, table, target.rows, question.examples, question.redraws, question.scope, residuals,
                        n_threads, poll);
}

std::vector<double> rows_of(const Forest& forest, const FeatureTable& table, const HeldLabels& target,
                            const Question& question, std::int64_t first, std::int64_t last, int n_threads,
                            const Poll& poll) {
  return redraw_rows_labels(forest, table, target.rows, question.examples, question.redraws, question.scope, first,
                            last, n_threads, poll);
}

std::vector<double> rows_of(const Forest& forest, const FeatureTable& table, const HeldNumbers& target,
                            const Question& question, std::int64_t first, std::int64_t last, int n_threads,
                            const Poll& poll) {
  return redraw_rows_numbers(forest, table, target.rows, question.examples, question.redraws, question.scope, first,
                             last, n_threads, poll);
}

template <class Target>
Sums bind_redraw_sums(const Forest& forest, const FeatureTable& table, const Target& target,
                      const InArray<std::int64_t>& unit_offsets, const InArray<std::int32_t>& unit_features,
                      const Cube& draws, const InArray<std::int32_t>& outputs, const InArray<double>& row_weights,
                      const Matrix& residuals, const OptionalWeights& sample_weight, const OptionalGroups& row_groups,
                      int n_threads, OptionalProgress progress) {
  const Question question(table, unit_offsets, unit_features, draws, outputs, row_weights, sample_weight, row_groups);
  require(static_cast<std::int64_t>(residuals.shape(0)) == question.redraws.n_units &&
              static_cast<std::int64_t>(residuals.shape(1)) == question.redraws.n_rows,
          "residuals must be units x rows.");
  RedrawSums sums = Patience(std::move(progress)).run([&](const Poll& poll) {
    return sums_of(forest, table, target, question, residuals.data(), threads(n_threads), poll);
  });
  const auto matrix = [&](std::vector<double>& values) {
    return to_numpy(std::move(values), question.redraws.n_units, question.scope.outputs.size());
  };
  return {matrix(sums.change),   matrix(sums.weighted_change), matrix(sums.square),
          matrix(sums.residual), matrix(sums.shift),           matrix(sums.spread)};
}

template <class Target>
OutArray<double> bind_redraw_rows(const Forest& forest, const FeatureTable& table, const Target& target,
                                  const InArray<std::int64_t>& unit_offsets, const InArray<std::int32_t>& unit_features,
                                  const Cube& draws, const InArray<std::int32_t>& outputs,
                                  const InArray<double>& row_weights, std::int64_t first_row, std::int64_t last_row,
                                  const OptionalWeights& sample_weight, const OptionalGroups& row_groups,
                                  int n_threads) {
  const Question question(table, unit_offsets, unit_features, draws, outputs, row_weights, sample_weight, row_groups);
  require_range(first_row, last_row, table.n_rows());
  auto changes = Patience().run([&](const Poll& poll) {
    return rows_of(forest, table, target, question, first_row, last_row, threads(n_threads), poll);
  });
  return to_numpy(std::move(changes), question.redraws.n_units, last_row - first_row, question.scope.outputs.size());
}

template <class Target>
void def_redraw(nb::module_& m, const char* sums_text, const char* rows_text) {
  m.def("redraw_sums", &bind_redraw_sums<Target>, "forest"_a, "table"_a, "target"_a, nb::kw_only(),
        "unit_offsets"_a.noconvert(), "unit_features"_a.noconvert(), "draws"_a.noconvert(), "outputs"_a.noconvert(),
        "row_weights"_a.noconvert(), "residuals"_a.noconvert(), "sample_weight"_a.noconvert().none(),
        "row_groups"_a.noconvert().none(), "n_threads"_a, "progress"_a.none(), sums_text);
  m.def("redraw_rows", &bind_redraw_rows<Target>, "forest"_a, "table"_a, "target"_a, nb::kw_only(),
        "unit_offsets"_a.noconvert(), "unit_features"_a.noconvert(), "draws"_a.noconvert(), "outputs"_a.noconvert(),
        "row_weights"_a.noconvert(), "first_row"_a, "last_row"_a, "sample_weight"_a.noconvert().none(),
        "row_groups"_a.noconvert().none(), "n_threads"_a, rows_text);
}

}  // namespace

void bind_redraw(nb::module_& m) {
  def_redraw<HeldLabels>(m,
                         R"(Sums over out-of-bag rows of what redrawn columns do, each units x outputs.

``draws`` is draws x columns x rows; unit u redraws the features ``unit_features[unit_offsets[u]:unit_offsets[u + 1]]``.
With D the mean change of a row's squared error, d that of its prediction p, w its weight, r its residual, S the sum of
w D over a group of rows and m that of w: S, m S and S^2 over groups; r d, d and 2 p d + d^2 over rows. ``sample_weight`` and ``row_groups`` are what the forest was grown with.)",
                         "D of each row and output: units x rows x outputs.");
  def_redraw<HeldNumbers>(m, "For numbers; NaN is unknown and changes nothing.", "For numbers.");
}

// Forests: taking them apart, and predicting with them.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "checks.hpp"
#include "forest/forest.hpp"
#include "forest/predictor.hpp"
#include "held.hpp"

using namespace ramify;

namespace {

OutArray<double> bind_predict(const Forest& forest, const HeldFeatures& rows, std::int64_t first_row,
                              std::int64_t last_row, int n_threads) {
  require_range(first_row, last_row, rows.rows->n_rows());
  std::vector<double> out(static_cast<std::size_t>((last_row - first_row) * forest.n_outputs));
  Patience().run([&](const Poll& poll) {
    predict(forest, *rows.rows, {first_row, last_row}, threads(n_threads), poll, out.data());
    return 0;
  });
  return to_numpy(std::move(out), static_cast<std::size_t>(last_row - first_row),
                  static_cast<std::size_t>(forest.n_outputs));
}

std::tuple<OutArray<double>, OutArray<std::int32_t>, OutArray<std::int64_t>> bind_predict_sparse(
    const Forest& forest, const HeldFeatures& rows, double threshold, std::int64_t first_row, std::int64_t last_row,
    int n_threads) {
  require_range(first_row, last_row, rows.rows->n_rows());
  SparsePrediction result = Patience().run([&](const Poll& poll) {
    return predict_sparse(forest, *rows.rows, {first_row, last_row}, threshold, threads(n_threads), poll);
  });
  return std::make_tuple(to_numpy(std::move(result.values)), to_numpy(std::move(result.labels)),
                         to_numpy(std::move(result.offsets)));
}

std::tuple<OutArray<std::int32_t>, OutArray<double>> bind_predict_top(const Forest& forest, const HeldFeatures& rows,
                                                                      std::int64_t top, std::int64_t first_row,
                                                                      std::int64_t last_row, int n_threads) {
  require_range(first_row, last_row, rows.rows->n_rows());
  require(top >= 1 && top <= forest.n_outputs, "top must be from 1 to the number of outputs.");
  const auto n_rows = static_cast<std::size_t>(last_row - first_row), n_top = static_cast<std::size_t>(top);
  std::vector<std::int32_t> outputs(n_rows * n_top);
  std::vector<double> values(n_rows * n_top);
  Patience().run([&](const Poll& poll) {
    predict_top(forest, *rows.rows, {first_row, last_row}, top, threads(n_threads), poll, outputs.data(),
                values.data());
    return 0;
  });
  return std::make_tuple(to_numpy(std::move(outputs), n_rows, n_top), to_numpy(std::move(values), n_rows, n_top));
}

OutArray<std::int32_t> bind_apply(const Forest& forest, const HeldFeatures& rows, int n_threads) {
  const auto n_rows = static_cast<std::size_t>(rows.rows->n_rows()),
             n_trees = static_cast<std::size_t>(forest.n_trees());
  std::vector<std::int32_t> out(n_rows * n_trees);
  Patience().run([&](const Poll& poll) {
    apply(forest, *rows.rows, threads(n_threads), poll, out.data());
    return 0;
  });
  return to_numpy(std::move(out), n_rows, n_trees);
}

std::tuple<OutArray<double>, OutArray<std::int32_t>> bind_predict_oob(const Forest& forest, const HeldFeatures& rows,
                                                                      const OptionalWeights& sample_weight,
                                                                      const OptionalGroups& row_groups,
                                                                      std::int64_t first_row, std::int64_t last_row,
                                                                      int n_threads) {
  require_range(first_row, last_row, rows.rows->n_rows());
  const auto n_rows = static_cast<std::size_t>(last_row - first_row);
  const Examples examples = examples_of(rows.rows->n_rows(), sample_weight, row_groups);
  std::vector<double> out(n_rows * static_cast<std::size_t>(forest.n_outputs));
  std::vector<std::int32_t> n_trees(n_rows);
  Patience().run([&](const Poll& poll) {
    predict_oob(forest, *rows.rows, examples, {first_row, last_row}, threads(n_threads), poll, out.data(),
                n_trees.data());
    return 0;
  });
  return std::make_tuple(to_numpy(std::move(out), n_rows, static_cast<std::size_t>(forest.n_outputs)),
                         to_numpy(std::move(n_trees)));
}

std::tuple<OutArray<double>, double> bind_contributions(const Forest& forest, const HeldFeatures& rows,
                                                        std::int64_t output, int n_threads) {
  const auto n_rows = static_cast<std::size_t>(rows.rows->n_rows()),
             n_features = static_cast<std::size_t>(forest.n_features());
  std::vector<double> out(n_rows * n_features, 0.0);
  const double roots = Patience().run([&](const Poll& poll) {
    return contributions(forest, *rows.rows, output, threads(n_threads), poll, out.data());
  });
  return std::make_tuple(to_numpy(std::move(out), n_rows, n_features), roots);
}

}  // namespace

void bind_forests(nb::module_& m) {
  nb::class_<Forest>(
      m, "Forest",
      "Trees over the same features and outputs. Immutable; sharing makes ``first`` and ``concatenate`` cheap.")
      .def(
          "__init__",
          [](Forest* self, const std::string& outcome, std::int64_t n_outputs, const nb::dict& arrays) {
            new (self) Forest(forest_from_arrays(outcome, n_outputs, arrays));
          },
          nb::kw_only(), "outcome"_a, "n_outputs"_a, "arrays"_a,
          "The inverse of ``arrays``; every invariant is checked first, a ValueError names the broken one.")
      .def_prop_ro(
          "outcome", [](const Forest& forest) { return outcome_name(forest.outcome); },
          "\"labels\": leaves hold label frequencies. \"numbers\": leaves hold means (also of ranks). \"steps\": "
          "leaves hold "
          "what is added to outputs.")
      .def_ro("n_outputs", &Forest::n_outputs)
      .def_prop_ro("n_trees", &Forest::n_trees)
      .def_prop_ro("n_features", &Forest::n_features)
      .def_prop_ro("n_bytes", &Forest::n_bytes)
      .def_prop_ro(
          "n_categories", [](const Forest& forest) { return to_numpy(std::vector<std::int32_t>(forest.n_categories)); },
          nb::rv_policy::move)
      .def("first", &Forest::first, "n_trees"_a, "The first trees as a forest of their own, sharing memory.")
      .def(
          "part",
          [](const Forest& forest, std::int64_t first_tree, std::int64_t last_tree) {
            if (first_tree < 0 || first_tree > last_tree || last_tree > forest.n_trees())
              throw nb::value_error("A part must lie within the forest.");
            Forest part = forest;
            part.trees.assign(forest.trees.begin() + first_tree, forest.trees.begin() + last_tree);
            return part;
          },
          "first_tree"_a, "last_tree"_a, "The trees [first_tree, last_tree) as a forest of their own, sharing memory.")
      .def_static("concatenate", &concatenate, "forests"_a,
                  "The trees of all forests in order: blocks [a, b) and [b, c) give the bits of [a, c).")
      .def("arrays", &forest_arrays, nb::sig("def arrays(self) -> dict[str, NDArray]"),
           R"(Everything as flat arrays (copies), tree after tree.

- ``n_categories`` int32 (n_features,)
- ``seeds`` uint64 (n_trees,)
- ``tree_nodes`` int64 (n_trees + 1,): where each tree's nodes begin; node ids below count from there
- ``feature`` int32: tested feature, of a combination the heaviest, -1 in a leaf
- ``threshold`` float64: numeric values, or combinations, <= threshold go left
- ``child`` int32: left child, the right one is ``child + 1``; in a leaf its row among the tree's leaves
- ``subset`` int32: of a nominal test, the subset (counted in the tree) of categories that goes left; of combination c
  (counted in the tree) -2 - c; else -1
- ``missing_left`` uint8: 1 if missing values go left
- ``weight`` float64: weight of the in-bag examples that reach the node
- ``decrease`` float64: weight * impurity less that of both children; of steps the gain
- ``tree_subsets`` int64 (n_trees + 1,), ``subset_offsets`` int64, ``subset_words`` uint64: bit c = category c
- ``tree_combinations`` int64 (n_trees + 1,), ``combination_offsets`` int64 into ``combination_features`` int32, which
  ascend in a combination, and ``combination_weights``, ``combination_centres`` and ``combination_scales`` float64: the
  sum of weight * (value - centre) / scale, to which missing values add nothing; only where some node combines
- ``tree_leaves`` int64 (n_trees + 1,): where each tree's leaves begin
- labels: ``leaf_offsets`` int64 (n_leaves + 1,) into ``leaf_labels`` int32; ``leaf_partial`` int64
  (n_leaves + 1,) into ``leaf_counts`` float64. A leaf's labels are first those that all its examples have,
  then, as many as it has counts, those that only some have, with their weighted counts. Both parts ascend.
- numbers: ``leaf_values`` float64 (n_leaves, n_outputs)
- steps: ``leaf_offsets`` int64 (n_leaves + 1,) into ``leaf_labels`` int32, ascending in a leaf, and ``leaf_values``
  float64)");
  m.def("predict", &bind_predict, "forest"_a, "rows"_a, nb::kw_only(), "first_row"_a, "last_row"_a, "n_threads"_a,
        "Mean over trees (sum of steps) for rows [first_row, last_row): (rows, n_outputs).");
  m.def("predict", &bind_predict_sparse, "forest"_a, "rows"_a, nb::kw_only(), "threshold"_a, "first_row"_a,
        "last_row"_a, "n_threads"_a,
        "For labels, keeping probabilities > 0 and >= threshold: CSR (data, indices, indptr).");
  m.def("predict", &bind_predict_top, "forest"_a, "rows"_a, nb::kw_only(), "top"_a, "first_row"_a, "last_row"_a,
        "n_threads"_a, "For labels, the largest of each row: outputs and values, (rows, top) each.");
  m.def("apply", &bind_apply, "forest"_a, "rows"_a, nb::kw_only(), "n_threads"_a,
        "The leaf that each row reaches: (n_rows, n_trees), node ids within the tree.");
  m.def("predict_oob", &bind_predict_oob, "forest"_a, "rows"_a, nb::kw_only(), "sample_weight"_a.noconvert().none(),
        "row_groups"_a.noconvert().none(), "first_row"_a, "last_row"_a, "n_threads"_a,
        R"(Mean over the trees whose bag lacks the row (NaN where none) and how many those are.

``rows`` are the training rows, ``sample_weight`` and ``row_groups`` those of growing.)");
  m.def("contributions", &bind_contributions, "forest"_a, "rows"_a, nb::kw_only(), "output"_a, "n_threads"_a,
        R"(What each feature added to the prediction of one output: (n_rows, n_features) and the mean of the roots.

Row sum + the mean of the roots is the prediction.)");
}

// Growing forests, predicting with them and taking them apart.
#include "forests.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string>

#include "checks.hpp"
#include "forest/forest.hpp"
#include "forest/predictor.hpp"

using namespace ramify;

LabelRows label_rows(const InArray<std::int64_t>& indptr, const InArray<std::int32_t>& indices,
                     const InArray<double>& weights) {
  if (indptr.size() == 0 || indptr(0) != 0 || indptr(indptr.size() - 1) != static_cast<std::int64_t>(indices.size()))
    throw nb::value_error("The pointers of the label sets do not span them.");
  for (std::size_t i = 1; i < indptr.size(); ++i) {
    if (indptr(i) < indptr(i - 1)) throw nb::value_error("The pointers of the label sets must ascend.");
    for (std::int64_t p = indptr(i - 1); p < indptr(i); ++p) {
      const std::int32_t label = indices.data()[p];
      if (label < 0 || label >= static_cast<std::int64_t>(weights.size()))
        throw nb::value_error("A label lies outside the label weights.");
      if (p > indptr(i - 1) && label <= indices.data()[p - 1])
        throw nb::value_error("The labels of a row must ascend.");
    }
  }
  for (std::size_t j = 0; j < weights.size(); ++j) {
    if (!(weights(j) >= 0) || weights(j) > 1e300)
      throw nb::value_error("Output weights must be finite and at least 0.");
  }
  return {indptr.data(), indices.data(), static_cast<std::int64_t>(indptr.size()) - 1,
          static_cast<std::int64_t>(weights.size()), weights.data()};
}

namespace {

/// The arguments that every kind of target has.
template <class Grow, class... Leading>
void def_grow(nb::module_& m, const char* name, Grow grow, Leading... leading) {
  m.def(name, grow, "table"_a, leading..., nb::kw_only(), "rows"_a.noconvert().none(),
        "sample_weight"_a.noconvert().none(), "seed"_a, "first_tree"_a, "n_trees"_a, "max_features"_a, "bootstrap"_a,
        "random_splits"_a, "max_depth"_a, "min_samples_split"_a, "min_samples_leaf"_a, "min_impurity_decrease"_a,
        "min_weight_fraction_leaf"_a, "n_threads"_a, "progress"_a.none());
}

Forest bind_grow_labels(const FeatureTable& table, const InArray<std::int64_t>& indptr,
                        const InArray<std::int32_t>& indices, const InArray<double>& label_weights,
                        const OptionalRows& rows, const OptionalWeights& sample_weight, std::uint64_t seed,
                        std::int64_t first_tree, std::int64_t n_trees, std::int64_t max_features, bool bootstrap,
                        bool random_splits, std::int64_t max_depth, std::int64_t min_samples_split,
                        std::int64_t min_samples_leaf, double min_impurity_decrease, double min_weight_fraction_leaf,
                        int n_threads, std::optional<nb::callable> progress) {
  const GrowParams params =
      checked({seed, first_tree, n_trees, max_features, bootstrap, random_splits, max_depth, min_samples_split,
               min_samples_leaf, min_impurity_decrease, n_threads, false, min_weight_fraction_leaf});
  const LabelRows target = label_rows(indptr, indices, label_weights);
  const Examples examples = examples_of(table.n_rows(), rows, sample_weight);
  return Patience(std::move(progress)).run([&](const Poll& poll) {
    return grow_labels(table, target, examples, params, poll);
  });
}

Forest bind_grow_numbers(const FeatureTable& table,
                         const nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>& values,
                         const InArray<double>& target_weights, const OptionalRows& rows,
                         const OptionalWeights& sample_weight, std::uint64_t seed, std::int64_t first_tree,
                         std::int64_t n_trees, std::int64_t max_features, bool bootstrap, bool random_splits,
                         std::int64_t max_depth, std::int64_t min_samples_split, std::int64_t min_samples_leaf,
                         double min_impurity_decrease, double min_weight_fraction_leaf, int n_threads,
                         std::optional<nb::callable> progress) {
  const GrowParams params =
      checked({seed, first_tree, n_trees, max_features, bootstrap, random_splits, max_depth, min_samples_split,
               min_samples_leaf, min_impurity_decrease, n_threads, false, min_weight_fraction_leaf});
  if (values.shape(1) != target_weights.size()) throw nb::value_error("target_weights needs one entry per target.");
  const NumberRows target{values.data(), static_cast<std::int64_t>(values.shape(0)),
                          static_cast<std::int64_t>(values.shape(1)), target_weights.data()};
  const Examples examples = examples_of(table.n_rows(), rows, sample_weight);
  return Patience(std::move(progress)).run([&](const Poll& poll) {
    return grow_numbers(table, target, examples, params, poll);
  });
}

OutArray<double> bind_predict(const Forest& forest, const HeldRows& rows, std::int64_t first_row, std::int64_t last_row,
                              int n_threads) {
  require_range(first_row, last_row, rows.rows->n_rows());
  std::vector<double> out(static_cast<std::size_t>((last_row - first_row) * forest.n_outputs));
  Patience().run([&](const Poll& poll) {
    predict(forest, *rows.rows, {first_row, last_row}, threads(n_threads), poll, out.data());
    return 0;
  });
  return to_numpy(std::move(out), static_cast<std::size_t>(last_row - first_row),
                  static_cast<std::size_t>(forest.n_outputs));
}

nb::tuple bind_predict_sparse(const Forest& forest, const HeldRows& rows, double threshold, std::int64_t first_row,
                              std::int64_t last_row, int n_threads) {
  require_range(first_row, last_row, rows.rows->n_rows());
  SparsePrediction result = Patience().run([&](const Poll& poll) {
    return predict_sparse(forest, *rows.rows, {first_row, last_row}, threshold, threads(n_threads), poll);
  });
  return nb::make_tuple(to_numpy(std::move(result.values)), to_numpy(std::move(result.labels)),
                        to_numpy(std::move(result.offsets)));
}

OutArray<std::int32_t> bind_apply(const Forest& forest, const HeldRows& rows, int n_threads) {
  const auto n_rows = static_cast<std::size_t>(rows.rows->n_rows()),
             n_trees = static_cast<std::size_t>(forest.n_trees());
  std::vector<std::int32_t> out(n_rows * n_trees);
  Patience().run([&](const Poll& poll) {
    apply(forest, *rows.rows, threads(n_threads), poll, out.data());
    return 0;
  });
  return to_numpy(std::move(out), n_rows, n_trees);
}

nb::tuple bind_predict_oob(const Forest& forest, const HeldRows& rows, const OptionalRows& bag_rows,
                           const OptionalWeights& sample_weight, std::int64_t first_row, std::int64_t last_row,
                           int n_threads) {
  require_range(first_row, last_row, rows.rows->n_rows());
  const auto n_rows = static_cast<std::size_t>(last_row - first_row);
  const Examples examples = examples_of(rows.rows->n_rows(), bag_rows, sample_weight);
  std::vector<double> out(n_rows * static_cast<std::size_t>(forest.n_outputs));
  std::vector<std::int32_t> n_trees(n_rows);
  Patience().run([&](const Poll& poll) {
    predict_oob(forest, *rows.rows, examples, {first_row, last_row}, threads(n_threads), poll, out.data(),
                n_trees.data());
    return 0;
  });
  return nb::make_tuple(to_numpy(std::move(out), n_rows, static_cast<std::size_t>(forest.n_outputs)),
                        to_numpy(std::move(n_trees)));
}

nb::tuple bind_contributions(const Forest& forest, const HeldRows& rows, std::int64_t output, int n_threads) {
  const auto n_rows = static_cast<std::size_t>(rows.rows->n_rows()),
             n_features = static_cast<std::size_t>(forest.n_features());
  std::vector<double> out(n_rows * n_features, 0.0);
  const double roots = Patience().run([&](const Poll& poll) {
    return contributions(forest, *rows.rows, output, threads(n_threads), poll, out.data());
  });
  return nb::make_tuple(to_numpy(std::move(out), n_rows, n_features), roots);
}

}  // namespace

void bind_forests(nb::module_& m) {
  nb::class_<Forest>(m, "Forest", "Trees over the same features and outputs.")
      .def_prop_ro("outcome",
                   [](const Forest& forest) { return forest.outcome == Outcome::labels ? "labels" : "numbers"; })
      .def_ro("n_outputs", &Forest::n_outputs)
      .def_prop_ro("n_trees", &Forest::n_trees)
      .def_prop_ro("n_features", &Forest::n_features)
      .def_prop_ro("n_bytes", &Forest::n_bytes)
      .def_prop_ro(
          "n_categories", [](const Forest& forest) { return to_numpy(std::vector<std::int32_t>(forest.n_categories)); },
          nb::rv_policy::move)
      .def("first", &Forest::first, "n_trees"_a)
      .def(
          "part",
          [](const Forest& forest, std::int64_t first_tree, std::int64_t last_tree) {
            if (first_tree < 0 || first_tree > last_tree || last_tree > forest.n_trees())
              throw nb::value_error("A part must lie within the forest.");
            Forest part = forest;
            part.trees.assign(forest.trees.begin() + first_tree, forest.trees.begin() + last_tree);
            return part;
          },
          "first_tree"_a, "last_tree"_a)
      .def("arrays", &forest_arrays);
  m.def("forest_from_arrays", &forest_from_arrays, nb::kw_only(), "outcome"_a, "n_outputs"_a, "arrays"_a);
  m.def("concatenate", &concatenate, "forests"_a);
  def_grow(m, "grow_labels", &bind_grow_labels, "indptr"_a.noconvert(), "indices"_a.noconvert(),
           "label_weights"_a.noconvert());
  def_grow(m, "grow_numbers", &bind_grow_numbers, "values"_a.noconvert(), "target_weights"_a.noconvert());
  m.def("predict", &bind_predict, "forest"_a, "rows"_a, nb::kw_only(), "first_row"_a, "last_row"_a, "n_threads"_a);
  m.def("predict_sparse", &bind_predict_sparse, "forest"_a, "rows"_a, nb::kw_only(), "threshold"_a, "first_row"_a,
        "last_row"_a, "n_threads"_a);
  m.def("apply", &bind_apply, "forest"_a, "rows"_a, nb::kw_only(), "n_threads"_a);
  m.def("predict_oob", &bind_predict_oob, "forest"_a, "rows"_a, nb::kw_only(), "bag_rows"_a.noconvert().none(),
        "sample_weight"_a.noconvert().none(), "first_row"_a, "last_row"_a, "n_threads"_a);
  m.def("contributions", &bind_contributions, "forest"_a, "rows"_a, nb::kw_only(), "output"_a, "n_threads"_a);
}

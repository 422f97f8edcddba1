// Forests of rankings.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "forests.hpp"
#include "rankings/rank_forest.hpp"

using namespace ramify;

namespace {

template <class Number>
using WholeRows = nb::ndarray<const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

RankCriterion criterion_of(const std::string& name) {
  if (name == "correlation") return RankCriterion::correlation;
  if (name == "entropy") return RankCriterion::entropy;
  if (name == "mallows") return RankCriterion::mallows;
  throw nb::value_error("criterion must be correlation, entropy or mallows.");
}

RankingRows ranking_rows(const WholeRows<std::int8_t>& signs, const std::optional<WholeRows<std::uint8_t>>& compared,
                         const WholeRows<double>& vectors, const InArray<std::int32_t>& kinds, std::int64_t n_labels,
                         double square) {
  const std::size_t n_rows = signs.shape(0);
  const std::int64_t n_pairs = n_pairs_of(n_labels);
  if (static_cast<std::int64_t>(signs.shape(1)) != n_pairs)
    throw nb::value_error("signs needs one column per pair of labels.");
  if (vectors.shape(0) != n_rows || kinds.size() != n_rows ||
      (compared && (compared->shape(0) != n_rows || compared->shape(1) != signs.shape(1))))
    throw nb::value_error("signs, compared, vectors and kinds must have the same rows.");
  if (!(square > 0) || !std::isfinite(square)) throw nb::value_error("square must be positive and finite.");
  std::int32_t n_kinds = 0;
  for (std::size_t i = 0; i < n_rows; ++i) {
    if (kinds(i) < 0 || kinds(i) >= static_cast<std::int64_t>(n_rows))
      throw nb::value_error("kinds must number the rankings from 0 on.");
    n_kinds = std::max(n_kinds, kinds(i) + 1);
  }
  return {signs.data(), compared ? compared->data() : nullptr,       vectors.data(),
          kinds.data(), static_cast<std::int64_t>(n_rows),           n_labels,
          n_pairs,      static_cast<std::int64_t>(vectors.shape(1)), n_kinds,
          square};
}

Forest bind_grow_rankings(const FeatureTable& table, const WholeRows<std::int8_t>& signs,
                          const std::optional<WholeRows<std::uint8_t>>& compared, const WholeRows<double>& vectors,
                          const InArray<std::int32_t>& kinds, std::int64_t n_labels, double square,
                          const std::string& criterion, double gamma, const OptionalRows& rows,
                          const OptionalWeights& sample_weight, std::uint64_t seed, std::int64_t first_tree,
                          std::int64_t n_trees, std::int64_t max_features, bool bootstrap, bool random_splits,
                          std::int64_t max_depth, std::int64_t min_samples_split, std::int64_t min_samples_leaf,
                          double min_impurity_decrease, double min_weight_fraction_leaf, int n_threads,
                          std::optional<nb::callable> progress) {
  const bool all_features_at_root = true;
  const GrowParams params =
      checked({seed, first_tree, n_trees, max_features, bootstrap, random_splits, max_depth, min_samples_split,
               min_samples_leaf, min_impurity_decrease, n_threads, all_features_at_root, min_weight_fraction_leaf});
  const RankingRows target = ranking_rows(signs, compared, vectors, kinds, n_labels, square);
  const RankCriterion by = criterion_of(criterion);
  const Examples examples = examples_of(table.n_rows(), rows, sample_weight);
  return Patience(std::move(progress)).run([&](const Poll& poll) {
    return grow_rankings(table, target, by, gamma, examples, params, poll);
  });
}

nb::tuple bind_sum_rankings(const Forest& forest, const HeldRows& rows, std::int64_t n_labels, bool as_signs,
                            bool out_of_bag, const OptionalWeights& sample_weight, int n_threads) {
  const Examples examples = examples_of(rows.rows->n_rows(), {}, sample_weight);
  SummedRankings result = Patience().run([&](const Poll& poll) {
    return sum_rankings(forest, n_labels, *rows.rows, out_of_bag ? &examples : nullptr, as_signs, threads(n_threads),
                        poll);
  });
  const auto n_rows = static_cast<std::size_t>(rows.rows->n_rows());
  const std::size_t n_cells = n_rows == 0 ? 0 : result.sums.size() / n_rows;
  return nb::make_tuple(to_numpy(std::move(result.sums), n_rows, n_cells), to_numpy(std::move(result.n_trees)));
}

OutArray<double> bind_leaf_rankings(const Forest& forest, std::int64_t tree, std::int64_t n_labels) {
  if (tree < 0 || tree >= forest.n_trees()) throw nb::value_error("The forest has no such tree.");
  if (forest.outcome != Outcome::numbers || forest.n_outputs != n_pairs_of(n_labels))
    throw nb::value_error("The forest does not hold the pairs of so many labels.");
  std::vector<double> rankings = leaf_rankings(*forest.trees[static_cast<std::size_t>(tree)], n_labels);
  const std::size_t n_leaves = rankings.size() / static_cast<std::size_t>(n_labels);
  return to_numpy(std::move(rankings), n_leaves, static_cast<std::size_t>(n_labels));
}

nb::tuple bind_permutation_rankings(const Forest& forest, const FeatureTable& table,
                                    const WholeRows<std::int8_t>& signs,
                                    const std::optional<WholeRows<std::uint8_t>>& compared,
                                    const WholeRows<double>& vectors, const InArray<std::int32_t>& kinds,
                                    std::int64_t n_labels, const OptionalWeights& sample_weight, int n_threads,
                                    std::optional<nb::callable> progress) {
  const RankingRows target = ranking_rows(signs, compared, vectors, kinds, n_labels, 1.0);
  const Examples examples = examples_of(table.n_rows(), {}, sample_weight);
  RankingIncreases result = Patience(std::move(progress)).run([&](const Poll& poll) {
    return permutation_rankings(forest, table, target, examples, threads(n_threads), poll);
  });
  const std::size_t n_features = result.scores.size();
  return nb::make_tuple(to_numpy(std::move(result.scores)),
                        to_numpy(std::move(result.pair_scores), n_features, signs.shape(1)));
}

}  // namespace

void bind_rankings(nb::module_& m) {
  m.def("grow_rankings", &bind_grow_rankings, "table"_a, "signs"_a.noconvert(), "compared"_a.noconvert().none(),
        "vectors"_a.noconvert(), "kinds"_a.noconvert(), nb::kw_only(), "n_labels"_a, "square"_a, "criterion"_a,
        "gamma"_a, "rows"_a.noconvert().none(), "sample_weight"_a.noconvert().none(), "seed"_a, "first_tree"_a,
        "n_trees"_a, "max_features"_a, "bootstrap"_a, "random_splits"_a, "max_depth"_a, "min_samples_split"_a,
        "min_samples_leaf"_a, "min_impurity_decrease"_a, "min_weight_fraction_leaf"_a, "n_threads"_a,
        "progress"_a.none());
  m.def("sum_rankings", &bind_sum_rankings, "forest"_a, "rows"_a, nb::kw_only(), "n_labels"_a, "as_signs"_a,
        "out_of_bag"_a, "sample_weight"_a.noconvert().none(), "n_threads"_a);
  m.def("permutation_rankings", &bind_permutation_rankings, "forest"_a, "table"_a, "signs"_a.noconvert(),
        "compared"_a.noconvert().none(), "vectors"_a.noconvert(), "kinds"_a.noconvert(), nb::kw_only(), "n_labels"_a,
        "sample_weight"_a.noconvert().none(), "n_threads"_a, "progress"_a.none());
  m.def("leaf_rankings", &bind_leaf_rankings, "forest"_a, nb::kw_only(), "tree"_a, "n_labels"_a);
}

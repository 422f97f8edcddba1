// What the leaves of forests of rankings predict.
#include <nanobind/stl/tuple.h>

#include "held.hpp"
#include "rankings/rank_forest.hpp"

using namespace ramify;

namespace {

std::tuple<OutArray<double>, OutArray<std::int64_t>> bind_sum_rankings(
    const Forest& forest, const HeldFeatures& rows, std::int64_t n_labels, bool as_signs, bool out_of_bag,
    const OptionalWeights& sample_weight, const OptionalGroups& row_groups, int n_threads) {
  const Examples examples = examples_of(rows.rows->n_rows(), sample_weight, row_groups);
  SummedRankings result = Patience().run([&](const Poll& poll) {
    return sum_rankings(forest, n_labels, *rows.rows, out_of_bag ? &examples : nullptr, as_signs, threads(n_threads),
                        poll);
  });
  const auto n_rows = static_cast<std::size_t>(rows.rows->n_rows());
  const std::size_t n_cells = n_rows == 0 ? 0 : result.sums.size() / n_rows;
  return std::make_tuple(to_numpy(std::move(result.sums), n_rows, n_cells), to_numpy(std::move(result.n_trees)));
}

OutArray<double> bind_leaf_rankings(const Forest& forest, std::int64_t tree, std::int64_t n_labels) {
  if (tree < 0 || tree >= forest.n_trees()) throw nb::value_error("The forest has no such tree.");
  if (forest.outcome != Outcome::numbers || forest.n_outputs != n_pairs_of(n_labels))
    throw nb::value_error("The forest does not hold the pairs of so many labels.");
  std::vector<double> rankings = leaf_rankings(*forest.trees[static_cast<std::size_t>(tree)], n_labels);
  const std::size_t n_leaves = rankings.size() / static_cast<std::size_t>(n_labels);
  return to_numpy(std::move(rankings), n_leaves, static_cast<std::size_t>(n_labels));
}

}  // namespace

void bind_rankings(nb::module_& m) {
  m.def("sum_rankings", &bind_sum_rankings, "forest"_a, "rows"_a, nb::kw_only(), "n_labels"_a, "as_signs"_a,
        "out_of_bag"_a, "sample_weight"_a.noconvert().none(), "row_groups"_a.noconvert().none(), "n_threads"_a,
        "Sums over trees of the leaves' rankings (rows x labels) or signs (rows x pairs), and numbers of trees.");
  m.def("leaf_rankings", &bind_leaf_rankings, "forest"_a, nb::kw_only(), "tree"_a, "n_labels"_a,
        "The ranking of each leaf of a tree, ties sharing their mean rank.");
}

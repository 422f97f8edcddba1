#include "scores/out_of_bag_paths.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/bits.hpp"
#include "base/indexing.hpp"
#include "forest/bagging.hpp"
#include "forest/predictor.hpp"
#include "scores/row_values.hpp"

namespace ramify {

OutOfBagPaths::OutOfBagPaths(const Tree& tree, const FeatureTable& table, const Examples& examples,
                             const Control& control) {
  const std::vector<std::uint64_t> bag = in_bag(tree, examples, table.n_rows());
  for (const std::uint32_t row : examples.rows) {
    if (!has_bit(bag, row)) rows_.push_back(row);
  }

  // The features that the path of each row tests, row by row.
  RowValues values(table);
  std::vector<std::int32_t> path, on_path, tests;
  std::vector<std::size_t> tests_of_row{0};
  std::vector<std::int64_t> places(at(table.n_features()) + 1, 0);
  for (const std::uint32_t row : rows_) {
    control.check();
    values.begin(row);
    follow(tree, values, path);
    leaves_.push_back(path.back());
    on_path.clear();
    for (std::size_t step = 0; step + 1 < path.size(); ++step)
      tree.each_tested(path[step], [&](std::int32_t feature, double) { on_path.push_back(feature); });
    std::sort(on_path.begin(), on_path.end());
    on_path.erase(std::unique(on_path.begin(), on_path.end()), on_path.end());
    tests.insert(tests.end(), on_path.begin(), on_path.end());
    tests_of_row.push_back(tests.size());
    for (const std::int32_t feature : on_path) ++places[at(feature) + 1];
  }

  // The same by feature: test e is at place_of[e].
  offsets_.push_back(0);
  for (std::size_t f = 0; f + 1 < places.size(); ++f) {
    places[f + 1] += places[f];
    if (places[f + 1] == places[f]) continue;
    features_.push_back(static_cast<std::int32_t>(f));
    offsets_.push_back(places[f + 1]);
  }
  tested_by_.resize(tests.size());
  std::vector<std::size_t> place_of(tests.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    for (std::size_t e = tests_of_row[i]; e < tests_of_row[i + 1]; ++e) {
      place_of[e] = at(places[at(tests[e])]++);
      tested_by_[place_of[e]] = static_cast<std::uint32_t>(i);
    }
  }

  // What each row has of each feature that its path tests when that feature is permuted.
  std::vector<double> permuted(tests.size());
  std::vector<std::uint32_t> partner(rows_.size());
  for (std::size_t k = 0; k < features_.size(); ++k) {
    control.check();
    std::iota(partner.begin(), partner.end(), 0u);
    Random random(tree.seed, permutation_stream + static_cast<std::uint64_t>(features_[k]));
    for (std::size_t i = partner.size(); i > 1; --i) std::swap(partner[i - 1], partner[random.below(i)]);
    const Column& column = table.column(features_[k]);
    for (std::size_t t = at(offsets_[k]); t < at(offsets_[k + 1]); ++t)
      permuted[t] = column.value(rows_[partner[tested_by_[t]]]);
  }

  new_leaves_.resize(tests.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    control.check();
    values.begin(rows_[i]);
    follow(tree, values, path);
    for (std::size_t e = tests_of_row[i]; e < tests_of_row[i + 1]; ++e) {
      new_leaves_[place_of[e]] = leaf_with(
          tree, values, path, [&](std::int32_t feature) { return feature == tests[e]; },
          [&](std::int32_t) { return permuted[place_of[e]]; });
    }
  }
}

}  // namespace ramify

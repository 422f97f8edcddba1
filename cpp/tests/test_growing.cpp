#include <map>
#include <numeric>

#include "check.hpp"
#include "features/feature_rows.hpp"
#include "forest/predictor.hpp"
#include "forest_data.hpp"

using namespace ramify;

namespace {

Forest grow(const ForestData& data, const FeatureTable& table, const GrowParams& params) {
  return grow_labels(table, data.label_rows(), data.examples(), params, {});
}

void threads_and_blocks_do_not_change_a_bit() {
  const ForestData data(150, 12, 8, 1);
  const FeatureTable table = data.table();
  for (const int how : {0, 1, 2, 3}) {
    GrowParams params = grow_params(9, 3);
    params.random_splits = how % 2 == 1;
    params.oblique = how < 2 ? 0 : 3;
    const Forest serial = grow(data, table, params);
    validate(serial);
    CHECK(serial.trees[0]->combined.empty() == (how < 2));
    for (const int n_threads : {2, 5}) {
      params.n_threads = n_threads;
      CHECK(same_trees(serial, grow(data, table, params)));
    }
    params.n_trees = 4;
    const Forest head = grow(data, table, params);
    params.first_tree = 4;
    params.n_trees = 5;
    CHECK(same_trees(serial, concatenate({head, grow(data, table, params)})));
    CHECK(same_trees(serial.first(4), head));
  }
}

void full_trees_know_their_examples() {
  const ForestData data(120, 12, 6, 2);
  const FeatureTable table = data.table();
  GrowParams params = grow_params(3, 12);
  params.bootstrap = false;
  const Forest forest = grow(data, table, params);
  const auto rows = table_rows(table);
  std::vector<double> out(120 * 6);
  predict(forest, *rows, {0, 120}, 2, {}, out.data());
  for (std::int64_t i = 0; i < 120; ++i) {
    for (std::int64_t p = data.offsets[i]; p < data.offsets[i + 1]; ++p)
      CHECK(out[static_cast<std::size_t>(i * 6 + data.labels[p])] == 1.0);
  }
}

void numbers_grow_with_limits() {
  const ForestData data(200, 8, 4, 3);
  const FeatureTable table = data.table(32);
  GrowParams params = grow_params(5, 4);
  params.max_depth = 4;
  params.min_samples_leaf = 7;
  const Forest forest = grow_numbers(table, data.number_rows(), data.examples(), params, {});
  validate(forest);
  for (const auto& tree : forest.trees) {
    CHECK(tree->n_nodes() <= 31);
    for (std::size_t i = 0; i < tree->feature.size(); ++i) CHECK(tree->weight[i] >= 7);
  }
}

/// 1, 2, 4, 8, ... against a feature that only ever splits off one row: a tree as deep as there are rows.
void deep_trees_need_no_stack() {
  const std::int64_t n = 3000;
  std::vector<double> x(n), y(n), weights{1.0};
  for (std::int64_t i = 0; i < n; ++i) {
    x[static_cast<std::size_t>(i)] = static_cast<double>(i);
    y[static_cast<std::size_t>(i)] =
        i % 2 == 0 ? std::pow(1.05, static_cast<double>(i)) : -std::pow(1.05, static_cast<double>(i));
  }
  const FeatureTable table = code_dense<double>({x.data(), n, 1, 1, 1}, {0}, 0, 1, {});
  GrowParams params = grow_params(1, 1);
  params.bootstrap = false;
  const Forest forest =
      grow_numbers(table, {y.data(), n, 1, weights.data()}, select_examples(n, nullptr, nullptr), params, {});
  validate(forest);
  CHECK(forest.trees[0]->n_nodes() == 2 * n - 1);
}

void weights_leave_rows_out() {
  const ForestData data(100, 8, 4, 4);
  std::vector<double> weights(100, 1.0);
  Examples others;
  for (std::uint32_t i = 0; i < 100; ++i) {
    if (i % 3 == 0)
      weights[i] = 0;
    else
      others.rows.push_back(i);
  }
  const FeatureTable table = data.table();
  const GrowParams params = grow_params(4, 3);
  const Forest a = grow_labels(table, data.label_rows(), select_examples(100, weights.data(), nullptr), params, {});
  CHECK(same_trees(a, grow_labels(table, data.label_rows(), others, params, {})));
}

/// Numbers of groups with gaps, out of order, and rows of weight zero among them.
void groups_enter_bags_as_a_whole() {
  const std::int64_t n = 60;
  std::vector<std::int64_t> groups(n);
  std::vector<double> weights(n, 1.0);
  for (std::int64_t i = 0; i < n; ++i) groups[static_cast<std::size_t>(i)] = 1000 - 7 * ((i * i) % 11);
  for (std::size_t i = 0; i < weights.size(); i += 5) weights[i] = 0;
  const Examples examples = select_examples(n, weights.data(), groups.data());

  // written from the definition: as many draws as groups, each among the groups in ascending order
  std::map<std::int64_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) members[groups[i]].push_back(i);
  }
  std::vector<std::int64_t> names;
  for (const auto& group : members) names.push_back(group.first);
  for (std::uint64_t seed = 1; seed < 20; ++seed) {
    std::vector<std::uint32_t> draws(n, 0), expected(n, 0);
    draw_bag(seed, examples, draws);
    Random random(seed, bag_stream);
    for (std::size_t i = 0; i < names.size(); ++i) {
      for (const std::size_t row : members[names[random.below(names.size())]]) ++expected[row];
    }
    CHECK(draws == expected);
  }
}

void rows_that_are_their_own_groups_change_nothing() {
  const ForestData data(100, 8, 4, 4);
  std::vector<std::int64_t> groups(100);
  std::iota(groups.begin(), groups.end(), -50);
  const FeatureTable table = data.table();
  const GrowParams params = grow_params(4, 3);
  const Forest alone = grow_labels(table, data.label_rows(), data.examples(), params, {});
  const Examples grouped = select_examples(100, nullptr, groups.data());
  CHECK(same_trees(alone, grow_labels(table, data.label_rows(), grouped, params, {})));
}

void a_poll_that_says_no_stops_growing() {
  const ForestData data(2000, 12, 30, 5);
  const FeatureTable table = data.table();
  GrowParams params = grow_params(100000, 12);
  params.n_threads = 2;
  bool stopped = false;
  try {
    grow_labels(table, data.label_rows(), data.examples(), params, [](std::int64_t) { return false; });
  } catch (const Cancelled&) {
    stopped = true;
  }
  CHECK(stopped);
}

/// Mostly-zero tables, where small nodes find their features by the rows' entries.
void wide_sparse_tables_grow() {
  const std::int64_t n = 300, n_features = 400;
  std::vector<double> x(static_cast<std::size_t>(n * n_features), 0.0);
  Random random(6, 0);
  ForestData data(n, 5, 6, 6, 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    for (int k = 0; k < 12; ++k)
      x[static_cast<std::size_t>(i * n_features) + random.below(n_features)] =
          1.0 + static_cast<double>(random.below(3));
    x[static_cast<std::size_t>(i * n_features) + random.below(n_features)] = std::numeric_limits<double>::quiet_NaN();
  }
  data.X = x;
  data.n_features = n_features;
  data.n_categories.assign(static_cast<std::size_t>(n_features), 0);
  const FeatureTable table = data.table();
  CHECK(table.row_entries() != nullptr);
  GrowParams params = grow_params(6, 20);
  const Forest forest = grow(data, table, params);
  validate(forest);
  for (const auto& tree : forest.trees) {
    for (std::size_t i = 0; i < tree->feature.size(); ++i) {
      if (tree->feature[i] >= 0)
        CHECK_NEAR(tree->weight[i],
                   tree->weight[static_cast<std::size_t>(tree->child[i])] +
                       tree->weight[static_cast<std::size_t>(tree->child[i]) + 1],
                   1e-9);
    }
  }
}

/// Scores that overflow to infinity or NaN end the growth; they neither hang nor read past the scores.
void weights_that_overflow_end_growth() {
  for (const double weight : {1e-320, 1e150, 1e300}) {
    ForestData data(150, 4, 12, 9);
    data.label_weights.assign(data.label_weights.size(), weight);
    for (std::size_t i = 0; i < data.X.size(); i += 7) data.X[i] = std::numeric_limits<double>::quiet_NaN();
    validate(grow(data, data.table(), grow_params(5, 2)));
  }
}

/// Columns of two values, where small nodes find their features by bits: where every feature is looked at, the splits
/// are as good as those found column by column (which of equally good features is first depends on the draw).
void bits_find_what_columns_find() {
  const std::int64_t n = 200, n_features = 70;
  ForestData data(n, 5, 6, 7, 0.0);
  Random random(7, 0);
  data.X.assign(static_cast<std::size_t>(n * n_features), 0.0);
  for (double& x : data.X) x = random.uniform() < 0.2 ? 3.0 : -1.0;
  data.n_features = n_features;
  data.n_categories.assign(static_cast<std::size_t>(n_features), 0);
  const FeatureTable by_bits = data.table();
  CHECK(by_bits.row_bits() != nullptr);
  CHECK(by_bits.row_entries() == nullptr);
  std::vector<std::int64_t> all(static_cast<std::size_t>(n_features));
  for (std::size_t f = 0; f < all.size(); ++f) all[f] = static_cast<std::int64_t>(f);
  const FeatureTable by_columns = by_bits.take(all);
  CHECK(by_columns.row_bits() == nullptr);
  GrowParams params = grow_params(5, n_features);
  params.max_depth = 3;
  const Forest a = grow(data, by_bits, params), b = grow(data, by_columns, params);
  validate(a);
  for (std::size_t t = 0; t < a.trees.size(); ++t) {
    CHECK(a.trees[t]->n_nodes() == b.trees[t]->n_nodes());
    for (std::size_t i = 0; i < a.trees[t]->decrease.size(); ++i)
      CHECK_NEAR(a.trees[t]->decrease[i], b.trees[t]->decrease[i], 1e-9);
  }
}

}  // namespace

int main() {
  threads_and_blocks_do_not_change_a_bit();
  full_trees_know_their_examples();
  numbers_grow_with_limits();
  deep_trees_need_no_stack();
  weights_leave_rows_out();
  groups_enter_bags_as_a_whole();
  rows_that_are_their_own_groups_change_nothing();
  a_poll_that_says_no_stops_growing();
  wide_sparse_tables_grow();
  bits_find_what_columns_find();
  weights_that_overflow_end_growth();
  return check::finish();
}

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "base/team.hpp"
#include "boosting/boosting.hpp"
#include "boosting/exact_sums.hpp"
#include "boosting/histogram_grower.hpp"
#include "boosting/logistic.hpp"
#include "check.hpp"
#include "forest_data.hpp"

using namespace ramify;

namespace {

/// Rows with random whole gradients that features drive; `weighted` rows also weigh something.
struct WholeGradients {
  Lanes lanes;
  std::vector<std::int16_t> values;

  WholeGradients(const ForestData& data, int n_dims, bool weighted, std::uint64_t seed) : lanes(n_dims, weighted) {
    Random random(seed, 9);
    for (std::int64_t row = 0; row < data.n_rows; ++row) {
      std::vector<std::int16_t> lane(static_cast<std::size_t>(lanes.stride), 0);
      for (int c = 0; c < n_dims; ++c) {
        const double value = data.X[static_cast<std::size_t>(row * data.n_features + c % data.n_features)];
        const double driven = value == value ? 400 * std::fmod(value, 7.0) : 900;
        lane[static_cast<std::size_t>(c)] = static_cast<std::int16_t>(driven - 1500 + 2000 * random.uniform());
      }
      lane[static_cast<std::size_t>(lanes.count_lane())] = 1;
      if (weighted)
        lane[static_cast<std::size_t>(lanes.weight_lane())] = static_cast<std::int16_t>(1 + random.below(900));
      values.insert(values.end(), lane.begin(), lane.end());
    }
  }

  const std::int16_t* of(std::int64_t row) const { return values.data() + row * lanes.stride; }
};

/// A tree on all rows, handed over in the given order.
const Parts one_part;

Tree grown(HistogramGrower& grower, const WholeGradients& gradients, const std::vector<std::uint32_t>& rows) {
  grower.make_room(static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.size()));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    grower.rows()[i] = rows[i];
    std::copy_n(gradients.of(rows[i]), gradients.lanes.stride,
                grower.values() + static_cast<std::int64_t>(i) * gradients.lanes.stride);
  }
  return grower.grow(3);
}

std::vector<std::uint32_t> all_rows(std::int64_t n) {
  std::vector<std::uint32_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), 0u);
  return rows;
}

GrowParams tree_params(std::int64_t max_features, std::int64_t max_depth) {
  GrowParams params = grow_params(1, max_features);
  params.bootstrap = false;
  params.max_depth = max_depth;
  params.min_samples_leaf = 3;
  params.min_category_rows = 5;
  return params;
}

bool equal_trees(const Tree& a, const Tree& b) {
  return a.feature == b.feature && a.threshold == b.threshold && a.child == b.child && a.subset == b.subset &&
         a.missing_left == b.missing_left && a.weight == b.weight && a.subset_words == b.subset_words;
}

using Rows = std::vector<std::uint32_t>;

/// G^2 / weight of one side.
double side_score(const WholeGradients& gradients, const Rows& rows) {
  double weight = 0, score = 0;
  for (const std::uint32_t row : rows) weight += gradients.of(row)[gradients.lanes.weight_lane()];
  for (int c = 0; c < gradients.lanes.n_dims; ++c) {
    double sum = 0;
    for (const std::uint32_t row : rows) sum += gradients.of(row)[c];
    score += sum * sum / weight;
  }
  return score;
}

/// The best score of a feature by trying every cut, written from the definition. With one gradient, nominal values are
/// ordered by their means, rare ones together.
double best_score(const WholeGradients& gradients, const Column& column, const Rows& rows, const GrowParams& params) {
  std::map<double, Rows> by_value;
  Rows missing;
  for (const std::uint32_t row : rows) {
    const double value = column.value(row);
    if (value == value) {
      by_value[value].push_back(row);
    } else {
      missing.push_back(row);
    }
  }
  std::vector<Rows> places;
  Rows pool;
  for (const auto& [value, held] : by_value) {
    const bool rare =
        column.nominal && by_value.size() > 2 && static_cast<std::int64_t>(held.size()) < params.min_category_rows;
    if (rare) {
      pool.insert(pool.end(), held.begin(), held.end());
    } else {
      places.push_back(held);
    }
  }
  if (!pool.empty()) places.push_back(pool);
  if (column.nominal) {
    const auto mean = [&](const Rows& held) {
      double sum = 0, weight = 0;
      for (const std::uint32_t row : held) {
        sum += gradients.of(row)[0];
        weight += gradients.of(row)[gradients.lanes.weight_lane()];
      }
      return sum / weight;
    };
    std::sort(places.begin(), places.end(), [&](const Rows& a, const Rows& b) { return mean(a) < mean(b); });
  }
  double best = 0;
  const auto consider = [&](const Rows& left) {
    Rows right;
    std::set_difference(rows.begin(), rows.end(), left.begin(), left.end(), std::back_inserter(right));
    const auto least = static_cast<std::size_t>(params.min_samples_leaf);
    if (left.size() >= least && right.size() >= least)
      best = std::max(best, side_score(gradients, left) + side_score(gradients, right));
  };
  Rows left;
  for (const Rows& place : places) {
    left.insert(left.end(), place.begin(), place.end());
    Rows sorted = left;
    std::sort(sorted.begin(), sorted.end());
    consider(sorted);
    Rows both;
    std::merge(sorted.begin(), sorted.end(), missing.begin(), missing.end(), std::back_inserter(both));
    consider(both);
  }
  return best;
}

/// Every split is the best that the slow reference finds, and the rows of the leaves are those that the tree sends
/// there.
void check_splits(const FeatureTable& table, const WholeGradients& gradients, const GrowParams& params,
                  const HistogramGrower& grower, const Tree& tree) {
  std::vector<Rows> rows_of(tree.feature.size());
  for (std::int64_t row = 0; row < table.n_rows(); ++row) {
    std::int32_t node = 0;
    rows_of[0].push_back(static_cast<std::uint32_t>(row));
    while (tree.feature[static_cast<std::size_t>(node)] >= 0) {
      node = tree.next(node, table.column(tree.feature[static_cast<std::size_t>(node)]).value(row));
      rows_of[static_cast<std::size_t>(node)].push_back(static_cast<std::uint32_t>(row));
    }
    CHECK(grower.leaf_of(tree, row) == node);
  }
  for (std::size_t i = 0; i < tree.feature.size(); ++i) {
    CHECK(tree.weight[i] == static_cast<double>(rows_of[i].size()));
    if (tree.feature[i] < 0) continue;
    const auto left = static_cast<std::size_t>(tree.child[i]);
    const double score = side_score(gradients, rows_of[left]) + side_score(gradients, rows_of[left + 1]);
    double expected = 0;
    for (std::int64_t f = 0; f < table.n_features(); ++f) {
      if (gradients.lanes.n_dims > 1 && table.column(f).nominal) continue;  // their order is not the means'
      expected = std::max(expected, best_score(gradients, table.column(f), rows_of[i], params));
    }
    CHECK(score >= expected * (1 - 1e-9));
    if (gradients.lanes.n_dims == 1) CHECK(score <= expected * (1 + 1e-9));
  }
  for (const RowsOfLeaf& leaf : grower.leaves()) {
    CHECK(Rows(leaf.rows, leaf.rows + leaf.n_rows) == rows_of[static_cast<std::size_t>(leaf.node)]);
  }
}

void trees_equal_the_slow_reference() {
  Team team(2, {});
  for (const int n_dims : {1, 2, 5}) {
    for (const bool weighted : {false, true}) {
      const ForestData data(260, 9, 3, static_cast<std::uint64_t>(n_dims));
      const FeatureTable table = data.table(255);
      const WholeGradients gradients(data, n_dims, weighted, 1);
      const GrowParams params = tree_params(9, 4);
      HistogramGrower grower(table, gradients.lanes, params, one_part, team);
      const Tree tree = grown(grower, gradients, all_rows(data.n_rows));
      CHECK(tree.n_nodes() > 5);
      check_splits(table, gradients, params, grower, tree);
    }
  }
}

/// The same values, every row stored.
FeatureTable stored_densely(const FeatureTable& table) {
  std::vector<std::shared_ptr<const Column>> columns;
  for (std::int64_t f = 0; f < table.n_features(); ++f) {
    const Column& column = table.column(f);
    auto dense = std::make_shared<Column>(column);
    dense->sparse = false;
    dense->entry_rows.clear();
    dense->codes.clear();
    for (std::int64_t row = 0; row < table.n_rows(); ++row) {
      const std::int32_t code = column.code(row);
      for (int byte = 0; byte < column.width; ++byte)
        dense->codes.push_back(static_cast<std::uint8_t>(code >> (8 * byte)));
    }
    columns.push_back(std::move(dense));
  }
  return FeatureTable(table.n_rows(), std::move(columns));
}

void sparse_columns_give_the_trees_of_dense_ones() {
  Team team(3, {});
  const ForestData data(600, 15, 3, 4);
  const FeatureTable sparse = data.table(255), dense = stored_densely(sparse);
  CHECK(sparse.has_sparse() && !dense.has_sparse());
  const WholeGradients gradients(data, 4, true, 2);
  for (const std::int64_t max_features : {4, 15}) {
    const GrowParams params = tree_params(max_features, -1);
    HistogramGrower of_sparse(sparse, gradients.lanes, params, one_part, team),
        of_dense(dense, gradients.lanes, params, one_part, team);
    const Tree tree = grown(of_sparse, gradients, all_rows(data.n_rows));
    CHECK(tree.n_nodes() > 50);
    CHECK(equal_trees(tree, grown(of_dense, gradients, all_rows(data.n_rows))));
    CHECK(equal_trees(tree, grown(of_sparse, gradients, all_rows(data.n_rows))));
  }
}

void the_order_of_rows_does_not_matter() {
  Team team(2, {});
  const ForestData data(500, 8, 3, 5);
  const FeatureTable table = stored_densely(data.table(255));
  const WholeGradients gradients(data, 3, false, 3);
  const GrowParams params = tree_params(3, 6);
  HistogramGrower grower(table, gradients.lanes, params, one_part, team);
  std::vector<std::uint32_t> rows = all_rows(data.n_rows);
  const Tree tree = grown(grower, gradients, rows);
  Random random(1, 1);
  for (std::size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random.below(i)]);
  CHECK(equal_trees(tree, grown(grower, gradients, rows)));
}

void parts_of_the_rows_add_up() {
  const ForestData data(400, 4, 3, 6);
  const FeatureTable table = stored_densely(data.table(255));
  const WholeGradients gradients(data, 10, false, 4);
  const ColumnHead& column = table.head(0);
  const std::vector<std::uint32_t> rows = all_rows(data.n_rows);
  const auto n_cells = static_cast<std::size_t>((column.n_codes + 1) * gradients.lanes.stride);
  std::vector<std::int32_t> whole(n_cells, 0), parts(n_cells, 0);
  const auto add = [&](std::int64_t first, std::int64_t last, std::vector<std::int32_t>& to) {
    add_to_histogram(column, gradients.lanes, rows.data() + first, gradients.of(first), last - first, to.data());
  };
  add(0, 400, whole);
  add(250, 400, parts);
  add(0, 13, parts);
  add(13, 250, parts);
  CHECK(whole == parts);
}

void exact_sums_have_no_order() {
  Random random(2, 2);
  std::vector<double> terms(5000);
  double bound = 0, plain = 0;
  for (double& term : terms) {
    term = (random.uniform() - 0.5) * std::exp(20 * (random.uniform() - 0.5));
    bound += std::fabs(term);
    plain += term;
  }
  const Grid grid(bound);
  const auto sum = [&] {
    double all = 0;
    for (const double term : terms) all += grid.rounded(term);
    return all;
  };
  const double first = sum();
  CHECK_NEAR(first, plain, 1e-9 * bound);
  for (int shuffle = 0; shuffle < 5; ++shuffle) {
    for (std::size_t i = terms.size(); i > 1; --i) std::swap(terms[i - 1], terms[random.below(i)]);
    CHECK(sum() == first);
  }
}

void rounding_by_chance_keeps_means() {
  for (const double value : {-3.7, -0.2, 0.0, 0.3, 12.5}) {
    double mean = 0;
    for (std::uint32_t draw = 0; draw < 0x10000; draw += 16) mean += rounded_by_chance(value, draw, 100) / 4096.0;
    CHECK_NEAR(mean, value, 1e-3);
  }
  CHECK(rounded_by_chance(32767, 0xFFFF, 32767) == 32767);
  CHECK(rounded_by_chance(-32767, 0, 32767) == -32767);
  CHECK(gradient_range(1000) == 32767);
  for (const std::int64_t n : {65536LL, 65539LL, 1000000LL, 1LL << 30}) CHECK(gradient_range(n) * n <= 0x7FFFFFFF);
}

void rare_values_go_together() {
  Column column;
  column.nominal = true;
  column.n_codes = 5;
  column.n_rows = 40;
  std::vector<std::int16_t> values;
  std::vector<std::uint32_t> rows;
  const Lanes lanes(1, false);
  const int n_rows_of[5] = {15, 4, 15, 3, 3}, gradient_of[5] = {-500, 400, 500, -900, 100};
  for (int code = 0; code < 5; ++code) {
    for (int i = 0; i < n_rows_of[code]; ++i) {
      rows.push_back(static_cast<std::uint32_t>(rows.size()));
      column.codes.push_back(static_cast<std::uint8_t>(code));
      const std::int16_t lane[4] = {static_cast<std::int16_t>(gradient_of[code]), 1, 0, 0};
      values.insert(values.end(), lane, lane + 4);
    }
  }
  const ColumnHead head = FeatureTable::head_of(column);
  std::vector<std::int32_t> histogram(6 * 4, 0), total(4, 0), left(4, 0);
  add_to_histogram(head, lanes, rows.data(), values.data(), 40, histogram.data());
  for (std::size_t i = 0; i < values.size(); ++i) total[i % 4] += values[i];
  HistogramCut cut;
  CutFinder pooling(lanes, {1, 10});
  pooling.find(head, histogram.data(), {0, 1, 2, 3, 4}, total.data(), cut, left.data());
  CHECK(cut.found && cut.nominal);
  const std::uint64_t rare = 0b11010;
  CHECK((cut.left_codes[0] & rare) == 0 || (cut.left_codes[0] & rare) == rare);
  CHECK(cut.present_codes[0] == 0b11111);
  CutFinder alone(lanes, {1, 1});
  alone.find(head, histogram.data(), {0, 1, 2, 3, 4}, total.data(), cut, left.data());
  CHECK(cut.left_codes[0] == 0b01001 || cut.left_codes[0] == 0b10110);
  CutFinder all_rare(lanes, {1, 20});
  all_rare.find(head, histogram.data(), {0, 1, 2, 3, 4}, total.data(), cut, left.data());
  CHECK(cut.constant && !cut.found);
}

void cuts_that_rounding_feigns_are_not_made() {
  const ForestData data(2000, 12, 3, 7);
  const FeatureTable table = data.table(255);
  WholeGradients gradients(data, 1, false, 5);
  Random random(6, 6);
  for (std::int64_t row = 0; row < data.n_rows; ++row)
    gradients.values[static_cast<std::size_t>(row * gradients.lanes.stride)] =
        static_cast<std::int16_t>(rounded_by_chance(1234.5, static_cast<std::uint32_t>(random.below(0x10000)), 32767));
  Team team(1, {});
  const GrowParams params = tree_params(12, 6);
  HistogramGrower grower(table, gradients.lanes, params, one_part, team);
  CHECK(grown(grower, gradients, all_rows(data.n_rows)).n_nodes() == 1);
}

void threads_do_not_change_a_bit_of_many_rows() {
  const ForestData data(40000, 6, 3, 8);
  const FeatureTable table = data.table(255);
  BoostParams params;
  params.growth = tree_params(3, 5);
  params.growth.n_trees = 3;
  params.max_samples = 0.9;
  params.held_back = 0.1;
  params.patience = 3;
  for (const std::int64_t max_features : {2, 6}) {
    params.growth.max_features = max_features;
    params.growth.n_threads = 1;
    const Boosted serial = boost_labels(table, data.label_rows(), data.examples(), params, {}, {});
    for (const int n_threads : {2, 7}) {
      params.growth.n_threads = n_threads;
      const Boosted threaded = boost_labels(table, data.label_rows(), data.examples(), params, {}, {});
      CHECK(same_trees(serial.forest, threaded.forest));
      CHECK(serial.history == threaded.history);
      CHECK(serial.gains.values == threaded.gains.values);
    }
  }
}

void the_logistic_function_is_close() {
  for (float score = -95; score < 95; score += 0.37f) {
    const double expected = 1 / (1 + std::exp(-static_cast<double>(score)));
    if (score > -87) CHECK_NEAR(logistic(score) / expected, 1.0, 1e-6);
    CHECK_NEAR(softplus(score), std::log1p(std::exp(static_cast<double>(score))), 1e-6 * (1 + std::fabs(score)));
  }
}

}  // namespace

int main() {
  trees_equal_the_slow_reference();
  sparse_columns_give_the_trees_of_dense_ones();
  the_order_of_rows_does_not_matter();
  parts_of_the_rows_add_up();
  exact_sums_have_no_order();
  rounding_by_chance_keeps_means();
  rare_values_go_together();
  cuts_that_rounding_feigns_are_not_made();
  threads_do_not_change_a_bit_of_many_rows();
  the_logistic_function_is_close();
  return check::finish();
}

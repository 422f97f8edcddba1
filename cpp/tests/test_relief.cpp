#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "check.hpp"
#include "relief/furthest_sets.hpp"
#include "relief/relief.hpp"
#include "relief/relief_neighbors.hpp"

using namespace ramify;

namespace {

const double missing = std::numeric_limits<double>::quiet_NaN();

/// Numeric, nominal and missing values, as a dense and as a sparse matrix.
struct Table {
  std::int64_t n_rows, n_features;
  std::vector<double> rows, columns, row_values, column_values;
  std::vector<std::int32_t> row_features, column_rows;
  std::vector<std::int64_t> row_offsets{0}, column_offsets{0};
  Differences differences;

  enum class Kind { numbers, numbers_and_missing, mixed, tables, one_value };

  Table(std::int64_t n, std::int64_t p, std::uint64_t seed, Kind kind = Kind::mixed)
      : n_rows(n), n_features(p), rows(static_cast<std::size_t>(n * p)), columns(rows.size()) {
    Random random(seed, 0);
    const bool numbers = kind == Kind::numbers || kind == Kind::numbers_and_missing;
    for (std::int64_t f = 0; f < p; ++f)
      differences.scales.push_back({!numbers && (f % 3 == 0 || kind == Kind::one_value), 0, f == 4 ? 0.0 : 4.0, 5});
    if (kind == Kind::tables) {  // half of the nominal features
      Differences::Table table{5, std::vector<double>(25, 0.0)};
      for (std::size_t a = 0; a < 5; ++a) {
        for (std::size_t b = 0; b < 5; ++b)
          table.values[a * 5 + b] = a == b ? 0.0 : 0.1 * static_cast<double>(a + b) + 0.05;
      }
      differences.tables.push_back(table);
      for (std::int64_t f = 0; f < p; f += 6) differences.scales[static_cast<std::size_t>(f)].table = 0;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t f = 0; f < p; ++f) {
        double value = static_cast<double>(random.below(3) ? 0 : random.below(5));
        if (numbers) value = f == 4 ? 1.0 : 4 * static_cast<double>(random.below(1000)) / 999;
        if (kind == Kind::one_value && value != 0) value = f % 5 == 4 && random.below(20) ? 0.0 : 3.0;
        if (kind != Kind::numbers && kind != Kind::one_value && random.below(10) == 0) value = missing;
        rows[static_cast<std::size_t>(i * p + f)] = columns[static_cast<std::size_t>(f * n + i)] = value;
        if (value == 0) continue;
        row_values.push_back(value);
        row_features.push_back(static_cast<std::int32_t>(f));
      }
      row_offsets.push_back(static_cast<std::int64_t>(row_values.size()));
    }
    for (std::int64_t f = 0; f < p; ++f) {
      for (std::int64_t i = 0; i < n; ++i) {
        const double value = columns[static_cast<std::size_t>(f * n + i)];
        if (value == 0) continue;
        column_values.push_back(value);
        column_rows.push_back(static_cast<std::int32_t>(i));
      }
      column_offsets.push_back(static_cast<std::int64_t>(column_values.size()));
    }
  }

  DenseRows dense() const { return {rows.data(), n_rows, n_features}; }
  SparseMatrix sparse() const {
    return {n_rows,
            n_features,
            row_values.data(),
            row_features.data(),
            row_offsets.data(),
            column_values.data(),
            column_rows.data(),
            column_offsets.data()};
  }
};

void test_differences() {
  Differences differences;
  differences.scales = {{false, 1, 4, 1}, {true, 0, 0, 4}, {false, 2, 0, 1}};
  CHECK(differences.between(0, 1, 3) == 0.5);
  CHECK(differences.between(0, 2, missing) == 0.75);
  CHECK(differences.between(0, missing, missing) == 1);
  CHECK(differences.between(1, 2, 3) == 1);
  CHECK(differences.between(1, 3, 3) == 0);
  CHECK(differences.between(1, missing, 3) == 0.75);
  CHECK(differences.between(1, missing, missing) == 0.75);
  CHECK(differences.between(2, 2, 2) == 0);
  differences.tables.push_back({2, {0, 0.3, 0.3, 0}});
  differences.scales.push_back({true, 0, 0, 2, 0});
  CHECK(differences.between(3, 0, 1) == 0.3);
  CHECK(differences.between(3, 1, 1) == 0);
  CHECK(differences.between(3, 1, missing) == 0.5);
  differences.equal_below = 0.25;
  differences.different_above = 0.75;
  CHECK(differences.between(0, 1, 2) == 0);
  CHECK(differences.between(0, 1, 3) == 0.5);
  CHECK(differences.between(0, 1, 4) == 1);
}

void test_storage_and_threads_do_not_matter(bool squared, bool ramp) {
  Table table(61, 90, 3);
  table.differences.squared = squared;
  for (std::int64_t f = 0; f < 90; ++f) table.differences.weights.push_back(0.1 + 0.01 * static_cast<double>(f));
  if (ramp) table.differences.equal_below = 0.1, table.differences.different_above = 0.6;
  std::vector<std::int64_t> own;
  std::vector<std::int32_t> groups;
  for (int i = 0; i < 61; ++i) own.push_back(i), groups.push_back(i % 7 == 0 ? 1 : 0);
  const NeighborQuery query{own.data(), groups.data(), 2, 9};
  const auto dense = nearest_dense(table.dense(), table.dense(), table.differences, query, 1, {});
  CHECK(dense == nearest_dense(table.dense(), table.dense(), table.differences, query, 3, {}));
  CHECK(dense == nearest_sparse(table.sparse(), table.sparse(), table.differences, query, 2, {}));
  for (std::size_t i = 0; i < 61; ++i) {
    double before = -1;
    for (std::size_t k = 0; k < 9; ++k) {
      const std::int64_t row = dense[i * 18 + k];
      CHECK(row >= 0 && row != static_cast<std::int64_t>(i) && groups[static_cast<std::size_t>(row)] == 0);
      double distance = 0;
      for (std::int64_t f = 0; f < 90; ++f) {
        distance += table.differences.term(f, table.rows[i * 90 + static_cast<std::size_t>(f)],
                                           table.rows[static_cast<std::size_t>(row * 90 + f)]);
      }
      CHECK(distance >= before);
      before = distance;
    }
    CHECK((dense[i * 18 + 17] == -1) == (groups[i] == 1));  // the small group has nine rows
  }

  std::vector<std::int64_t> first, second, offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> coefficients;
  for (std::int64_t p = 0; p < 200; ++p) {
    first.push_back(p % 61);
    second.push_back((p * 7 + 3) % 61);
    columns.push_back(static_cast<std::int32_t>(p % 2));
    coefficients.push_back(0.5 + static_cast<double>(p % 5));
    offsets.push_back(p + 1);
  }
  const WeightedPairs pairs{first.data(), second.data(), 200, offsets.data(), columns.data(), coefficients.data(), 2};
  const auto sums = difference_sums_dense(table.dense(), table.differences, pairs, 1, {});
  CHECK(sums == difference_sums_dense(table.dense(), table.differences, pairs, 2, {}));
  const auto from_sparse = difference_sums_sparse(table.sparse(), table.differences, pairs, 2, {});
  for (std::size_t k = 0; k < sums.size(); ++k) CHECK_NEAR(sums[k], from_sparse[k], 1e-10);
}

/// Neighbours and sums pair by pair, from the definition.
void test_neighbors_equal_sorting_all_rows(Table::Kind kind, Table::Kind kind_of_queries, std::int64_t n_neighbors,
                                           std::int32_t n_groups) {
  const std::int64_t n = 150, p = 37;
  const Table table(n, p, 11, kind), queries(n, p, kind == kind_of_queries ? 11 : 12, kind_of_queries);
  std::vector<std::int64_t> own;
  std::vector<std::int32_t> groups;
  for (std::int64_t i = 0; i < n; ++i)
    own.push_back(i % 10 == 3 ? -1 : i), groups.push_back(static_cast<std::int32_t>(i * i % n_groups));
  const NeighborQuery query{own.data(), groups.data(), n_groups, n_neighbors};
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int32_t group = 0; group < n_groups; ++group) {
      std::vector<std::pair<double, std::int64_t>> all;
      for (std::int64_t j = 0; j < n; ++j) {
        if (groups[static_cast<std::size_t>(j)] != group || j == own[static_cast<std::size_t>(i)]) continue;
        double distance = 0;
        for (std::int64_t f = 0; f < p; ++f) {
          distance += table.differences.term(f, queries.rows[static_cast<std::size_t>(i * p + f)],
                                             table.rows[static_cast<std::size_t>(j * p + f)]);
        }
        all.emplace_back(distance, j);
      }
      std::sort(all.begin(), all.end());
      for (std::size_t k = 0; k < static_cast<std::size_t>(n_neighbors); ++k)
        expected.push_back(k < all.size() ? all[k].second : -1);
    }
  }
  CHECK(expected == nearest_dense(table.dense(), queries.dense(), table.differences, query, 2, {}));
  CHECK(expected == nearest_sparse(table.sparse(), queries.sparse(), table.differences, query, 2, {}));

  std::vector<std::int64_t> first, second, offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<double> coefficients;
  for (std::int64_t k = 0; k < 300; ++k) {
    first.push_back(k % n), second.push_back((k * 13 + 5) % n);
    for (std::int32_t column = 0; column <= k % 3; ++column)
      columns.push_back(column), coefficients.push_back(0.3 * static_cast<double>(k % 7) - 1);
    offsets.push_back(static_cast<std::int64_t>(columns.size()));
  }
  const WeightedPairs pairs{first.data(), second.data(), 300, offsets.data(), columns.data(), coefficients.data(), 3};
  std::vector<double> sums(static_cast<std::size_t>(p * 3), 0.0);
  for (std::size_t k = 0; k < 300; ++k) {
    for (std::int64_t f = 0; f < p; ++f) {
      const double difference = table.differences.between(f, table.rows[static_cast<std::size_t>(first[k] * p + f)],
                                                          table.rows[static_cast<std::size_t>(second[k] * p + f)]);
      for (std::int64_t e = offsets[k]; e < offsets[k + 1]; ++e) {
        sums[static_cast<std::size_t>(f * 3 + columns[static_cast<std::size_t>(e)])] +=
            coefficients[static_cast<std::size_t>(e)] * difference;
      }
    }
  }
  CHECK(sums == difference_sums_dense(table.dense(), table.differences, pairs, 2, {}));
  const auto from_sparse = difference_sums_sparse(table.sparse(), table.differences, pairs, 2, {});
  for (std::size_t k = 0; k < sums.size(); ++k) CHECK_NEAR(sums[k], from_sparse[k], 1e-11);
}

/// Label sets of one size or of many, with equal weights (many pairs are equally far apart) or not.
void test_furthest_sets_equal_looking_at_all_pairs(std::int64_t n, std::int64_t n_labels, bool equal_weights) {
  Random random(static_cast<std::uint64_t>(n + n_labels), 0);
  std::vector<double> weights;
  for (std::int64_t label = 0; label < n_labels; ++label)
    weights.push_back(equal_weights ? 1.0 : random.below(5) ? random.uniform() : 0.0);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> labels;
  for (std::int64_t row = 0; row < n; ++row) {
    const std::uint64_t often = 2 + random.below(6);
    for (std::int32_t label = 0; label < n_labels; ++label) {
      if (random.below(often) == 0) labels.push_back(label);
    }
    offsets.push_back(static_cast<std::int64_t>(labels.size()));
  }
  const auto weight_of = [&](std::int64_t a, std::int64_t b, bool shared) {
    double sum = 0;
    for (std::int64_t e = offsets[static_cast<std::size_t>(a)]; e < offsets[static_cast<std::size_t>(a + 1)]; ++e) {
      const std::int32_t label = labels[static_cast<std::size_t>(e)];
      const auto first = labels.begin() + offsets[static_cast<std::size_t>(b)];
      const auto last = labels.begin() + offsets[static_cast<std::size_t>(b + 1)];
      if (!shared || std::binary_search(first, last, label)) sum += weights[static_cast<std::size_t>(label)];
    }
    return sum;
  };
  double most = 0;
  std::pair<std::int64_t, std::int64_t> expected{0, 0};
  for (std::int64_t a = 0; a < n; ++a) {
    for (std::int64_t b = a + 1; b < n; ++b) {
      const double apart = weight_of(a, a, false) + weight_of(b, b, false) - 2 * weight_of(a, b, true);
      if (apart > most) most = apart, expected = {a, b};
    }
  }
  for (const int n_threads : {1, 2, 7})
    CHECK(expected == furthest_sets({offsets.data(), labels.data(), n, n_labels}, weights.data(), n_threads, {}));
}

}  // namespace

int main() {
  for (const bool equal_weights : {false, true}) {
    for (const std::int64_t n : {1, 2, 7, 90}) {
      for (const std::int64_t n_labels : {1, 6, 40})
        test_furthest_sets_equal_looking_at_all_pairs(n, n_labels, equal_weights);
    }
  }
  for (const auto kind : {Table::Kind::numbers, Table::Kind::numbers_and_missing, Table::Kind::mixed,
                          Table::Kind::tables, Table::Kind::one_value}) {
    for (const std::int64_t n_neighbors : {1, 9, 90}) {
      for (const std::int32_t n_groups : {1, 2, 40}) {
        test_neighbors_equal_sorting_all_rows(kind, kind, n_neighbors, n_groups);
        test_neighbors_equal_sorting_all_rows(kind, Table::Kind::mixed, n_neighbors, n_groups);
      }
    }
  }
  test_differences();
  for (const bool squared : {false, true}) {
    for (const bool ramp : {false, true}) {
      if (!(squared && ramp)) test_storage_and_threads_do_not_matter(squared, ramp);
    }
  }
  return check::finish();
}

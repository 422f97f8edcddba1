#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "forest_data.hpp"

using namespace ramify;

namespace {

void codes_keep_values() {
  const ForestData data(300, 10, 3, 1);
  const FeatureTable table = data.table();
  for (std::int64_t f = 0; f < 10; ++f) {
    for (std::int64_t i = 0; i < 300; ++i) {
      const double value = data.X[static_cast<std::size_t>(i * 10 + f)], coded = table.column(f).value(i);
      CHECK(value == coded || (value != value && coded != coded));
    }
  }
  CHECK(table.column(4).sparse);
  CHECK(!table.column(0).sparse);
}

void float_and_strides_give_the_same_codes() {
  const ForestData data(200, 6, 3, 2);
  std::vector<float> turned(data.X.size());
  for (std::int64_t i = 0; i < 200; ++i) {
    for (std::int64_t f = 0; f < 6; ++f)
      turned[static_cast<std::size_t>(f * 200 + i)] = static_cast<float>(data.X[static_cast<std::size_t>(i * 6 + f)]);
  }
  const FeatureTable a = data.table(),
                     b = code_dense<float>({turned.data(), 200, 6, 1, 200}, data.n_categories, 0, 2, {});
  for (std::int64_t f = 0; f < 6; ++f) {
    CHECK(a.column(f).codes == b.column(f).codes);
    CHECK(a.column(f).lower == b.column(f).lower);
  }
}

void many_distinct_values_are_ranked() {
  const std::int64_t n = 70000;
  std::vector<double> x(n);
  Random random(3, 0);
  for (double& value : x) value = random.uniform() - 0.5;
  x[7] = -0.0;
  x[8] = 0.0;
  x[9] = std::numeric_limits<double>::infinity();
  x[10] = -x[9];
  const FeatureTable table = code_dense<double>({x.data(), n, 1, 1, 1}, {0}, 0, 1, {});
  const Column& column = table.column(0);
  CHECK(column.width == 4);
  CHECK(column.code(7) == column.code(8));
  CHECK(column.code(10) == 0);
  CHECK(column.code(9) == column.n_codes - 1);
  bool ordered = true;
  for (std::int64_t i = 1; i < n; ++i)
    ordered = ordered && ((x[i] < x[i - 1]) == (column.code(i) < column.code(i - 1)));
  CHECK(ordered);
  CHECK(column.threshold_between(column.n_codes - 2, column.n_codes - 1) ==
        column.upper[static_cast<std::size_t>(column.n_codes) - 2]);
}

void bins_hold_their_values() {
  const ForestData data(1000, 3, 3, 4);
  std::vector<double> x(1000);
  Random random(4, 0);
  for (double& value : x) value = random.uniform() * random.uniform();
  const FeatureTable table = code_dense<double>({x.data(), 1000, 1, 1, 1}, {0}, 16, 1, {});
  const Column& column = table.column(0);
  CHECK(column.n_codes == 16);
  std::vector<int> counts(16, 0);
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto code = static_cast<std::size_t>(column.code(i));
    ++counts[code];
    CHECK(column.lower[code] <= x[static_cast<std::size_t>(i)] && x[static_cast<std::size_t>(i)] <= column.upper[code]);
  }
  for (const int count : counts) CHECK(count > 40 && count < 90);
}

/// Edges are order statistics and a bin is the number of edges below a value, whatever the values look like.
void bins_are_quantiles(int shape, std::int32_t max_bins) {
  Random random(6, static_cast<std::uint64_t>(shape));
  const double infinity = std::numeric_limits<double>::infinity();
  std::vector<double> x(5000);
  for (double& value : x) {
    const double u = random.uniform();
    value = shape == 0   ? u - 0.3               // even
            : shape == 1 ? std::exp(12 * u * u)  // a long tail
            : shape == 2 ? std::floor(2000 * u)  // ties
            : shape == 3 ? (u < 0.6 ? 0.0 : u)   // mostly one value
            : shape == 4 ? (u < 0.01 ? -infinity : 1e300 * (u - 0.5))
                         : (u < 0.2 ? std::numeric_limits<double>::quiet_NaN() : std::sin(40 * u));
  }
  std::vector<double> sorted;
  for (const double value : x) {
    if (value == value) sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> edges;
  for (std::int32_t b = 1; b < max_bins; ++b) {
    const double edge = sorted[sorted.size() * static_cast<std::size_t>(b) / static_cast<std::size_t>(max_bins)];
    if (edge < sorted.back() && (edges.empty() || edge > edges.back())) edges.push_back(edge);
  }
  const FeatureTable table = code_dense<double>({x.data(), 5000, 1, 1, 1}, {0}, max_bins, 1, {});
  const Column& column = table.column(0);
  CHECK(column.n_codes == static_cast<std::int32_t>(edges.size()) + 1);
  for (std::int64_t i = 0; i < 5000; ++i) {
    const double value = x[static_cast<std::size_t>(i)];
    const auto below = std::lower_bound(edges.begin(), edges.end(), value) - edges.begin();
    CHECK(column.code(i) == (value == value ? static_cast<std::int32_t>(below) : column.n_codes));
  }
}

void compressed_columns_code_like_dense_ones() {
  const ForestData data(400, 15, 3, 5);
  std::vector<double> values;
  std::vector<std::int32_t> rows, offsets{0};
  for (std::int64_t f = 0; f < 15; ++f) {
    for (std::int64_t i = 0; i < 400; ++i) {
      const double value = data.X[static_cast<std::size_t>(i * 15 + f)];
      if (value == 0) continue;
      values.push_back(value);
      rows.push_back(static_cast<std::int32_t>(i));
    }
    offsets.push_back(static_cast<std::int32_t>(rows.size()));
  }
  const FeatureTable dense = data.table();
  const FeatureTable sparse = code_sparse<double, std::int32_t>({values.data(), rows.data(), offsets.data(), 15, 400},
                                                                data.n_categories, 0, 1, {});
  for (std::int64_t f = 0; f < 15; ++f) {
    for (std::int64_t i = 0; i < 400; ++i) {
      const double a = dense.column(f).value(i), b = sparse.column(f).value(i);
      CHECK(a == b || (a != a && b != b));
    }
  }
  const FeatureTable both = dense.append(sparse.take({4, 3}), true);
  CHECK(both.n_features() == 17);
  CHECK(both.n_fixed() == 2);
  CHECK(&both.column(15) == &sparse.column(4));
}

void bad_columns_are_refused() {
  const double x[2] = {0, 3};
  int n_refused = 0;
  for (const std::int32_t k : {3, 5000}) {
    try {
      code_dense<double>({x, 2, 1, 1, 1}, {k}, 0, 1, {});
    } catch (const std::invalid_argument&) {
      ++n_refused;
    }
  }
  CHECK(n_refused == 2);
}

}  // namespace

int main() {
  codes_keep_values();
  float_and_strides_give_the_same_codes();
  many_distinct_values_are_ranked();
  bins_hold_their_values();
  for (int shape = 0; shape < 6; ++shape) {
    for (const std::int32_t max_bins : {2, 16, 255}) bins_are_quantiles(shape, max_bins);
  }
  compressed_columns_code_like_dense_ones();
  bad_columns_are_refused();
  return check::finish();
}

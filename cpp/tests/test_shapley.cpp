#include <vector>

#include "check.hpp"
#include "forest/predictor.hpp"
#include "forest_data.hpp"
#include "scores/shapley.hpp"
#include "scores/shapley_sums.hpp"

using namespace ramify;

namespace {

constexpr std::int64_t n_rows = 43, n_features = 9, n_labels = 7;

struct Grown {
  ForestData data;
  FeatureTable table;
  Forest forest;
  std::unique_ptr<FeatureRows> rows;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> outputs;
  std::vector<double> ones;
  explicit Grown(std::uint64_t seed)
      : data(n_rows, n_features, n_labels, seed),
        table(data.table()),
        forest(grow_labels(table, data.label_rows(), data.examples(), grow_params(6, 3), {})),
        rows(table_rows(table)) {
    for (std::int32_t j = 0; j < n_labels; ++j) {
      offsets.push_back(j);
      outputs.push_back(j);
      ones.push_back(1.0);
    }
    offsets.push_back(n_labels);
  }
  OutputColumns columns() const { return {offsets.data(), outputs.data(), ones.data(), n_labels}; }
};

/// The value of a coalition: unknown features follow the training weights, or another row.
double coalition(const Forest& forest, const double* row, const double* other, unsigned known, std::int32_t output) {
  double total = 0;
  for (const auto& tree : forest.trees) {
    std::vector<double> reach(tree->feature.size(), 0.0);
    reach[0] = 1;
    for (std::size_t i = 0; i < reach.size(); ++i) {
      const auto node = static_cast<std::int32_t>(i);
      if (tree->feature[i] < 0) {
        read_leaf(forest, *tree, node,
                  [&](std::int32_t at, double value) { total += at == output ? reach[i] * value : 0; });
        continue;
      }
      const auto left = static_cast<std::size_t>(tree->child[i]);
      const auto feature = static_cast<std::size_t>(tree->feature[i]);
      if ((known >> feature & 1) != 0) {
        reach[static_cast<std::size_t>(tree->next(node, row[feature]))] += reach[i];
      } else if (other != nullptr) {
        reach[static_cast<std::size_t>(tree->next(node, other[feature]))] += reach[i];
      } else {
        for (const std::size_t child : {left, left + 1})
          reach[child] += reach[i] * tree->weight[child] / (tree->weight[left] + tree->weight[left + 1]);
      }
    }
  }
  return total / static_cast<double>(forest.n_trees());
}

/// Shapley values over all subsets of the features.
std::vector<double> brute_force(const Forest& forest, const double* row, const double* other, std::int32_t output) {
  std::vector<double> values(1u << n_features), found(n_features, 0.0);
  for (unsigned known = 0; known < values.size(); ++known) values[known] = coalition(forest, row, other, known, output);
  std::vector<double> factorial{1};
  for (int i = 1; i <= n_features; ++i) factorial.push_back(factorial.back() * i);
  for (unsigned known = 0; known < values.size(); ++known) {
    std::size_t size = 0;
    for (unsigned bits = known; bits != 0; bits >>= 1) size += bits & 1;
    for (unsigned f = 0; f < n_features; ++f) {
      if ((known >> f & 1) != 0) continue;
      found[f] += factorial[size] * factorial[n_features - size - 1] / factorial[n_features] *
                  (values[known | 1u << f] - values[known]);
    }
  }
  return found;
}

std::vector<double> all_values(const Grown& g, const FeatureRows* background, int n_threads) {
  std::vector<double> out(static_cast<std::size_t>(n_rows * n_features * n_labels), 0.0);
  shapley(g.forest, *g.rows, background, g.columns(), n_threads, {}, out.data());
  return out;
}

void equals_brute_force() {
  const Grown g(3);
  std::vector<double> block(static_cast<std::size_t>(n_rows * n_features), 0.0);
  g.rows->load(0, n_rows, block.data());
  const std::vector<double> weighted = all_values(g, nullptr, 2);
  const double* const other = block.data() + 17 * n_features;
  const auto one_row = dense_rows<double>({other, 1, n_features, n_features, 1});
  const std::vector<double> against = all_values(g, one_row.get(), 2);
  for (const std::int64_t row : {0, 7, 8, 42}) {
    for (const std::int32_t output : {0, 3, 6}) {
      const double* const x = block.data() + row * n_features;
      const std::vector<double> by_weight = brute_force(g.forest, x, nullptr, output);
      const std::vector<double> by_other = brute_force(g.forest, x, other, output);
      for (std::int64_t f = 0; f < n_features; ++f) {
        const auto at = static_cast<std::size_t>((row * n_features + f) * n_labels + output);
        CHECK_NEAR(weighted[at], by_weight[static_cast<std::size_t>(f)], 1e-13);
        CHECK_NEAR(against[at], by_other[static_cast<std::size_t>(f)], 1e-13);
      }
    }
  }
}

void adds_up_for_every_thread_count() {
  const Grown g(4);
  const std::vector<double> base = shapley_base(g.forest, g.columns());
  std::vector<double> predicted(static_cast<std::size_t>(n_rows * n_labels));
  predict(g.forest, *g.rows, {0, n_rows}, 1, {}, predicted.data());
  const std::vector<double> values = all_values(g, nullptr, 1);
  CHECK(values == all_values(g, nullptr, 3));
  for (std::int64_t row = 0; row < n_rows; ++row) {
    for (std::int64_t j = 0; j < n_labels; ++j) {
      double sum = base[static_cast<std::size_t>(j)];
      for (std::int64_t f = 0; f < n_features; ++f)
        sum += values[static_cast<std::size_t>((row * n_features + f) * n_labels + j)];
      CHECK_NEAR(sum, predicted[static_cast<std::size_t>(row * n_labels + j)], 1e-12);
    }
  }
}

void sparse_keeps_the_largest() {
  const Grown g(5);
  const std::vector<double> values = all_values(g, nullptr, 1);
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> wanted;
  for (std::int32_t row = 0; row < n_rows; ++row) {
    for (std::int32_t j = row % 3; j < n_labels; j += 3) wanted.push_back(j);
    offsets.push_back(static_cast<std::int64_t>(wanted.size()));
  }
  const SparseShapley top = shapley_sparse(g.forest, *g.rows, nullptr, {offsets.data(), wanted.data()}, 2, 2, {});
  const SparseShapley whole = shapley_sparse(g.forest, *g.rows, nullptr, {offsets.data(), wanted.data()}, 0, 1, {});
  CHECK(top.offsets.size() == wanted.size() + 1);
  for (std::int64_t row = 0; row < n_rows; ++row) {
    for (auto p = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);
         p < static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1]); ++p) {
      CHECK(top.offsets[p + 1] - top.offsets[p] <= 2);
      double smallest = 1e9, sum = 0, kept = 0;
      for (auto q = static_cast<std::size_t>(top.offsets[p]); q < static_cast<std::size_t>(top.offsets[p + 1]); ++q) {
        const auto at = static_cast<std::size_t>((row * n_features + top.features[q]) * n_labels + wanted[p]);
        CHECK(top.values[q] == values[at]);
        smallest = std::fmin(smallest, std::fabs(top.values[q]));
      }
      for (auto q = static_cast<std::size_t>(whole.offsets[p]); q < static_cast<std::size_t>(whole.offsets[p + 1]);
           ++q) {
        sum += std::fabs(whole.values[q]) > smallest ? 1 : 0;
        kept += whole.values[q];
      }
      CHECK(sum < 2);
      double expected = 0;
      for (std::int64_t f = 0; f < n_features; ++f)
        expected += values[static_cast<std::size_t>((row * n_features + f) * n_labels + wanted[p])];
      CHECK_NEAR(kept, expected, 1e-14);
    }
  }
}

void quadrature_is_exact() {
  for (const std::int64_t n : {1, 2, 5, 16, 60, 400}) {
    const Quadrature quadrature = gauss_legendre(n);
    for (const std::int64_t degree : {std::int64_t{0}, n, 2 * n - 1}) {
      double sum = 0;
      for (std::size_t k = 0; k < quadrature.points.size(); ++k)
        sum += quadrature.weights[k] * std::pow(quadrature.points[k], static_cast<double>(degree));
      CHECK_NEAR(sum * static_cast<double>(degree + 1), 1.0, 1e-11);
    }
  }
}

}  // namespace

int main() {
  equals_brute_force();
  adds_up_for_every_thread_count();
  sparse_keeps_the_largest();
  quadrature_is_exact();
  return check::finish();
}

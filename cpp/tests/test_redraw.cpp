// Redrawn columns against sending each changed row through every tree.
#include <algorithm>

#include "base/bits.hpp"
#include "check.hpp"
#include "forest/predictor.hpp"
#include "forest_data.hpp"
#include "scores/redraw.hpp"

using namespace ramify;

namespace {

constexpr std::int64_t n_rows = 150, n_features = 9, n_labels = 7, n_draws = 3;

/// Units {0}, {2, 5} and {3}, whose columns are other rows' values.
struct Redrawn {
  std::vector<std::int64_t> offsets{0, 1, 3, 4};
  std::vector<std::int32_t> features{0, 2, 5, 3};
  std::vector<double> values, residuals, weights;

  explicit Redrawn(const ForestData& data) {
    Random random(8, 0);
    for (std::int64_t draw = 0; draw < n_draws; ++draw) {
      for (const std::int32_t feature : features) {
        for (std::int64_t i = 0; i < n_rows; ++i) {
          const auto other = static_cast<std::int64_t>(random.below(n_rows));
          values.push_back(data.X[static_cast<std::size_t>(other * n_features + feature)]);
        }
      }
    }
    for (std::int64_t i = 0; i < 3 * n_rows; ++i) residuals.push_back(random.uniform() - 0.5);
    for (std::int64_t i = 0; i < n_rows; ++i) weights.push_back(0.5 + random.uniform());
  }
  Redraws redraws() const { return {3, n_draws, 4, n_rows, offsets.data(), features.data(), values.data()}; }
};

/// The out-of-bag mean of one output for a row of values.
double predicted(const Forest& forest, const std::vector<std::vector<double>>& nodes, const Examples& examples,
                 std::int64_t row, const double* values) {
  double sum = 0, n = 0;
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    if (has_bit(in_bag(*forest.trees[t], examples, n_rows), static_cast<std::size_t>(row))) continue;
    sum += nodes[t][static_cast<std::size_t>(find_leaf(*forest.trees[t], values))];
    ++n;
  }
  return sum / n;
}

template <class Truth>
void equals_the_definition(const ForestData& data, const Forest& forest, const Redrawn& drawn, std::int32_t output,
                           Truth truth, const std::vector<double>& changes, const RedrawSums& sums, std::size_t k,
                           std::size_t n_outputs) {
  const Examples examples = data.examples();
  std::vector<std::vector<double>> nodes;
  for (const auto& tree : forest.trees) nodes.push_back(node_values(forest, *tree, output));
  const Redraws redraws = drawn.redraws();
  for (std::int64_t unit = 0; unit < redraws.n_units; ++unit) {
    double change_sum = 0, square_sum = 0, residual_sum = 0, spread_sum = 0;
    for (std::int64_t i = 0; i < n_rows; ++i) {
      std::vector<double> row(data.X.begin() + i * n_features, data.X.begin() + (i + 1) * n_features);
      const double p = predicted(forest, nodes, examples, i, row.data()), y = truth(i);
      double change = 0, shift = 0;
      for (std::int64_t draw = 0; draw < n_draws; ++draw) {
        std::vector<double> other = row;
        for (std::int64_t c = redraws.offsets[unit]; c < redraws.offsets[unit + 1]; ++c)
          other[static_cast<std::size_t>(redraws.features[c])] = redraws.value(draw, c, static_cast<std::uint32_t>(i));
        const double q = predicted(forest, nodes, examples, i, other.data());
        change += ((q - y) * (q - y) - (p - y) * (p - y)) / n_draws;
        shift += (q - p) / n_draws;
      }
      CHECK_NEAR(changes[static_cast<std::size_t>((unit * n_rows + i)) * n_outputs + k], change, 1e-12);
      const double weight = drawn.weights[static_cast<std::size_t>(i)];
      change_sum += weight * change;
      square_sum += weight * weight * change * change;
      residual_sum += drawn.residuals[static_cast<std::size_t>(unit * n_rows + i)] * shift;
      spread_sum += (p + shift) * (p + shift) - p * p;
    }
    const std::size_t cell = static_cast<std::size_t>(unit) * n_outputs + k;
    CHECK_NEAR(sums.change[cell], change_sum, 1e-11);
    CHECK_NEAR(sums.square[cell], square_sum, 1e-11);
    CHECK_NEAR(sums.residual[cell], residual_sum, 1e-11);
    CHECK_NEAR(sums.spread[cell], spread_sum, 1e-11);
  }
}

void changes_of_labels_equal_the_definition() {
  const ForestData data(n_rows, n_features, n_labels, 1);
  const FeatureTable table = data.table();
  const Examples examples = data.examples();
  const Forest forest = grow_labels(table, data.label_rows(), examples, grow_params(30, 3), {});
  const Redrawn drawn(data);
  const RedrawScope scope{{1, 2, 5}, drawn.weights.data()};
  const RedrawSums sums =
      redraw_labels(forest, table, data.label_rows(), examples, drawn.redraws(), scope, drawn.residuals.data(), 1, {});
  const std::vector<double> changes =
      redraw_rows_labels(forest, table, data.label_rows(), examples, drawn.redraws(), scope, 0, n_rows, 2, {});
  for (std::size_t k = 0; k < 3; ++k) {
    const std::int32_t label = scope.outputs[k];
    const auto truth = [&](std::int64_t i) {
      const auto first = data.labels.begin() + data.offsets[static_cast<std::size_t>(i)];
      const auto last = data.labels.begin() + data.offsets[static_cast<std::size_t>(i) + 1];
      return std::find(first, last, label) != last ? 1.0 : 0.0;
    };
    equals_the_definition(data, forest, drawn, label, truth, changes, sums, k, 3);
  }
  for (const int n_threads : {2, 5}) {
    const RedrawSums same = redraw_labels(forest, table, data.label_rows(), examples, drawn.redraws(), scope,
                                          drawn.residuals.data(), n_threads, {});
    CHECK(same.change == sums.change && same.square == sums.square && same.residual == sums.residual &&
          same.weighted_change == sums.weighted_change && same.shift == sums.shift && same.spread == sums.spread);
  }
}

void changes_of_numbers_equal_the_definition() {
  const ForestData data(n_rows, n_features, n_labels, 2);
  const FeatureTable table = data.table();
  const Examples examples = data.examples();
  const Forest forest = grow_numbers(table, data.number_rows(), examples, grow_params(30, 3), {});
  const Redrawn drawn(data);
  const RedrawScope scope{{0, 1}, drawn.weights.data()};
  const RedrawSums sums = redraw_numbers(forest, table, data.number_rows(), examples, drawn.redraws(), scope,
                                         drawn.residuals.data(), 2, {});
  const std::vector<double> changes =
      redraw_rows_numbers(forest, table, data.number_rows(), examples, drawn.redraws(), scope, 0, n_rows, 1, {});
  for (std::int32_t target = 0; target < 2; ++target) {
    const auto truth = [&](std::int64_t i) { return data.numbers[static_cast<std::size_t>(i * 2 + target)]; };
    equals_the_definition(data, forest, drawn, target, truth, changes, sums, static_cast<std::size_t>(target), 2);
  }
}

void stops_when_asked() {
  const ForestData data(n_rows, n_features, n_labels, 3);
  const FeatureTable table = data.table();
  const Forest forest = grow_labels(table, data.label_rows(), data.examples(), grow_params(5, 3), {});
  const Redrawn drawn(data);
  bool stopped = false;
  try {
    redraw_labels(forest, table, data.label_rows(), data.examples(), drawn.redraws(), {{0}, drawn.weights.data()},
                  drawn.residuals.data(), 2, [](std::int64_t) { return false; });
  } catch (const Cancelled&) {
    stopped = true;
  }
  CHECK(stopped);
}

}  // namespace

int main() {
  changes_of_labels_equal_the_definition();
  changes_of_numbers_equal_the_definition();
  stops_when_asked();
  return check::finish();
}

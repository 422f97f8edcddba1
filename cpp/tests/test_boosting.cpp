#include <algorithm>
#include <cmath>
#include <vector>

#include "boosting/boosting.hpp"
#include "boosting/sketch.hpp"
#include "check.hpp"
#include "features/feature_rows.hpp"
#include "forest/predictor.hpp"
#include "forest_data.hpp"

using namespace ramify;

namespace {

BoostParams boost_params(std::int64_t n_rounds, std::int64_t n_projections) {
  BoostParams params;
  params.growth = grow_params(n_rounds, 4);
  params.growth.bootstrap = false;
  params.growth.max_depth = 3;
  params.growth.min_samples_leaf = 3;
  params.n_projections = n_projections;
  params.max_samples = 0.7;
  return params;
}

void threads_do_not_change_a_bit() {
  const ForestData data(150, 12, 200, 1);
  const FeatureTable table = data.table();
  BoostParams params = boost_params(6, 5);
  params.held_back = 0.2;
  params.patience = 6;
  const Boosted serial = boost_labels(table, data.label_rows(), data.examples(), params, {}, {});
  validate(serial.forest);
  for (const int n_threads : {2, 5}) {
    params.growth.n_threads = n_threads;
    const Boosted threaded = boost_labels(table, data.label_rows(), data.examples(), params, {}, {});
    CHECK(same_trees(serial.forest, threaded.forest));
    CHECK(serial.history == threaded.history);
    CHECK(serial.gains.values == threaded.gains.values);
  }
}

/// Mean logistic loss of all rows.
double loss_of(const ForestData& data, const Boosted& found, const FeatureTable& table) {
  const auto rows = table_rows(table);
  std::vector<double> scores(static_cast<std::size_t>(data.n_rows * data.n_labels));
  predict(found.forest, *rows, {0, data.n_rows}, 1, {}, scores.data());
  double sum = 0;
  for (std::int64_t i = 0; i < data.n_rows; ++i) {
    for (std::int64_t j = 0; j < data.n_labels; ++j) {
      const double score =
          scores[static_cast<std::size_t>(i * data.n_labels + j)] + found.base[static_cast<std::size_t>(j)];
      const auto first = data.labels.begin() + data.offsets[static_cast<std::size_t>(i)];
      const auto last = data.labels.begin() + data.offsets[static_cast<std::size_t>(i) + 1];
      const bool has = std::binary_search(first, last, static_cast<std::int32_t>(j));
      sum += std::log1p(std::exp(has ? -score : score));
    }
  }
  return sum / static_cast<double>(data.n_rows * data.n_labels);
}

void rounds_reduce_the_loss() {
  const ForestData data(200, 8, 12, 2);
  const FeatureTable table = data.table();
  double before = 1e9;
  for (const std::int64_t n_rounds : {1, 10, 60}) {
    const double loss = loss_of(
        data, boost_labels(table, data.label_rows(), data.examples(), boost_params(n_rounds, 4), {}, {}), table);
    CHECK(loss < before);
    before = loss;
  }
}

void history_is_the_loss_of_the_rows_held_back() {
  const ForestData data(200, 8, 12, 3);
  BoostParams params = boost_params(40, 4);
  params.held_back = 0.25;
  params.patience = 3;
  const Boosted found = boost_labels(data.table(), data.label_rows(), data.examples(), params, {}, {});
  const auto n_done = static_cast<std::int64_t>(found.history.size()) - 1;
  const auto best = std::min_element(found.history.begin() + 1, found.history.end()) - found.history.begin();
  CHECK(found.forest.n_trees() == best);
  CHECK(n_done == std::min<std::int64_t>(40, best + 3));
}

void small_steps_are_left_out() {
  const ForestData data(150, 8, 40, 4);
  BoostParams params = boost_params(3, 4);
  params.tolerance = 0.5;
  const Boosted found = boost_labels(data.table(), data.label_rows(), data.examples(), params, {}, {});
  validate(found.forest);
  for (const auto& tree : found.forest.trees) {
    for (const double step : tree->leaf_values) {
      CHECK(std::fabs(step) >= params.learning_rate * 0.5 - 1e-12);
      CHECK(std::fabs(step) <= params.learning_rate * 4 + 1e-12);
    }
  }
}

void numbers_come_closer() {
  const ForestData data(200, 8, 2, 5);
  const FeatureTable table = data.table();
  const Boosted found = boost_numbers(table, data.number_rows(), data.examples(), boost_params(50, 4), {}, {});
  std::vector<double> out(400);
  predict(found.forest, *table_rows(table), {0, 200}, 2, {}, out.data());
  double before = 0, after = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    before += data.numbers[i] * data.numbers[i];
    after += (data.numbers[i] - out[i]) * (data.numbers[i] - out[i]);
  }
  CHECK(after < 0.3 * before);
}

void projections_keep_lengths_in_the_mean() {
  const std::int64_t n_outputs = 30, n_projections = 6;
  const std::vector<double> weights(static_cast<std::size_t>(n_outputs), 0.5);
  Sketch sketch(n_outputs, weights.data(), n_projections);
  std::vector<float> values(static_cast<std::size_t>(n_outputs));
  for (std::size_t j = 0; j < values.size(); ++j) values[j] = static_cast<float>(j % 5) - 2.0f;
  double expected = 0, mean = 0;
  for (const float value : values) expected += 0.5 * value * value;
  const int n_draws = 4000;
  for (int draw = 0; draw < n_draws; ++draw) {
    sketch.draw(static_cast<std::uint64_t>(draw));
    float out[6] = {};
    sketch.subtract(values.data(), out);
    for (const float cell : out) mean += cell * cell / n_draws;
  }
  CHECK_NEAR(mean / expected, 1.0, 0.05);
}

void no_projection_is_drawn_for_few_outputs() {
  const std::vector<double> weights{1.0, 4.0, 9.0};
  Sketch sketch(3, weights.data(), 3);
  sketch.draw(1);
  const float values[3] = {1.0f, 1.0f, 1.0f};
  float out[3] = {};
  sketch.subtract(values, out);
  sketch.add(1, 2.0f, out);
  CHECK(sketch.n_columns() == 3);
  CHECK(out[0] == -1.0f && out[1] == 2.0f && out[2] == -3.0f);
}

}  // namespace

int main() {
  threads_do_not_change_a_bit();
  rounds_reduce_the_loss();
  history_is_the_loss_of_the_rows_held_back();
  small_steps_are_left_out();
  numbers_come_closer();
  projections_keep_lengths_in_the_mean();
  no_projection_is_drawn_for_few_outputs();
  return check::finish();
}

#include <cstdlib>

#include "check.hpp"
#include "forest/predictor.hpp"
#include "forest_data.hpp"
#include "scores/importances.hpp"
#include "scores/permutation.hpp"

using namespace ramify;

namespace {

struct Grown {
  ForestData data;
  FeatureTable table;
  Forest forest;
  explicit Grown(std::uint64_t seed)
      : data(250, 9, 7, seed),
        table(data.table()),
        forest(grow_labels(table, data.label_rows(), data.examples(), grow_params(12, 3), {})) {}
};

void per_label_scores_add_up() {
  const Grown g(1);
  const std::vector<double> scores = genie3(g.forest);
  const ScoreMatrix serial = genie3_per_output(g.forest, g.data.label_weights.data(), 1, {});
  for (std::size_t f = 0; f < scores.size(); ++f) {
    double sum = 0;
    for (std::int64_t p = serial.offsets[f]; p < serial.offsets[f + 1]; ++p)
      sum += serial.values[static_cast<std::size_t>(p)];
    CHECK_NEAR(sum, scores[f], 1e-12);
  }
  for (const int n_threads : {2, 3, 7}) {
    const ScoreMatrix threaded = genie3_per_output(g.forest, g.data.label_weights.data(), n_threads, {});
    CHECK(threaded.values == serial.values && threaded.outputs == serial.outputs && threaded.offsets == serial.offsets);
  }
  const Forest numbers = grow_numbers(g.table, g.data.number_rows(), g.data.examples(), grow_params(4, 3), {});
  const ScoreMatrix per_target = genie3_per_output(numbers, g.data.target_weights.data(), 2, {});
  double total = 0, expected = 0;
  for (const double value : per_target.values) total += value;
  for (const double score : genie3(numbers)) expected += score;
  CHECK_NEAR(total, expected, 1e-10);
}

void out_of_bag_is_the_same_for_every_thread_count() {
  const Grown g(2);
  const auto rows = table_rows(g.table);
  const Examples examples = g.data.examples();
  std::vector<double> a(250 * 7), b(250 * 7);
  std::vector<std::int32_t> n_a(250), n_b(250);
  predict_oob(g.forest, *rows, examples, {0, 250}, 1, {}, a.data(), n_a.data());
  predict_oob(g.forest, *rows, examples, {0, 250}, 4, {}, b.data(), n_b.data());
  CHECK(n_a == n_b);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]));
  const ScoreMatrix one = genie3_oob(g.forest, *rows, g.data.label_rows(), examples, 1, {});
  const ScoreMatrix many = genie3_oob(g.forest, *rows, g.data.label_rows(), examples, 3, {});
  CHECK(one.values == many.values);
}

void contributions_add_up_to_the_prediction() {
  const Grown g(3);
  const auto rows = table_rows(g.table);
  std::vector<double> predicted(250 * 7), added(250 * 9, 0.0);
  predict(g.forest, *rows, {0, 250}, 1, {}, predicted.data());
  const double roots = contributions(g.forest, *rows, 4, 2, {}, added.data());
  for (std::size_t i = 0; i < 250; ++i) {
    double sum = roots;
    for (std::size_t f = 0; f < 9; ++f) sum += added[i * 9 + f];
    CHECK_NEAR(sum, predicted[i * 7 + 4], 1e-12);
  }
  const SparsePrediction sparse = predict_sparse(g.forest, *rows, {0, 250}, 0.25, 3, {});
  std::size_t n_kept = 0;
  for (const double value : predicted) n_kept += value >= 0.25;
  CHECK(sparse.values.size() == n_kept);
  for (std::size_t i = 0; i < 250; ++i) {
    for (std::int64_t p = sparse.offsets[i]; p < sparse.offsets[i + 1]; ++p) {
      CHECK(sparse.values[static_cast<std::size_t>(p)] ==
            predicted[i * 7 + static_cast<std::size_t>(sparse.labels[static_cast<std::size_t>(p)])]);
    }
  }
}

void area_equals_hand_computed_values() {
  CHECK_NEAR(interpolated_area({{2, 0}, {0, 3}}), 1.0, 1e-15);
  // one tie of 1 positive and 1 negative: precision is 1/2 throughout
  CHECK_NEAR(interpolated_area({{1}, {1}}), 0.5, 1e-15);
  // a negative first, then a positive: from (0, 0) to (1, 1/2)
  CHECK_NEAR(interpolated_area({{0, 1}, {1, 0}}), 0.25, 1e-15);
  CHECK(interpolated_area({{0}, {5}}) == 0.0);
}

void permuting_hurts_what_is_used() {
  const Grown g(4);
  const Examples examples = g.data.examples();
  for (const LabelError error :
       {LabelError::auprc, LabelError::brier, LabelError::hamming, LabelError::misclassification}) {
    const LabelIncreases one = permutation_labels(g.forest, g.table, g.data.label_rows(), error, true, examples, 1, {});
    const LabelIncreases same =
        permutation_labels(g.forest, g.table, g.data.label_rows(), error, true, examples, 3, {});
    CHECK(one.scores == same.scores);
    CHECK(one.per_label.values == same.per_label.values);
    CHECK(!one.per_label.values.empty());
    const LabelIncreases plain =
        permutation_labels(g.forest, g.table, g.data.label_rows(), error, false, examples, 2, {});
    CHECK(one.scores == plain.scores);
    CHECK(plain.per_label.values.empty());
    if (error == LabelError::auprc) CHECK(one.scores[0] > 0.02);
  }
  const Forest numbers = grow_numbers(g.table, g.data.number_rows(), examples, grow_params(4, 3), {});
  const NumberRows targets = g.data.number_rows();
  const LabelIncreases squared = permutation_numbers(numbers, g.table, targets, true, examples, 2, {});
  CHECK(squared.scores[0] > squared.scores[5]);
  CHECK(squared.per_label.offsets.size() == squared.scores.size() + 1);
  const LabelIncreases same = permutation_numbers(numbers, g.table, targets, true, examples, 1, {});
  CHECK(squared.per_label.values == same.per_label.values);
  const LabelIncreases plain = permutation_numbers(numbers, g.table, targets, false, examples, 2, {});
  CHECK(plain.scores == squared.scores);
  CHECK(plain.per_label.values.empty());
}

/// Whatever single number is changed, the validator refuses or the forest still predicts without leaving its arrays.
void damaged_trees_are_refused_or_harmless() {
  const Grown g(5);
  const auto rows = table_rows(g.table);
  Random random(9, 0);
  std::vector<double> out(250 * 7);
  int n_refused = 0;
  for (int trial = 0; trial < 400; ++trial) {
    Tree tree = *g.forest.trees[static_cast<std::size_t>(trial) % g.forest.trees.size()];
    const auto value = static_cast<std::int32_t>(random.next() >> (32 + random.below(31))) - 3;
    const std::size_t at = random.below(tree.feature.size());
    switch (trial % 8) {
      case 0:
        tree.feature[at] = value;
        break;
      case 1:
        tree.child[at] = value;
        break;
      case 2:
        tree.subset[at] = value;
        break;
      case 3:
        tree.leaf_offsets[random.below(tree.leaf_offsets.size())] = value;
        break;
      case 4:
        tree.leaf_labels[random.below(tree.leaf_labels.size())] = value;
        break;
      case 5:
        tree.weight[at] = value;
        break;
      case 6:
        tree.leaf_partial.pop_back();
        break;
      default:
        tree.subset_offsets.back() = value;
        break;
    }
    Forest damaged = g.forest;
    damaged.trees = {std::make_shared<Tree>(tree)};
    try {
      validate(damaged);
      predict(damaged, *rows, {0, 250}, 1, {}, out.data());
      genie3_per_output(damaged, g.data.label_weights.data(), 1, {});
    } catch (const std::invalid_argument&) {
      ++n_refused;
    }
  }
  CHECK(n_refused > 300);
}

}  // namespace

int main() {
  per_label_scores_add_up();
  out_of_bag_is_the_same_for_every_thread_count();
  contributions_add_up_to_the_prediction();
  area_equals_hand_computed_values();
  permuting_hurts_what_is_used();
  damaged_trees_are_refused_or_harmless();
  return check::finish();
}

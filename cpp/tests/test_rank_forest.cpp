// Forests of rankings: the same bits for every number of threads, leaves that hold what reaches them, sums and scores
// that follow from them.
#include <cmath>
#include <vector>

#include "base/bits.hpp"
#include "base/random.hpp"
#include "check.hpp"
#include "features/coding.hpp"
#include "forest/bagging.hpp"
#include "forest/predictor.hpp"
#include "forest/validation.hpp"
#include "rankings/rank_forest.hpp"
#include "rankings/rank_permutation.hpp"

using namespace ramify;

namespace {

constexpr std::int64_t n_rows = 200, n_features = 3, n_labels = 3, n_pairs = 3;
const Poll go_on = [](std::int64_t) { return true; };

/// The first feature decides between labels 0 and 1, the second between 0 and 2; a few rows leave label 2 unranked.
struct Data {
  std::vector<double> X, vectors;
  std::vector<std::int8_t> signs;
  std::vector<std::uint8_t> compared;
  std::vector<std::int32_t> kinds;

  Data() {
    Random random(3, 0);
    for (std::int64_t i = 0; i < n_rows; ++i) {
      for (std::int64_t f = 0; f < n_features; ++f) X.push_back(random.uniform() - 0.5);
      const double* x = X.data() + i * n_features;
      const int first = x[0] > 0 ? 1 : -1, second = x[1] > 0 ? 1 : -1, third = first == second ? 1 : second;
      const int all[] = {first, second, third};
      const bool ranked = i % 10 != 0;
      double length = 0;
      for (int p = 0; p < 3; ++p) {
        const bool both = ranked || p == 0;
        compared.push_back(both);
        signs.push_back(static_cast<std::int8_t>(both ? all[p] : 0));
        length += both;
      }
      for (int p = 0; p < 3; ++p) vectors.push_back(signs[static_cast<std::size_t>(i * 3 + p)] / std::sqrt(length));
      kinds.push_back(9 * (first + 1) + 3 * (second + 1) + (ranked ? third + 1 : 27));
    }
  }

  RankingRows view() const {
    return {signs.data(), compared.data(), vectors.data(), kinds.data(), n_rows, n_labels, n_pairs, n_pairs, 64, 1.0};
  }
  FeatureTable table() const {
    return code_dense(MatrixView<double>{X.data(), n_rows, n_features, n_features, 1}, {0, 0, 0}, 0, 1, go_on);
  }
};

GrowParams params(int n_threads, std::int64_t n_trees) {
  GrowParams params;
  params.seed = 7;
  params.n_trees = n_trees;
  params.max_features = 2;
  params.min_samples_leaf = 2;
  params.n_threads = n_threads;
  params.all_features_at_root = true;
  return params;
}

void check_criterion(const Data& data, const FeatureTable& table, const Examples& examples, RankCriterion criterion) {
  const Forest forest = grow_rankings(table, data.view(), criterion, 0.98, examples, params(1, 8), go_on);
  const Forest threaded = grow_rankings(table, data.view(), criterion, 0.98, examples, params(3, 8), go_on);
  validate(forest);
  const auto rows = table_rows(table);
  for (std::size_t t = 0; t < forest.trees.size(); ++t) {
    const Tree& tree = *forest.trees[t];
    CHECK(tree.feature == threaded.trees[t]->feature);
    CHECK(tree.threshold == threaded.trees[t]->threshold);
    CHECK(tree.leaf_values == threaded.trees[t]->leaf_values);
    CHECK(tree.feature[0] >= 0);

    // a leaf's mean signs run over the in-bag rows that reach it and compare the pair
    std::vector<std::uint32_t> draws(n_rows, 0);
    draw_bag(tree.seed, examples, draws);
    std::vector<double> sums(tree.leaf_values.size(), 0.0), counts(tree.leaf_values.size(), 0.0);
    for (std::int64_t i = 0; i < n_rows; ++i) {
      const std::int64_t leaf = tree.child[static_cast<std::size_t>(find_leaf(tree, data.X.data() + i * n_features))];
      const double weight = draws[static_cast<std::size_t>(i)];
      for (std::int64_t p = 0; p < n_pairs; ++p) {
        const auto at = static_cast<std::size_t>(leaf * n_pairs + p), cell = static_cast<std::size_t>(i * n_pairs + p);
        sums[at] += weight * data.signs[cell];
        counts[at] += weight * data.compared[cell];
      }
    }
    for (std::size_t v = 0; v < sums.size(); ++v)
      CHECK_NEAR(tree.leaf_values[v], counts[v] > 0 ? sums[v] / counts[v] : 0.0, 1e-12);
  }

  // sums of leaf rankings, whole and out of bag
  const SummedRankings all = sum_rankings(forest, n_labels, *rows, nullptr, false, 2, go_on);
  const SummedRankings outside = sum_rankings(forest, n_labels, *rows, &examples, false, 2, go_on);
  for (std::int64_t i = 0; i < n_rows; ++i) {
    std::vector<double> expected(n_labels, 0.0);
    std::int64_t n_outside = 0;
    for (const auto& tree : forest.trees) {
      const std::vector<double> leaves = leaf_rankings(*tree, n_labels);
      const std::int64_t leaf = tree->child[static_cast<std::size_t>(find_leaf(*tree, data.X.data() + i * n_features))];
      for (std::size_t a = 0; a < expected.size(); ++a)
        expected[a] += leaves[static_cast<std::size_t>(leaf * n_labels) + a];
      n_outside += !has_bit(in_bag(*tree, examples, n_rows), i);
    }
    for (std::size_t a = 0; a < expected.size(); ++a)
      CHECK_NEAR(all.sums[static_cast<std::size_t>(i * n_labels) + a], expected[a], 1e-9);
    CHECK(outside.n_trees[static_cast<std::size_t>(i)] == n_outside);
  }

  // the useless third feature is last; pairs know their own feature
  const RankingIncreases scores = permutation_rankings(forest, table, data.view(), examples, 2, go_on);
  CHECK(scores.scores[0] > scores.scores[2] && scores.scores[1] > scores.scores[2]);
  CHECK(scores.pair_scores[0] > scores.pair_scores[n_pairs]);
  CHECK(scores.pair_scores[n_pairs + 1] > scores.pair_scores[1]);
}

}  // namespace

int main() {
  const Data data;
  const FeatureTable table = data.table();
  const Examples examples = select_examples(n_rows, nullptr, nullptr);
  for (const RankCriterion criterion : {RankCriterion::correlation, RankCriterion::entropy, RankCriterion::mallows})
    check_criterion(data, table, examples, criterion);

  // Table 4.2: average ranks 1.5, 2, 3, 3.5
  const double means[] = {0, 1, 1, 0, 1, 0};
  double ranks[4];
  LabelRanker(4).rank(means, ranks);
  for (int label = 0; label < 4; ++label) CHECK(ranks[label] == (label == 0 ? 1.0 : label + 1.0));
  const double tied[] = {0, 0, 0, 0, 0, 0};
  LabelRanker(4).rank(tied, ranks);
  for (const double rank : ranks) CHECK(rank == 2.5);
  return check::finish();
}

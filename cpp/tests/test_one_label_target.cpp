// One label: the quick scan finds the cut that brute force finds, and whole trees equal those of LabelTarget.
#include <cstdint>
#include <limits>
#include <vector>

#include "check.hpp"
#include "features/coding.hpp"
#include "forest/grower.hpp"
#include "forest/validation.hpp"
#include "targets/label_target.hpp"
#include "targets/one_label_target.hpp"

using namespace ramify;

namespace {

struct Labels {
  std::vector<std::int64_t> offsets{0};
  std::vector<std::int32_t> labels;
  std::vector<double> weights{1.0, 1.0};

  LabelRows view(std::int64_t n_labels) const {
    return {offsets.data(), labels.data(), static_cast<std::int64_t>(offsets.size()) - 1, n_labels, weights.data()};
  }
};

/// One label, or two of which every row has one.
Labels random_labels(std::size_t n, Random& random, bool two_classes = false) {
  Labels labels;
  for (std::size_t i = 0; i < n; ++i) {
    const bool has = random.uniform() < 0.4;
    if (two_classes) {
      labels.labels.push_back(has ? 1 : 0);
    } else if (has) {
      labels.labels.push_back(0);
    }
    labels.offsets.push_back(static_cast<std::int64_t>(labels.labels.size()));
  }
  return labels;
}

void test_scan_equals_brute_force(std::size_t n, std::int32_t n_codes, std::uint64_t seed) {
  Random random(seed, 0);
  const Labels labels = random_labels(n, random);
  std::vector<std::uint32_t> rows, slots(n, 0);
  std::vector<double> weights;
  NodeEntries entries;
  double node_weight = 0, node_count = 0;
  std::vector<double> weight_of(static_cast<std::size_t>(n_codes), 0), count_of(static_cast<std::size_t>(n_codes), 0);
  entries.min_code = n_codes;
  for (std::size_t i = 0; i < n; ++i) {
    rows.push_back(static_cast<std::uint32_t>(i));
    weights.push_back(1.0 + static_cast<double>(random.below(3)));
    const auto code = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(n_codes)));
    entries.keys.push_back((static_cast<std::uint64_t>(code) << 32) | i);
    entries.min_code = std::min(entries.min_code, code);
    entries.max_code = std::max(entries.max_code, code);
    const double count = labels.offsets[i + 1] > labels.offsets[i] ? weights[i] : 0.0;
    weight_of[static_cast<std::size_t>(code)] += weights[i];
    count_of[static_cast<std::size_t>(code)] += count;
    node_weight += weights[i];
    node_count += count;
  }
  OneLabelTarget target(labels.view(1));
  target.begin_node(rows.data(), slots.data(), static_cast<std::int64_t>(n), weights.data(), -1);
  Cut cut;
  CHECK(target.scan(entries, cut));
  if (n_codes <= 65535) {  // read by code: the same
    entries.by_code = true;
    entries.n_rows = static_cast<std::int64_t>(n);
    for (std::size_t i = 0; i < n; ++i) entries.codes.push_back(0);
    for (const std::uint64_t key : entries.keys)
      entries.codes[NodeEntries::row_of(key)] = static_cast<std::uint16_t>(NodeEntries::code_of(key));
    Cut by_code;
    CHECK(target.sums_exact());
    for (const double share : {0.0, 0.9, 0.999999, 1.0 - 2e-12}) {  // of the score, to beat
      target.scan_codes(entries, cut.found ? share * cut.score : 0.0, by_code);
      CHECK(by_code.found == cut.found && by_code.score == cut.score && by_code.low == cut.low);
      CHECK(by_code.high == cut.high);
    }
    target.scan_codes(entries, cut.found ? 1.01 * cut.score : 0.0, by_code);
    CHECK(!by_code.found || by_code.score <= cut.score);
  }

  double best = -std::numeric_limits<double>::infinity(), weight = 0, count = 0;
  std::int32_t low = -1, before = -1;
  for (std::int32_t code = 0; code < n_codes; ++code) {
    if (weight_of[static_cast<std::size_t>(code)] == 0) continue;
    if (before >= 0) {
      const double rest = node_count - count;
      const double score = count * count / weight + rest * rest / (node_weight - weight);
      if (score > best * (1 + score_tolerance) || best < 0) {
        best = score;
        low = before;
      }
    }
    weight += weight_of[static_cast<std::size_t>(code)];
    count += count_of[static_cast<std::size_t>(code)];
    before = code;
  }
  CHECK(cut.found == (low >= 0));
  if (cut.found) {
    CHECK(cut.low == low);
    CHECK_NEAR(cut.score, best, 1e-12 * best);
    CHECK_NEAR(target.decrease(cut.score), best - node_count * node_count / node_weight, 1e-12);
  }
}

/// What may differ between the two targets' ways through a tree.
struct Growth {
  bool missing, two_classes;
  std::int32_t max_bins;
  std::int64_t min_samples_leaf;
  double min_weight;
  int weights;  ///< of rows: 0 none, 1 integers, 2 any
};

void test_trees_equal_those_of_label_target(std::size_t n, const Growth& growth, std::uint64_t seed) {
  const bool missing = growth.missing, two_classes = growth.two_classes;
  Random random(seed, 1);
  const Labels labels = random_labels(n, random, two_classes);
  const std::int64_t n_labels = two_classes ? 2 : 1;
  std::vector<double> values(n * 4);
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = random.uniform();
    values[n + i] = static_cast<double>(random.below(7));
    values[2 * n + i] = random.uniform() < 0.8 ? 0.0 : random.uniform();
    values[3 * n + i] = static_cast<double>(random.below(5));
    if (missing && random.uniform() < 0.2) values[i] = std::numeric_limits<double>::quiet_NaN();
  }
  const auto rows = static_cast<std::int64_t>(n);
  const Poll poll = [](std::int64_t) { return true; };
  const MatrixView<double> view{values.data(), rows, 4, 1, rows};
  // two classes: which end a list of categories begins at is left open
  const FeatureTable table = code_dense(view, {0, 0, 0, two_classes ? 0 : 5}, growth.max_bins, 1, poll);
  Examples examples;
  for (std::size_t i = 0; i < n; ++i) examples.rows.push_back(static_cast<std::uint32_t>(i));
  for (std::size_t i = 0; i < n && growth.weights > 0; ++i)
    examples.weights.push_back(growth.weights == 1 ? 1.0 + static_cast<double>(i % 3) : 0.25 + random.uniform());
  GrowParams params;
  params.min_samples_leaf = growth.min_samples_leaf;
  params.min_weight_fraction_leaf = growth.min_weight;
  params.seed = seed;
  params.n_trees = 5;
  params.max_features = 2;
  const Forest one =
      grow_forest<OneLabelTarget>(table, labels.view(n_labels), Outcome::labels, n_labels, examples, params, poll);
  const Forest any =
      grow_forest<LabelTarget<false>>(table, labels.view(n_labels), Outcome::labels, n_labels, examples, params, poll);
  validate(one);
  for (std::size_t t = 0; t < 5; ++t) {
    CHECK(one.trees[t]->feature == any.trees[t]->feature);
    CHECK(one.trees[t]->threshold == any.trees[t]->threshold);
    CHECK(one.trees[t]->child == any.trees[t]->child);
    CHECK(one.trees[t]->missing_left == any.trees[t]->missing_left);
    for (std::size_t i = 0; i < one.trees[t]->decrease.size(); ++i)
      CHECK_NEAR(one.trees[t]->decrease[i], any.trees[t]->decrease[i],
                 two_classes || growth.weights == 2 ? 1e-12 * n : 0.0);
    CHECK(one.trees[t]->subset_words == any.trees[t]->subset_words);
    CHECK(one.trees[t]->leaf_labels == any.trees[t]->leaf_labels);
    CHECK(one.trees[t]->leaf_counts == any.trees[t]->leaf_counts);
  }
}

}  // namespace

int main() {
  std::uint64_t seed = 0;
  for (const std::size_t n : {2, 3, 20, 32, 33, 60, 500}) {
    for (const std::int32_t n_codes : {2, 5, 100, 3000, 1000000}) {
      for (int repeat = 0; repeat < 5; ++repeat) test_scan_equals_brute_force(n, n_codes, ++seed);
    }
  }
  for (const std::size_t n : {2, 10, 300, 3000}) {
    for (const bool missing : {false, true}) {
      for (const bool two_classes : {false, true}) {
        for (const std::int32_t max_bins : {0, 20}) {
          test_trees_equal_those_of_label_target(n, {missing, two_classes, max_bins, 1, 0.0, 0}, ++seed);
          test_trees_equal_those_of_label_target(n, {missing, two_classes, max_bins, 4, 0.0, 0}, ++seed);
          test_trees_equal_those_of_label_target(n, {missing, two_classes, max_bins, 1, 0.02, 1}, ++seed);
          test_trees_equal_those_of_label_target(n, {missing, two_classes, max_bins, 3, 0.0, 1}, ++seed);
        }
      }
    }
  }
  for (const std::int32_t max_bins : {0, 20})
    test_trees_equal_those_of_label_target(300, {true, false, max_bins, 2, 0.0, 2}, ++seed);
  return check::finish();
}

#include "scores/known_gains.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "base/indexing.hpp"
#include "forest/predictor.hpp"
#include "scores/gain_sums.hpp"

namespace ramify {

namespace {

/// Sums of one output over the examples of a node: in the bag, and over those that gains are measured on.
struct KnownSums {
  explicit KnownSums(std::int32_t label = -1) : label(label) {}

  std::int32_t label;
  double sum = 0, unknown = 0;                    ///< of known values, and the weight of unknown ones
  double measured_sum = 0, measured_unknown = 0;  ///< the same of the examples measured on

  KnownSums operator+(const KnownSums& other) const {
    KnownSums both{label};
    both.sum = sum + other.sum;
    both.unknown = unknown + other.unknown;
    both.measured_sum = measured_sum + other.measured_sum;
    both.measured_unknown = measured_unknown + other.measured_unknown;
    return both;
  }
};

double gain_of_both(const KnownSums& a, const KnownSums& b, double weight, const SideShares& per) {
  const double known = 1 / per.node - (a.unknown + b.unknown);
  if (!(known * per.node > 1e-12)) return 0;  // nothing is known
  const double mean = (a.sum + b.sum) / known;
  const double left = (a.sum + mean * a.unknown) * per.left, right = (b.sum + mean * b.unknown) * per.right;
  const double measured_left = a.measured_sum + mean * a.measured_unknown;
  const double measured_right = b.measured_sum + mean * b.measured_unknown;
  const double gain = (left - mean) * measured_left + (right - mean) * measured_right;
  const double size = std::fabs(mean) * (std::fabs(measured_left) + std::fabs(measured_right));
  return std::fabs(gain) > 1e-14 * size ? weight * gain * per.total : 0;
}

double gain_alone(const KnownSums& entry, double weight, bool left, const SideShares& per) {
  const KnownSums none{entry.label};
  return left ? gain_of_both(entry, none, weight, per) : gain_of_both(none, entry, weight, per);
}

/// Where the examples of one tree are, leaf by leaf.
struct RoutedTree {
  std::vector<std::int64_t> offsets;  ///< by node; nodes that are no leaf have no rows
  std::vector<std::uint32_t> rows;
  std::vector<std::uint32_t> draws;  ///< into the bag, per entry of `rows`
  double total = 0;                  ///< weight of the examples measured on
};

RoutedTree routed(const Tree& tree, const FeatureRows& rows, const Examples& examples, GainOptions options) {
  std::vector<std::uint32_t> draws(at(rows.n_rows()), options.bootstrap ? 0 : 1);
  if (options.bootstrap) draw_bag(tree.seed, examples, draws);
  std::vector<std::int32_t> leaves(at(rows.n_rows()), -1);
  const std::int64_t size = rows.rows_per_block();
  std::vector<double> block(at(size * rows.n_features()), 0.0);
  RoutedTree found;
  found.offsets.assign(tree.feature.size() + 1, 0);
  std::size_t next = 0;
  for (std::int64_t first = 0; first < rows.n_rows(); first += size) {
    const std::int64_t last = std::min(first + size, rows.n_rows());
    rows.load(first, last, block.data());
    for (; next < examples.rows.size() && examples.rows[next] < last; ++next) {
      const std::uint32_t row = examples.rows[next];
      leaves[row] = find_leaf(tree, block.data() + (row - first) * rows.n_features());
      ++found.offsets[at(leaves[row]) + 1];
      const double weight = examples.weights.empty() ? 1.0 : examples.weights[row];
      if (!options.outside) found.total += draws[row] * weight;
      if (options.outside && draws[row] == 0) found.total += weight;
    }
    rows.unload(first, last, block.data());
  }
  for (std::size_t i = 0; i < tree.feature.size(); ++i) found.offsets[i + 1] += found.offsets[i];
  found.rows.resize(examples.rows.size());
  found.draws.resize(examples.rows.size());
  std::vector<std::int64_t> place(found.offsets.begin(), found.offsets.end() - 1);
  for (const std::uint32_t row : examples.rows) {
    const std::size_t to = at(place[at(leaves[row])]++);
    found.rows[to] = row;
    found.draws[to] = draws[row];
  }
  return found;
}

/// Call `visit(label, value)` for the labels of a row in a range, value 1, and for its unknown ones, NaN.
template <class Visit>
void each_entry(const LabelRows& labels, std::uint32_t row, OutputRange range, Visit visit) {
  const auto within = [&](const std::int32_t* first, const std::int32_t* last, double value) {
    for (first = std::lower_bound(first, last, range.first); first != last && *first < range.last; ++first)
      visit(*first, value);
  };
  within(labels.labels + labels.offsets[row], labels.labels + labels.offsets[row + 1], 1.0);
  within(labels.unknown + labels.unknown_offsets[row], labels.unknown + labels.unknown_offsets[row + 1], std::nan(""));
}

/// The same for numbers, all of which count.
template <class Visit>
void each_entry(const NumberRows& numbers, std::uint32_t row, OutputRange range, Visit visit) {
  for (std::int32_t t = range.first; t < range.last; ++t)
    visit(t, numbers.values[static_cast<std::int64_t>(row) * numbers.n_targets + t]);
}

/// Fills lists of sums for the leaves of a tree.
template <class Rows>
class LeafSums {
 public:
  LeafSums(const Rows& target, const Examples& examples, GainOptions options, OutputRange range)
      : target_(target), examples_(examples), options_(options), range_(range), sums_(at(range.last - range.first)) {}

  void operator()(const RoutedTree& tree, std::int32_t leaf, std::vector<KnownSums>& list) {
    touched_.clear();
    for (std::int64_t k = tree.offsets[at(leaf)]; k < tree.offsets[at(leaf) + 1]; ++k) {
      const std::uint32_t row = tree.rows[at(k)];
      const double weight = examples_.weights.empty() ? 1.0 : examples_.weights[row];
      const double inside = tree.draws[at(k)] * weight;
      const double measured = options_.outside ? (inside > 0 ? 0.0 : weight) : inside;
      each_entry(target_, row, range_, [&](std::int32_t output, double value) {
        KnownSums& sums = sums_[at(output - range_.first)];
        if (sums.label < 0) touched_.push_back(output);
        sums.label = output;
        if (std::isnan(value)) {
          sums.unknown += inside;
          sums.measured_unknown += measured;
        } else {
          sums.sum += inside * value;
          sums.measured_sum += measured * value;
        }
      });
    }
    std::sort(touched_.begin(), touched_.end());
    for (const std::int32_t output : touched_) {
      list.push_back(sums_[at(output - range_.first)]);
      sums_[at(output - range_.first)] = KnownSums{};
    }
  }

 private:
  const Rows& target_;
  const Examples& examples_;
  const GainOptions options_;
  const OutputRange range_;
  std::vector<KnownSums> sums_;
  std::vector<std::int32_t> touched_;
};

template <class Rows>
ScoreMatrix gains_of(const Forest& forest, const FeatureRows& rows, const Rows& target, std::int64_t n_outputs,
                     const double* weights, const Examples& examples, GainOptions options, int n_threads,
                     const Poll& poll) {
  if (target.n_rows != rows.n_rows())
    throw std::invalid_argument("Features and targets must have the same number of rows.");
  if (n_outputs != forest.n_outputs) throw std::invalid_argument("The forest has other outputs than the target.");
  check_features(forest, rows);
  std::vector<std::int32_t> row_of_feature;
  const std::vector<std::int32_t> used = used_features(forest, row_of_feature);
  std::vector<RoutedTree> trees(forest.trees.size());
  run_tasks(
      forest.n_trees(), n_threads,
      [&](std::int64_t t, int, const Control&) {
        trees[at(t)] = routed(*forest.trees[at(t)], rows, examples, options);
      },
      poll);
  return collect(
      forest, used, n_threads, poll, [&](OutputRange range, const Control& control, std::vector<double>& sums) {
        GainSummer<KnownSums> summer;
        LeafSums<Rows> leaf_sums(target, examples, options, range);
        for (std::size_t t = 0; t < trees.size(); ++t) {
          control.check();
          summer.add_tree(
              *forest.trees[t], trees[t].total, row_of_feature, weights, range,
              [&](std::int32_t node, std::vector<KnownSums>& list) { leaf_sums(trees[t], node, list); }, sums);
        }
      });
}

}  // namespace

ScoreMatrix known_gains(const Forest& forest, const FeatureRows& rows, const LabelRows& labels,
                        const Examples& examples, GainOptions options, int n_threads, const Poll& poll) {
  if (forest.outcome != Outcome::labels || !labels.partly_known())
    throw std::invalid_argument("Gains of partly known labels need such labels and a forest of labels.");
  return gains_of(forest, rows, labels, labels.n_labels, labels.label_weights, examples, options, n_threads, poll);
}

ScoreMatrix known_gains(const Forest& forest, const FeatureRows& rows, const NumberRows& numbers,
                        const Examples& examples, GainOptions options, int n_threads, const Poll& poll) {
  if (forest.outcome != Outcome::numbers)
    throw std::invalid_argument("Gains of partly known numbers need a forest of numbers.");
  return gains_of(forest, rows, numbers, numbers.n_targets, numbers.target_weights, examples, options, n_threads, poll);
}

}  // namespace ramify

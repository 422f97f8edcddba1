#include "relief/furthest_sets.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/indexing.hpp"

namespace ramify {

namespace {

constexpr std::int64_t rows_at_once = 8;
constexpr std::int64_t rows_between_checks = 1 << 14;

/// Two rows and the weight of what only one of them has.
struct Pair {
  double apart = 0;
  std::pair<std::int64_t, std::int64_t> rows{0, 0};

  bool better_than(const Pair& other) const {
    return apart > other.apart || (apart == other.apart && rows < other.rows);
  }
};

void raise(std::atomic<double>& bound, double value) {
  double old = bound.load(std::memory_order_relaxed);
  while (old < value && !bound.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

/// Compares eight rows at once with all lighter ones.
class Comparison {
 public:
  Comparison(const LabelSets& sets, const double* weights) : sets_(sets), weights_(weights), own_(at(sets.n_rows)) {
    for (std::int64_t row = 0; row < sets.n_rows; ++row) {
      for (std::int64_t e = sets.offsets[row]; e < sets.offsets[row + 1]; ++e) own_[at(row)] += weights[sets.labels[e]];
    }
    by_weight_.resize(at(sets.n_rows));
    std::iota(by_weight_.begin(), by_weight_.end(), std::int64_t(0));
    std::stable_sort(by_weight_.begin(), by_weight_.end(),
                     [this](std::int64_t a, std::int64_t b) { return own_[at(a)] > own_[at(b)]; });
  }

  /// The best pair of a row at positions [first, first + 8) by weight and one behind it. `bound`: what some pair
  /// reaches. `lanes` holds zeros for eight rows and every label, before and after.
  Pair best_of(std::int64_t first, std::atomic<double>& bound, std::vector<double>& lanes,
               const Control& control) const {
    const std::int64_t n = std::min(rows_at_once, sets_.n_rows - first);
    for (std::int64_t q = 0; q < n; ++q)
      each_label(by_weight_[at(first + q)],
                 [&](std::int64_t label) { lanes[at(label * rows_at_once + q)] = weights_[label]; });
    Pair best;
    const double heaviest = own_[at(by_weight_[at(first)])];
    for (std::int64_t p = first + 1; p < sets_.n_rows; ++p) {
      if ((p - first) % rows_between_checks == 0) control.check();
      const std::int64_t row = by_weight_[at(p)];
      if (heaviest + own_[at(row)] < bound.load(std::memory_order_relaxed)) break;
      double shared[rows_at_once] = {};
      each_label(row, [&](std::int64_t label) {
        const double* const lane = lanes.data() + label * rows_at_once;
        for (std::int64_t q = 0; q < rows_at_once; ++q) shared[q] += lane[q];
      });
      for (std::int64_t q = 0; q < std::min(n, p - first); ++q) {
        const std::int64_t other = by_weight_[at(first + q)];
        const Pair pair{own_[at(other)] + own_[at(row)] - 2 * shared[q], std::minmax({other, row})};
        if (pair.better_than(best)) best = pair;
      }
      raise(bound, best.apart);
    }
    for (std::int64_t q = 0; q < n; ++q)
      each_label(by_weight_[at(first + q)], [&](std::int64_t label) { lanes[at(label * rows_at_once + q)] = 0; });
    return best;
  }

 private:
  template <class Look>
  void each_label(std::int64_t row, Look look) const {
    for (std::int64_t e = sets_.offsets[row]; e < sets_.offsets[row + 1]; ++e) look(sets_.labels[e]);
  }

  const LabelSets& sets_;
  const double* weights_;
  std::vector<double> own_;              ///< weight of each row's labels
  std::vector<std::int64_t> by_weight_;  ///< rows, the heaviest first
};

}  // namespace

std::pair<std::int64_t, std::int64_t> furthest_sets(const LabelSets& sets, const double* weights, int n_threads,
                                                    const Poll& poll) {
  const Comparison comparison(sets, weights);
  const std::int64_t n_tasks = (sets.n_rows + rows_at_once - 1) / rows_at_once;
  std::atomic<double> bound{0};
  std::vector<Pair> best(at(n_tasks));
  std::vector<std::vector<double>> lanes(at(std::max(1, n_threads)));
  const auto task = [&](std::int64_t block, int thread, const Control& control) {
    control.check();
    std::vector<double>& own = lanes[at(thread)];
    own.resize(at(sets.n_labels * rows_at_once), 0.0);
    best[at(block)] = comparison.best_of(block * rows_at_once, bound, own, control);
  };
  run_tasks(n_tasks, n_threads, task, poll);
  Pair found;
  for (const Pair& pair : best) {
    if (pair.better_than(found)) found = pair;
  }
  return found.rows;
}

}  // namespace ramify

/// The losses of boosting. A loss knows the targets and turns scores into the responses that are compared with them;
/// the gradient is always target - response, and 0 where the target is unknown.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/parts.hpp"
#include "boosting/exact_sums.hpp"
#include "boosting/logistic.hpp"
#include "forest/bagging.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// log(1 + exp(-score)) for 0/1 labels; the response is the probability.
class LogisticLoss {
 public:
  explicit LogisticLoss(const LabelRows& labels) : labels_(labels) {}

  std::int64_t n_rows() const { return labels_.n_rows; }
  std::int64_t n_outputs() const { return labels_.n_labels; }
  const double* output_weights() const { return labels_.label_weights; }

  /// Log-odds of the frequencies, which are kept away from 0 and 1.
  std::vector<double> base(const Examples& examples, const Parts& parts) const {
    std::vector<double> counts(static_cast<std::size_t>(labels_.n_labels), 0.0), unknown(counts.size(), 0.0);
    double total = 0;
    for (const std::uint32_t row : examples.rows) {
      const double weight = examples.weights.empty() ? 1.0 : examples.weights[row];
      total += weight;
      each_target(row, 0, labels_.n_labels,
                  [&](std::int64_t label, double) { counts[static_cast<std::size_t>(label)] += weight; });
      each_unknown(row, 0, labels_.n_labels,
                   [&](std::int64_t label) { unknown[static_cast<std::size_t>(label)] += weight; });
    }
    total = parts.sum(total);
    parts.sum(counts);
    if (labels_.partly_known()) parts.sum(unknown);
    constexpr double rarest = 1e-4;
    for (std::size_t j = 0; j < counts.size(); ++j) {
      const double share = std::min(1 - rarest, std::max(rarest, counts[j] / (total - unknown[j])));
      counts[j] = std::log(share / (1 - share));
    }
    return counts;
  }

  static void respond(const float* scores, std::int64_t n, float* responses) {
    for (std::int64_t j = 0; j < n; ++j) responses[j] = logistic(scores[j]);
  }

  /// A bound on the gradients of a row.
  double largest_gradient(std::int64_t, const float*) const { return 1; }

  /// Add the gradients and curvatures of a row in outputs [first, last) to `g` and `h`, each rounded to its grid.
  void add_gradients(std::int64_t row, double weight, const float* responses, std::int64_t first, std::int64_t last,
                     const Grid& grid, const Grid& curvature_grid, double* g, double* h) const {
    for (std::int64_t j = first; j < last; ++j) {
      const double p = responses[j];
      g[j - first] -= grid.rounded(weight * p);
      h[j - first] += curvature_grid.rounded(weight * (p * (1 - p)));
    }
    each_target(row, first, last, [&](std::int64_t j, double) { g[j - first] += grid.rounded(weight); });
    each_unknown(row, first, last, [&](std::int64_t j) {
      const double p = responses[j];
      g[j - first] += grid.rounded(weight * p);
      h[j - first] -= curvature_grid.rounded(weight * (p * (1 - p)));
    });
  }

  /// Call `visit(output, target)` for the targets in [first, last) that are not 0.
  template <class Visit>
  void each_target(std::int64_t row, std::int64_t first, std::int64_t last, Visit visit) const {
    const std::int32_t *begin = labels_.labels + labels_.offsets[row], *end = labels_.labels + labels_.offsets[row + 1];
    if (first > 0) begin = std::lower_bound(begin, end, static_cast<std::int32_t>(first));
    for (; begin != end && *begin < last; ++begin) visit(*begin, 1.0);
  }

  /// Call `visit(output)` for the outputs in [first, last) that are unknown.
  template <class Visit>
  void each_unknown(std::int64_t row, std::int64_t first, std::int64_t last, Visit visit) const {
    if (!labels_.partly_known()) return;
    const std::int32_t *label = labels_.unknown + labels_.unknown_offsets[row], *const end =
                                                                                    labels_.unknown +
                                                                                    labels_.unknown_offsets[row + 1];
    for (label = std::lower_bound(label, end, static_cast<std::int32_t>(first)); label != end && *label < last; ++label)
      visit(*label);
  }

  /// Weighted loss of one row in what is known.
  double loss(std::int64_t row, const float* scores) const {
    constexpr std::int64_t together = 64;
    float terms[together];
    double sum = 0;
    for (std::int64_t first = 0; first < labels_.n_labels; first += together) {
      const std::int64_t n = std::min(together, labels_.n_labels - first);
      for (std::int64_t j = 0; j < n; ++j) terms[j] = softplus(scores[first + j]);
      for (std::int64_t j = 0; j < n; ++j) sum += labels_.label_weights[first + j] * terms[j];
    }
    each_target(row, 0, labels_.n_labels, [&](std::int64_t j, double) { sum -= labels_.label_weights[j] * scores[j]; });
    each_unknown(row, 0, labels_.n_labels,
                 [&](std::int64_t j) { sum -= labels_.label_weights[j] * softplus(scores[j]); });
    return sum;
  }

 private:
  const LabelRows labels_;
};

/// Half the squared error of numbers; the response is the score itself.
class SquaredLoss {
 public:
  explicit SquaredLoss(const NumberRows& numbers) : numbers_(numbers) {}

  std::int64_t n_rows() const { return numbers_.n_rows; }
  std::int64_t n_outputs() const { return numbers_.n_targets; }
  const double* output_weights() const { return numbers_.target_weights; }

  std::vector<double> base(const Examples&, const Parts&) const {
    return std::vector<double>(static_cast<std::size_t>(numbers_.n_targets), 0.0);
  }

  static void respond(const float* scores, std::int64_t n, float* responses) { std::copy_n(scores, n, responses); }

  double largest_gradient(std::int64_t row, const float* responses) const {
    double largest = 0;
    each_target(row, 0, numbers_.n_targets,
                [&](std::int64_t j, double target) { largest = std::max(largest, std::abs(target - responses[j])); });
    return largest;
  }

  void add_gradients(std::int64_t row, double weight, const float* responses, std::int64_t first, std::int64_t last,
                     const Grid& grid, const Grid& curvature_grid, double* g, double* h) const {
    each_target(row, first, last, [&](std::int64_t j, double target) {
      g[j - first] += grid.rounded(weight * (target - responses[j]));
      h[j - first] += curvature_grid.rounded(weight);
    });
  }

  template <class Visit>
  void each_target(std::int64_t row, std::int64_t first, std::int64_t last, Visit visit) const {
    for (std::int64_t j = first; j < last; ++j) {
      const double target = numbers_.values[row * numbers_.n_targets + j];
      if (target == target) visit(j, target);
    }
  }

  template <class Visit>
  void each_unknown(std::int64_t row, std::int64_t first, std::int64_t last, Visit visit) const {
    if (!numbers_.partly_known) return;
    for (std::int64_t j = first; j < last; ++j) {
      const double target = numbers_.values[row * numbers_.n_targets + j];
      if (target != target) visit(j);
    }
  }

  double loss(std::int64_t row, const float* scores) const {
    double sum = 0;
    each_target(row, 0, numbers_.n_targets, [&](std::int64_t j, double target) {
      sum += numbers_.target_weights[j] * 0.5 * (target - scores[j]) * (target - scores[j]);
    });
    return sum;
  }

 private:
  const NumberRows numbers_;
};

}  // namespace ramify

/// The losses of boosting. A loss knows the targets, turns a score into the response that is compared with them, and
/// keeps both up to date; the gradient is always target - response, and 0 where the target is unknown.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "forest/forest.hpp"

namespace ramify {

/// Steps of some outputs, ascending.
struct Steps {
  const std::int32_t* outputs;
  const double* values;
  std::int64_t n;
};

/// log(1 + exp(-score)) for 0/1 labels; the response is the probability.
class LogisticLoss {
 public:
  explicit LogisticLoss(const LabelRows& labels) : labels_(labels) {}

  std::int64_t n_rows() const { return labels_.n_rows; }
  std::int64_t n_outputs() const { return labels_.n_labels; }
  const double* output_weights() const { return labels_.label_weights; }

  /// Log-odds of the frequencies, which are kept away from 0 and 1.
  std::vector<double> base(const Examples& examples) const {
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
    constexpr double rarest = 1e-4;
    for (std::size_t j = 0; j < counts.size(); ++j) {
      const double share = std::min(1 - rarest, std::max(rarest, counts[j] / (total - unknown[j])));
      counts[j] = std::log(share / (1 - share));
    }
    return counts;
  }

  static double response(double score) {
    const double small = std::exp(-std::abs(score));
    return (score >= 0 ? 1.0 : small) / (1.0 + small);
  }
  static double curvature(double response) { return response * (1 - response); }

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
    double sum = 0;
    for (std::int64_t j = 0; j < labels_.n_labels; ++j) sum += labels_.label_weights[j] * softplus(scores[j]);
    each_target(row, 0, labels_.n_labels, [&](std::int64_t j, double) { sum -= labels_.label_weights[j] * scores[j]; });
    each_unknown(row, 0, labels_.n_labels,
                 [&](std::int64_t j) { sum -= labels_.label_weights[j] * softplus(scores[j]); });
    return sum;
  }

  /// Add steps to a row's scores and renew its responses; returns the change of its loss if `tracked`.
  double advance(std::int64_t row, const Steps& steps, bool tracked, float* scores, float* responses) const {
    const std::int32_t *label = labels_.labels + labels_.offsets[row], *end = labels_.labels + labels_.offsets[row + 1];
    const std::int32_t *unknown = nullptr, *last = nullptr;
    if (tracked && labels_.partly_known()) {
      unknown = labels_.unknown + labels_.unknown_offsets[row];
      last = labels_.unknown + labels_.unknown_offsets[row + 1];
    }
    double change = 0;
    for (std::int64_t k = 0; k < steps.n; ++k) {
      const std::int32_t j = steps.outputs[k];
      const double before = scores[j];
      scores[j] = static_cast<float>(before + steps.values[k]);
      responses[j] = static_cast<float>(response(scores[j]));
      if (!tracked) continue;
      while (unknown != last && *unknown < j) ++unknown;
      if (unknown != last && *unknown == j) continue;
      while (label != end && *label < j) ++label;
      const double target = label != end && *label == j ? 1.0 : 0.0;
      change += labels_.label_weights[j] * (softplus(scores[j]) - softplus(before) - target * (scores[j] - before));
    }
    return change;
  }

 private:
  static double softplus(double score) { return std::log1p(std::exp(-std::abs(score))) + std::max(score, 0.0); }

  const LabelRows labels_;
};

/// Half the squared error of numbers; the response is the score itself.
class SquaredLoss {
 public:
  explicit SquaredLoss(const NumberRows& numbers) : numbers_(numbers) {}

  std::int64_t n_rows() const { return numbers_.n_rows; }
  std::int64_t n_outputs() const { return numbers_.n_targets; }
  const double* output_weights() const { return numbers_.target_weights; }

  std::vector<double> base(const Examples&) const {
    return std::vector<double>(static_cast<std::size_t>(numbers_.n_targets), 0.0);
  }

  static double response(double score) { return score; }
  static double curvature(double) { return 1.0; }

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
    each_target(row, 0, numbers_.n_targets, [&](std::int64_t j, double target) { sum += error(j, target, scores[j]); });
    return sum;
  }

  double advance(std::int64_t row, const Steps& steps, bool tracked, float* scores, float* responses) const {
    double change = 0;
    for (std::int64_t k = 0; k < steps.n; ++k) {
      const std::int32_t j = steps.outputs[k];
      const double target = numbers_.values[row * numbers_.n_targets + j];
      const bool counts = tracked && target == target;
      if (counts) change -= error(j, target, scores[j]);
      scores[j] = responses[j] = static_cast<float>(scores[j] + steps.values[k]);
      if (counts) change += error(j, target, scores[j]);
    }
    return change;
  }

 private:
  double error(std::int64_t j, double target, double score) const {
    return numbers_.target_weights[j] * 0.5 * (target - score) * (target - score);
  }

  const NumberRows numbers_;
};

}  // namespace ramify

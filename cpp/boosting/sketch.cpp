#include "boosting/sketch.hpp"

#include <algorithm>
#include <cmath>

#include "base/random.hpp"

namespace ramify {

namespace {

constexpr std::int64_t group = 4;  ///< columns that are summed side by side

/// Sums of `n_groups` groups of columns, which stay in registers.
template <int n_groups>
void subtract_groups(const float* values, std::int64_t n, const float* cells, std::int64_t stride, float* sums) {
  float local[n_groups * group] = {};
  for (std::int64_t j = 0; j < n; ++j) {
    const float value = values[j];
    const float* const row = cells + j * stride;
    for (std::int64_t c = 0; c < n_groups * group; ++c) local[c] += value * row[c];
  }
  std::copy_n(local, n_groups * group, sums);
}

}  // namespace

Sketch::Sketch(std::int64_t n_outputs, const double* output_weights, std::int64_t n_projections)
    : n_outputs_(n_outputs),
      n_columns_(std::min(n_outputs, n_projections)),
      stride_((n_columns_ + group - 1) / group * group) {
  for (std::int64_t j = 0; j < n_outputs; ++j) roots_.push_back(static_cast<float>(std::sqrt(output_weights[j])));
  if (n_projections < n_outputs) cells_.assign(static_cast<std::size_t>(n_outputs * stride_), 0.0f);
}

void Sketch::draw(std::uint64_t seed) {
  if (!projects()) return;
  constexpr std::uint64_t sketch_stream = 4;
  constexpr double two_pi = 6.283185307179586;
  Random random(seed, sketch_stream);
  const double scale = 1 / std::sqrt(static_cast<double>(n_columns_));
  for (std::int64_t j = 0; j < n_outputs_; ++j) {
    float* const row = cells_.data() + j * stride_;
    for (std::int64_t c = 0; c < n_columns_; c += 2) {  // Box and Muller (1958)
      const double radius = std::sqrt(-2 * std::log(1 - random.uniform())), angle = two_pi * random.uniform();
      const double factor = roots_[static_cast<std::size_t>(j)] * scale * radius;
      row[c] = static_cast<float>(factor * std::cos(angle));
      if (c + 1 < n_columns_) row[c + 1] = static_cast<float>(factor * std::sin(angle));
    }
  }
}

void Sketch::add(std::int64_t output, float weight, float* out) const {
  if (!projects()) {
    out[output] += weight * roots_[static_cast<std::size_t>(output)];
    return;
  }
  const float* const row = cells_.data() + output * stride_;
  for (std::int64_t c = 0; c < n_columns_; ++c) out[c] += weight * row[c];
}

void Sketch::subtract(const float* values, float* out) const {
  if (!projects()) {
    for (std::int64_t j = 0; j < n_outputs_; ++j) out[j] -= values[j] * roots_[static_cast<std::size_t>(j)];
    return;
  }
  float sums[4 * group];
  for (std::int64_t first = 0; first < stride_; first += 4 * group) {
    const std::int64_t n_groups = std::min<std::int64_t>(4, (stride_ - first) / group);
    const float* const cells = cells_.data() + first;
    if (n_groups == 4) {
      subtract_groups<4>(values, n_outputs_, cells, stride_, sums);
    } else if (n_groups == 3) {
      subtract_groups<3>(values, n_outputs_, cells, stride_, sums);
    } else if (n_groups == 2) {
      subtract_groups<2>(values, n_outputs_, cells, stride_, sums);
    } else {
      subtract_groups<1>(values, n_outputs_, cells, stride_, sums);
    }
    for (std::int64_t c = first; c < std::min(n_columns_, first + n_groups * group); ++c) out[c] -= sums[c - first];
  }
}

}  // namespace ramify

/// Random projections of the outputs, drawn anew for each round.
#pragma once

#include <cstdint>
#include <vector>

namespace ramify {

/// A matrix outputs x columns. With `n_projections` columns its cells are normal with variance 1 / n_projections, times
/// the root of the output's weight, so that distances of weighted gradients keep their means. Where there are not more
/// outputs than that, it is the diagonal matrix of the roots and nothing is drawn.
class Sketch {
 public:
  Sketch(std::int64_t n_outputs, const double* output_weights, std::int64_t n_projections);

  std::int64_t n_columns() const { return n_columns_; }

  /// The matrix of one round.
  void draw(std::uint64_t seed);

  /// out += weight * row `output` of the matrix.
  void add(std::int64_t output, float weight, float* out) const;

  /// out -= values x matrix.
  void subtract(const float* values, float* out) const;

 private:
  bool projects() const { return !cells_.empty(); }

  std::int64_t n_outputs_, n_columns_, stride_;
  std::vector<float> roots_;
  std::vector<float> cells_;  ///< n_outputs x stride, the last columns of a row padded with 0
};

}  // namespace ramify

#include "forest/nominal.hpp"

#include <cmath>
#include <cstddef>

namespace ramify {

namespace {

/// direction = sum of coefficient * mean, then places = means along it, centred.
void project(const CategorySums& c, const std::vector<double>& coefficients, std::vector<double>& direction,
             std::vector<double>& places) {
  const std::size_t n = c.weight.size();
  direction.assign(c.dimension_weight.size(), 0.0);
  for (std::size_t g = 0; g < n; ++g) {
    const double scale = coefficients[g] / c.weight[g];
    for (auto p = c.offsets[g]; p < c.offsets[g + 1]; ++p) direction[c.dimensions[p]] += scale * c.sums[p];
  }
  double total = 0, centre = 0;
  for (std::size_t g = 0; g < n; ++g) {
    double place = 0;
    for (auto p = c.offsets[g]; p < c.offsets[g + 1]; ++p) {
      place += c.dimension_weight[c.dimensions[p]] * direction[c.dimensions[p]] * c.sums[p];
    }
    places[g] = place / c.weight[g] + c.own[g] * coefficients[g] / (c.weight[g] * c.weight[g]);
    total += c.weight[g];
    centre += c.weight[g] * places[g];
  }
  for (std::size_t g = 0; g < n; ++g) places[g] -= centre / total;
}

}  // namespace

void principal_places(const CategorySums& c, std::vector<double>& places) {
  constexpr int n_steps = 8;
  const std::size_t n = c.weight.size();
  std::vector<double> coefficients(n), direction;
  places.assign(n, 0.0);
  double total = 0;
  for (const double weight : c.weight) total += weight;

  // start: the category that adds most to the variance between categories
  std::vector<double> mean(c.dimension_weight.size(), 0.0);
  for (std::size_t p = 0; p < c.sums.size(); ++p) mean[c.dimensions[p]] += c.sums[p] / total;
  double square = 0;
  for (std::size_t d = 0; d < mean.size(); ++d) square += c.dimension_weight[d] * mean[d] * mean[d];
  for (const double own : c.own) square += own / (total * total);
  std::size_t start = 0;
  double largest = -1;
  for (std::size_t g = 0; g < n; ++g) {
    double own_square = c.own[g] / (c.weight[g] * c.weight[g]), cross = c.own[g] / (c.weight[g] * total);
    for (auto p = c.offsets[g]; p < c.offsets[g + 1]; ++p) {
      const double w = c.dimension_weight[c.dimensions[p]], category_mean = c.sums[p] / c.weight[g];
      own_square += w * category_mean * category_mean;
      cross += w * category_mean * mean[c.dimensions[p]];
    }
    const double share = c.weight[g] * (own_square - 2 * cross + square);
    if (share > largest * (1 + 1e-12)) {
      largest = share;
      start = g;
    }
  }
  for (std::size_t g = 0; g < n; ++g) coefficients[g] = (g == start ? 1.0 : 0.0) - c.weight[g] / total;

  for (int step = 0; step < n_steps; ++step) {
    project(c, coefficients, direction, places);
    double largest_coefficient = 0;
    for (std::size_t g = 0; g < n; ++g) {
      coefficients[g] = c.weight[g] * places[g];
      largest_coefficient = std::fmax(largest_coefficient, std::fabs(coefficients[g]));
    }
    if (!(largest_coefficient > 0)) return;
    for (double& coefficient : coefficients) coefficient /= largest_coefficient;
  }
}

}  // namespace ramify

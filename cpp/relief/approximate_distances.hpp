/// Distances of a few queries to many dense rows in single precision, with a bound on their error.
#pragma once

#include <cstdint>
#include <vector>

#include "relief/neighbor_selection.hpp"
#include "relief/relief.hpp"

namespace ramify {

constexpr int rows_per_tile = 8;
constexpr int queries_at_once = 4;

/// Eight floats in memory.
struct Tile {
  float values[rows_per_tile];
};

/// Rows in tiles of eight, feature by feature, scaled so that a term of the distance is |x - q| or (x - q)^2.
///
/// A missing number is stored as one half, and one half is added to every distance from and to it: |1/2 - t| + 1/2 is
/// max(t, 1 - t), and two missing values differ by 1. So numbers, missing or not, and known categories are plain: they
/// take no branch.
class ApproximateDistances {
 public:
  /// The row of position i is `row_at[i]`.
  ApproximateDistances(const DenseRows& rows, const Differences& differences, const std::vector<std::int64_t>& row_at);

  /// How the terms of a feature are computed.
  enum class Way : std::uint8_t { squared_number, general };

  /// Four queries, made ready.
  struct Queries {
    std::vector<float> values;       ///< four per feature, as they are stored
    float offsets[queries_at_once];  ///< added to every distance
    std::vector<Way> ways;           ///< of the features that are not plain
  };

  /// Make `n` queries ready, up to four.
  void prepare(const double* const* queries, int n, Queries& ready) const;

  /// Distances to the rows of tiles [first, last): those of query q from `out + q * (last - first) * rows_per_tile` on.
  void to_tiles(const Queries& queries, std::int64_t first, std::int64_t last, float* out) const;

  std::int64_t n_tiles() const { return n_tiles_; }
  Tolerance tolerance() const { return tolerance_; }

  /// Whether the distances of queries without missing values are whole numbers, so exact.
  bool are_exact() const { return n_numbers_ == 0 && n_plain_ == n_features_ && n_features_ < 1 << 24; }

 private:
  float scaled(std::int64_t feature, double value) const;
  void add_others(const Queries& queries, std::int64_t tile, float* out, std::int64_t stride) const;

  const Differences& differences_;
  std::int64_t n_features_, n_tiles_;
  std::int64_t n_numbers_ = 0, n_plain_ = 0;
  std::vector<std::int64_t> order_;  ///< features as they are stored: plain numbers, plain categories, then the others
  std::vector<float> scale_;         ///< per stored feature
  std::vector<char> has_missing_;    ///< per stored feature
  std::vector<Tile> tiles_, offsets_;
  Tolerance tolerance_{0, 0};
};

}  // namespace ramify

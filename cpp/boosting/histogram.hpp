/// Sums of whole-number gradients by the codes of a feature. Whole numbers add up to the same in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "features/feature_table.hpp"

namespace ramify {

/// What a row adds to a histogram, and what a histogram holds per code: its gradients, a one that counts it, and where
/// rows are weighted its weight; padded with zeros.
struct Lanes {
  int n_dims = 1;         ///< gradients
  bool weighted = false;  ///< is there a weight of its own, or do rows weigh what they count?
  int stride = 4;         ///< numbers per row and per code: a multiple of 4

  Lanes(int dims, bool has_weights)
      : n_dims(dims), weighted(has_weights), stride((dims + (has_weights ? 2 : 1) + 3) / 4 * 4) {}

  int count_lane() const { return n_dims; }
  int weight_lane() const { return weighted ? n_dims + 1 : n_dims; }
};

/// The largest whole number that a gradient may become, so that no sum over `n_rows` leaves 32 bits.
inline std::int32_t gradient_range(std::int64_t n_rows) {
  constexpr std::int64_t of_lane = 0x7FFF, of_sum = 0x7FFFFFFF;
  const std::int64_t of_row = of_sum / (n_rows > 0 ? n_rows : 1);
  return static_cast<std::int32_t>(of_row < of_lane ? of_row : of_lane);
}

/// `value` rounded up or down so that its mean is `value`; `draw` is uniform in [0, 2^16).
inline std::int32_t rounded_by_chance(double value, std::uint32_t draw, std::int32_t range) {
  constexpr std::int32_t shift = 0x8000;
  const double moved = value + draw * 0x1.0p-16 + shift;
  const std::int32_t whole = static_cast<std::int32_t>(moved) - shift;
  return whole > range ? range : whole < -range ? -range : whole;
}

/// Add rows to the histogram of a dense column; `values` are the lanes of `rows`, in their order.
void add_to_histogram(const ColumnHead& column, const Lanes& lanes, const std::uint32_t* rows,
                      const std::int16_t* values, std::int64_t n_rows, std::int32_t* histogram);

/// The codes of `rows`, ascending and each once, with that of missing values; without a look at the whole histogram.
void list_codes(const ColumnHead& column, const std::uint32_t* rows, std::int64_t n_rows,
                std::vector<std::uint64_t>& bits, std::vector<std::int32_t>& codes);

}  // namespace ramify

#include "boosting/histogram_cuts.hpp"

#include <algorithm>
#include <cmath>

#include "forest/splitting.hpp"

namespace ramify {

namespace {

/// Rounding by chance moves each gradient by less than 1. Cuts that gain no more than this were made up by it: the gain
/// of a cut is a quarter of a chi-square with as many degrees of freedom as there are gradients, and a node looks at
/// thousands of cuts. An order of nominal values that follows the gradients adds to it by the number of values.
double gain_of_rounding(int n_dims, std::size_t n_ordered) {
  return 4.0 + 2.0 * n_dims + 0.5 * n_dims * static_cast<double>(n_ordered);
}

void add_lanes(std::int32_t* sums, const std::int32_t* more, int stride) {
  for (int c = 0; c < stride; ++c) sums[c] += more[c];
}

}  // namespace

CutFinder::CutFinder(const Lanes& lanes, const CutLimits& limits)
    : lanes_(lanes),
      limits_(limits),
      side_(static_cast<std::size_t>(lanes.stride)),
      with_missing_(side_.size()),
      best_sums_(side_.size()),
      pooled_sums_(side_.size()) {}

void CutFinder::find(const ColumnHead& column, const std::int32_t* histogram, const std::vector<std::int32_t>& codes,
                     const std::int32_t* total, HistogramCut& cut, std::int32_t* left_sums) {
  const int stride = lanes_.stride;
  const bool any_missing = !codes.empty() && codes.back() == column.n_codes;
  const std::size_t n_codes = codes.size() - (any_missing ? 1 : 0);
  cut.constant = cut.found = false;
  cut.nominal = column.nominal;
  cut.any_missing = any_missing;
  total_ = total;
  found_ = false;
  const bool ordered = column.nominal && n_codes > 2;
  if (ordered) {
    group_codes(histogram, n_codes, codes);
    if (places_.size() > 2) order_groups();
  } else {
    place_codes(histogram, n_codes, codes);
  }
  if (places_.size() + (any_missing ? 1 : 0) < 2) {
    cut.constant = true;
    return;
  }
  const std::int32_t* const missing = any_missing ? histogram + std::int64_t(column.n_codes) * stride : nullptr;
  std::fill(side_.begin(), side_.end(), 0);
  for (std::size_t at = 0; at + 1 < places_.size(); ++at) {
    add_lanes(side_.data(), places_[at].sums, stride);
    consider(side_.data(), static_cast<std::int64_t>(at), false);
    if (!any_missing) continue;
    for (int c = 0; c < stride; ++c)
      with_missing_[static_cast<std::size_t>(c)] = side_[static_cast<std::size_t>(c)] + missing[c];
    consider(with_missing_.data(), static_cast<std::int64_t>(at), true);
  }
  if (any_missing && !places_.empty()) {  // all values against missing
    for (int c = 0; c < stride; ++c) with_missing_[static_cast<std::size_t>(c)] = total[c] - missing[c];
    consider(with_missing_.data(), static_cast<std::int64_t>(places_.size()) - 1, false);
  }
  if (!found_) return;
  const std::vector<std::int32_t> nothing(static_cast<std::size_t>(stride), 0);
  const double weight = total[lanes_.weight_lane()];
  const double gain = best_score_ - score_of(nothing.data(), 1.0, weight);
  const double per_row = weight / total[lanes_.count_lane()];
  if (!(gain * per_row > gain_of_rounding(lanes_.n_dims, ordered ? places_.size() : 0))) return;
  cut.found = true;
  cut.score = best_score_;
  cut.missing_left = best_missing_left_;
  std::copy(best_sums_.begin(), best_sums_.end(), left_sums);
  const auto at = static_cast<std::size_t>(best_at_);
  if (column.nominal) return write_subset(column, at + 1, cut);
  cut.low = places_[at].code;
  cut.high = at + 1 < places_.size() ? places_[at + 1].code : -1;
}

void CutFinder::place_codes(const std::int32_t* histogram, std::size_t n_codes,
                            const std::vector<std::int32_t>& codes) {
  pool_.clear();
  places_.clear();
  for (std::size_t i = 0; i < n_codes; ++i)
    places_.push_back({histogram + std::int64_t(codes[i]) * lanes_.stride, codes[i]});
}

/// Places for the codes with enough rows; all others share one.
void CutFinder::group_codes(const std::int32_t* histogram, std::size_t n_codes,
                            const std::vector<std::int32_t>& codes) {
  pool_.clear();
  places_.clear();
  std::fill(pooled_sums_.begin(), pooled_sums_.end(), 0);
  for (std::size_t i = 0; i < n_codes; ++i) {
    const std::int32_t* const sums = histogram + std::int64_t(codes[i]) * lanes_.stride;
    if (sums[lanes_.count_lane()] >= limits_.min_category_rows) {
      places_.push_back({sums, codes[i]});
      continue;
    }
    if (pool_.empty()) places_.push_back({pooled_sums_.data(), codes[i]});
    pool_.push_back(codes[i]);
    add_lanes(pooled_sums_.data(), sums, lanes_.stride);
  }
}

/// Along the first principal direction of the groups' mean gradients.
void CutFinder::order_groups() {
  const auto n_dims = static_cast<std::size_t>(lanes_.n_dims);
  sums_.clear();
  sums_.dimension_weight.assign(n_dims, 1.0);
  for (const Place& place : places_) {
    for (std::size_t d = 0; d < n_dims; ++d) {
      sums_.dimensions.push_back(static_cast<std::int32_t>(d));
      sums_.sums.push_back(place.sums[d]);
    }
    sums_.weight.push_back(std::max(1, place.sums[lanes_.weight_lane()]));
    sums_.own.push_back(0.0);
    sums_.offsets.push_back(static_cast<std::int64_t>(sums_.sums.size()));
  }
  principal_places(sums_, along_);
  order_.resize(places_.size());
  for (std::size_t g = 0; g < order_.size(); ++g) order_[g] = g;
  std::stable_sort(order_.begin(), order_.end(),
                   [this](std::size_t a, std::size_t b) { return along_[a] < along_[b]; });
  ordered_.clear();
  for (const std::size_t g : order_) ordered_.push_back(places_[g]);
  places_.swap(ordered_);
}

void CutFinder::consider(const std::int32_t* left, std::int64_t at, bool missing_left) {
  const std::int64_t n_left = left[lanes_.count_lane()], n_right = total_[lanes_.count_lane()] - n_left;
  if (n_left < limits_.min_samples_leaf || n_right < limits_.min_samples_leaf) return;
  const double left_weight = left[lanes_.weight_lane()], right_weight = total_[lanes_.weight_lane()] - left_weight;
  if (!(left_weight > 0) || !(right_weight > 0)) return;
  const double score = score_of(left, left_weight, right_weight);
  if (found_ && !(score > best_score_ + score_tolerance * best_score_)) return;
  found_ = true;
  best_score_ = score;
  best_at_ = at;
  best_missing_left_ = missing_left;
  std::copy_n(left, lanes_.stride, best_sums_.begin());
}

double CutFinder::score_of(const std::int32_t* left, double left_weight, double right_weight) const {
  const int n_dims = lanes_.n_dims;
  if (n_dims == 1) {
    const double l = left[0], r = total_[0] - left[0];
    return l * l / left_weight + r * r / right_weight;
  }
  double left_squares[4] = {}, right_squares[4] = {};
  int c = 0;
  for (; c + 4 <= n_dims; c += 4) {
    for (int j = 0; j < 4; ++j) {
      const double l = left[c + j], r = total_[c + j] - left[c + j];
      left_squares[j] += l * l;
      right_squares[j] += r * r;
    }
  }
  for (int j = 0; c < n_dims; ++c, ++j) {
    const double l = left[c], r = total_[c] - left[c];
    left_squares[j] += l * l;
    right_squares[j] += r * r;
  }
  return ((left_squares[0] + left_squares[1]) + (left_squares[2] + left_squares[3])) / left_weight +
         ((right_squares[0] + right_squares[1]) + (right_squares[2] + right_squares[3])) / right_weight;
}

/// The codes of the first `n_left` places go left.
void CutFinder::write_subset(const ColumnHead& column, std::size_t n_left, HistogramCut& cut) const {
  const auto n_words = static_cast<std::size_t>((column.n_codes + 63) / 64);
  cut.left_codes.assign(n_words, 0);
  cut.present_codes.assign(n_words, 0);
  const auto note = [&](std::int32_t code, bool left) {
    const auto word = static_cast<std::size_t>(code / 64);
    const std::uint64_t bit = std::uint64_t(1) << (code % 64);
    cut.present_codes[word] |= bit;
    if (left) cut.left_codes[word] |= bit;
  };
  for (std::size_t at = 0; at < places_.size(); ++at) {
    if (places_[at].sums != pooled_sums_.data()) {
      note(places_[at].code, at < n_left);
      continue;
    }
    for (const std::int32_t code : pool_) note(code, at < n_left);
  }
}

}  // namespace ramify

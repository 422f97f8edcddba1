#include "scores/shapley_sums.hpp"

#include <algorithm>

namespace ramify {

namespace {

constexpr std::size_t max_places = std::size_t{1} << 13;  ///< half a megabyte of weights

/// Add a leaf's weights times a value to a column.
RAMIFY_WIDE_VECTORS void add_products(const double* weights, double value, const std::int32_t* places,
                                      std::size_t n_places, double* column) {
  for (std::size_t p = 0; p < n_places; ++p) {
    double* const cells = column + static_cast<std::size_t>(places[p]) * n_lanes;
    store(load(cells) + load(weights + p * n_lanes) * value, cells);
  }
}

}  // namespace

double* LeafWeights::next_leaf(const std::vector<std::size_t>& features, ShapleySums& sums) {
  if (places_.size() + features.size() > max_places) scatter(sums);
  for (const std::size_t feature : features) places_.push_back(sums.place_of_feature[feature]);
  offsets_.push_back(places_.size());
  if (weights_.size() < places_.size() * n_lanes) weights_.resize(places_.size() * n_lanes);
  return weights_.data() + (places_.size() - features.size()) * n_lanes;
}

void LeafWeights::scatter(ShapleySums& sums) {
  const std::size_t n_columns = sums.cells.size() / (static_cast<std::size_t>(sums.n_places) * n_lanes);
  starts_.assign(n_columns + 1, 0);
  for (const Entry& entry : entries_) ++starts_[static_cast<std::size_t>(entry.column) + 1];
  for (std::size_t column = 0; column < n_columns; ++column) starts_[column + 1] += starts_[column];
  sorted_.resize(entries_.size());
  for (const Entry& entry : entries_) sorted_[starts_[static_cast<std::size_t>(entry.column)]++] = entry;
  for (const Entry& entry : sorted_) {
    const auto leaf = static_cast<std::size_t>(entry.leaf);
    add_products(weights_.data() + offsets_[leaf] * n_lanes, entry.value, places_.data() + offsets_[leaf],
                 offsets_[leaf + 1] - offsets_[leaf], sums.at(entry.column, 0));
  }
  offsets_.assign(1, 0);
  places_.clear();
  entries_.clear();
}

}  // namespace ramify

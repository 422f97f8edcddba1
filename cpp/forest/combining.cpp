#include "forest/combining.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/indexing.hpp"

namespace ramify {

namespace {

/// About normal, never 0 and the same bits everywhere: the sum of four uniform numbers, of which one draw has the bits.
double random_weight(Random& random) {
  const std::uint64_t bits = random.next();
  double sum = -2 * 65535.0 + 0.5;
  for (int part = 0; part < 64; part += 16) sum += static_cast<double>(bits >> part & 0xFFFF);
  return sum;
}

}  // namespace

void Combining::begin_node(std::int64_t n, const double* weights) {
  n_ = n;
  weights_ = weights;
  taken_.clear();
}

/// Row by row, so that sums over the rows do not depend on how the table stores a column.
void Combining::read_values(std::int64_t feature, const NodeEntries& entries, std::vector<double>& values) const {
  const Column& column = table_.column(feature);
  values.assign(at(n_), entries.n_default > 0 ? column.value_of(entries.default_code) : 0.0);
  for (const std::uint64_t key : entries.keys)
    values[NodeEntries::row_of(key)] = column.value_of(NodeEntries::code_of(key));
  for (const std::uint32_t row : entries.missing) values[row] = std::numeric_limits<double>::quiet_NaN();
}

void Combining::take(std::int64_t feature, const NodeEntries& entries) {
  if (size_ == 0 || table_.head(feature).nominal) return;
  read_values(feature, entries, values_);
  double sum = 0, weight = 0, square = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (std::isnan(values_[i])) continue;
    sum += weights_[i] * values_[i];
    weight += weights_[i];
  }
  const double centre = sum / weight;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!std::isnan(values_[i])) square += weights_[i] * (values_[i] - centre) * (values_[i] - centre);
  }
  const double scale = std::sqrt(square / weight);
  if (scale > 0 && std::isfinite(scale) && entries.min_code != entries.max_code)
    taken_.push_back({static_cast<std::int32_t>(feature), 0.0, centre, scale});
}

void Combining::read_standardised(std::size_t i, const FeatureDrawing& drawing, NodeEntries& entries) {
  const CombinedFeature& one = taken_[i % taken_.size()];
  std::vector<double>& values = standardised_[i % standardised_.size()];
  drawing.read(one.feature, entries);
  read_values(one.feature, entries, values);
  for (double& value : values) value = one.standardised(value);
}

bool Combining::combine(std::size_t first, const FeatureDrawing& drawing, Random& random, NodeEntries& entries) {
  const std::size_t n_features = std::min(size_, taken_.size());
  if (first == 0) {
    standardised_.resize(n_features);
    for (std::size_t i = 0; i + 1 < n_features; ++i) read_standardised(i, drawing, entries);
  }
  read_standardised(first + n_features - 1, drawing, entries);
  combination_.clear();
  order_.clear();
  double total = 0;
  for (std::size_t i = first; i < first + n_features; ++i) {
    CombinedFeature one = taken_[i % taken_.size()];
    one.weight = random_weight(random);
    total += std::fabs(one.weight);
    combination_.push_back(one);
    order_.emplace_back(one.feature, static_cast<std::uint32_t>(i % n_features));  // and its place in standardised_
  }
  std::sort(combination_.begin(), combination_.end(),
            [](const CombinedFeature& a, const CombinedFeature& b) { return a.feature < b.feature; });
  std::sort(order_.begin(), order_.end());
  values_.assign(at(n_), 0.0);
  for (std::size_t j = 0; j < n_features; ++j) {
    combination_[j].weight /= total;
    const std::vector<double>& own = standardised_[order_[j].second];
    for (std::size_t i = 0; i < values_.size(); ++i) values_[i] += combination_[j].weight * own[i];
  }
  const auto [least, most] = std::minmax_element(values_.begin(), values_.end());
  least_ = *least;
  most_ = *most;
  return least_ < most_;
}

void Combining::begin_entries(std::int64_t n, std::int32_t max_code, NodeEntries& entries) {
  entries.keys.resize(at(n));
  entries.missing.clear();
  entries.by_code = false;
  entries.n_default = 0;
  entries.default_code = -1;
  entries.min_code = 0;
  entries.max_code = max_code;
}

const Column& Combining::write_ranks(NodeEntries& entries) {
  order_.clear();
  for (std::size_t i = 0; i < values_.size(); ++i) order_.emplace_back(values_[i], static_cast<std::uint32_t>(i));
  std::sort(order_.begin(), order_.end());
  begin_entries(n_, 0, entries);
  ranks_.lower.clear();
  for (std::size_t i = 0; i < order_.size(); ++i) {
    if (i == 0 || order_[i].first != order_[i - 1].first) ranks_.lower.push_back(order_[i].first);
    const auto code = static_cast<std::uint32_t>(ranks_.lower.size() - 1);
    entries.keys[order_[i].second] = NodeEntries::key_of(code, order_[i].second);  // listed by row, as columns are
  }
  ranks_.upper = ranks_.lower;
  ranks_.n_codes = static_cast<std::int32_t>(ranks_.lower.size());
  entries.max_code = ranks_.n_codes - 1;
  return ranks_;
}

void Combining::write_sides(double threshold, NodeEntries& entries) const {
  begin_entries(n_, 1, entries);
  for (std::size_t i = 0; i < values_.size(); ++i)
    entries.keys[i] = NodeEntries::key_of(values_[i] <= threshold ? 0 : 1, static_cast<std::int64_t>(i));
}

void Combining::keep() {
  kept_values_ = values_;
  kept_ = combination_;
}

void Combining::write(std::size_t node, Tree& tree) const {
  const auto heavier = [](const CombinedFeature& a, const CombinedFeature& b) { return a.share() < b.share(); };
  tree.feature[node] = std::max_element(kept_.begin(), kept_.end(), heavier)->feature;
  tree.subset[node] = -1 - static_cast<std::int32_t>(tree.combination_offsets.size());
  tree.combined.insert(tree.combined.end(), kept_.begin(), kept_.end());
  tree.combination_offsets.push_back(static_cast<std::int64_t>(tree.combined.size()));
}

}  // namespace ramify

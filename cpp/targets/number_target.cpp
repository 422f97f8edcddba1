#include "targets/number_target.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ramify {

template <bool partly_known>
NumberTarget<partly_known>::NumberTarget(const NumberRows& data)
    : data_(data), mean_(static_cast<std::size_t>(data.n_targets)), sum_(mean_.size()), missing_sum_(mean_.size()) {
  for (std::int64_t t = 0; t < data.n_targets; ++t) scale_.push_back(std::sqrt(data.target_weights[t]));
}

template <bool partly_known>
void NumberTarget<partly_known>::learn(const Examples& examples) {
  std::vector<double> sums(mean_.size(), 0.0), known(mean_.size(), 0.0);
  for (const std::uint32_t row : examples.rows) {
    const double weight = examples.weights.empty() ? 1.0 : examples.weights[row];
    const double* const y = data_.values + static_cast<std::int64_t>(row) * data_.n_targets;
    for (std::size_t t = 0; t < sums.size(); ++t) {
      if (std::isnan(y[t])) continue;
      sums[t] += weight * y[t];
      known[t] += weight;
    }
  }
  for (std::size_t t = 0; t < sums.size(); ++t) sums[t] = known[t] > 0 ? sums[t] / known[t] : 0.0;
  inherited_.start_from(std::move(sums));
}

template <bool partly_known>
int NumberTarget<partly_known>::begin_node(const std::uint32_t* rows, std::uint32_t*, std::int64_t n,
                                           const double* weights, int level) {
  if constexpr (partly_known) return begin_known_node(rows, n, weights, level);
  const std::int64_t n_targets = data_.n_targets;
  m_ = weights;
  node_weight_ = 0;
  for (double& mean : mean_) mean = 0;
  pure_ = true;
  const double* const first = data_.values + static_cast<std::int64_t>(rows[0]) * n_targets;
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const y = data_.values + static_cast<std::int64_t>(rows[i]) * n_targets;
    node_weight_ += m_[i];
    for (std::int64_t t = 0; t < n_targets; ++t) {
      mean_[static_cast<std::size_t>(t)] += m_[i] * y[t];
      pure_ = pure_ && (y[t] == first[t] || scale_[static_cast<std::size_t>(t)] == 0);
    }
  }
  if (pure_) return level;
  for (double& mean : mean_) mean /= node_weight_;
  z_.resize(static_cast<std::size_t>(n * n_targets));
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const y = data_.values + static_cast<std::int64_t>(rows[i]) * n_targets;
    for (std::int64_t t = 0; t < n_targets; ++t) {
      z_[static_cast<std::size_t>(i * n_targets + t)] =
          scale_[static_cast<std::size_t>(t)] * (y[t] - mean_[static_cast<std::size_t>(t)]);
    }
  }
  return level;
}

/// Unknown numbers are 0 when the others are centred.
template <bool partly_known>
int NumberTarget<partly_known>::begin_known_node(const std::uint32_t* rows, std::int64_t n, const double* weights,
                                                 int level) {
  const auto n_targets = static_cast<std::size_t>(data_.n_targets);
  m_ = weights;
  node_weight_ = 0;
  for (std::int64_t i = 0; i < n; ++i) node_weight_ += m_[i];
  find_means(rows, n, weights);
  pure_ = true;
  z_.resize(static_cast<std::size_t>(n) * n_targets);
  double spread = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const y = data_.values + static_cast<std::int64_t>(rows[i]) * data_.n_targets;
    for (std::size_t t = 0; t < n_targets; ++t) {
      z_[static_cast<std::size_t>(i) * n_targets + t] = std::isnan(y[t]) ? 0.0 : scale_[t] * (y[t] - mean_[t]);
      spread += m_[i] * std::abs(z_[static_cast<std::size_t>(i) * n_targets + t]);
    }
  }
  rounding_ = 1e-28 * spread * spread;
  for (std::size_t t = 0; t < n_targets; ++t) {
    if (known_[t] > 0) inherited_.set(static_cast<std::int32_t>(t), mean_[t]);
    pure_ = pure_ && (equal_[t] || scale_[t] == 0);
  }
  return level;
}

/// Means of the numbers that are known, and whether those are all equal.
template <bool partly_known>
void NumberTarget<partly_known>::find_means(const std::uint32_t* rows, std::int64_t n, const double* weights) {
  std::fill(mean_.begin(), mean_.end(), 0.0);
  known_.assign(mean_.size(), 0.0);
  equal_.assign(mean_.size(), 1);
  first_.resize(mean_.size());
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const y = data_.values + static_cast<std::int64_t>(rows[i]) * data_.n_targets;
    for (std::size_t t = 0; t < mean_.size(); ++t) {
      if (std::isnan(y[t])) continue;
      if (known_[t] == 0) first_[t] = y[t];
      equal_[t] = equal_[t] && y[t] == first_[t];
      mean_[t] += weights[i] * y[t];
      known_[t] += weights[i];
    }
  }
  for (std::size_t t = 0; t < mean_.size(); ++t) {
    if (known_[t] > 0) mean_[t] = equal_[t] ? first_[t] : mean_[t] / known_[t];
  }
}

template <bool partly_known>
void NumberTarget<partly_known>::clear() {
  for (double& sum : sum_) sum = 0;
  square_ = weight_ = cross_ = 0;
}

template <bool partly_known>
void NumberTarget<partly_known>::set_missing(const std::vector<std::uint32_t>& rows) {
  clear();
  for (const std::uint32_t row : rows) add(row);
  missing_sum_.swap(sum_);
  missing_square_ = square_;
  missing_weight_ = weight_;
}

template <bool partly_known>
void NumberTarget<partly_known>::category_sums(const KeyBuffer& keys, CategorySums& sums) {
  sums.clear();
  sums.dimension_weight.assign(static_cast<std::size_t>(data_.n_targets), 1.0);
  for (std::size_t first = 0; first < keys.size();) {
    std::size_t last = first;
    clear();
    for (; last < keys.size() && keys[last] >> 32 == keys[first] >> 32; ++last)
      add(static_cast<std::uint32_t>(keys[last]));
    for (std::size_t t = 0; t < sum_.size(); ++t) {
      sums.dimensions.push_back(static_cast<std::int32_t>(t));
      sums.sums.push_back(sum_[t]);
    }
    sums.weight.push_back(weight_);
    sums.own.push_back(0.0);
    sums.offsets.push_back(static_cast<std::int64_t>(sums.dimensions.size()));
    first = last;
  }
}

template <bool partly_known>
void NumberTarget<partly_known>::write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights,
                                            double total, Tree& tree) {
  if constexpr (partly_known) {
    find_means(rows, n, weights);
    for (std::size_t t = 0; t < mean_.size(); ++t)
      tree.leaf_values.push_back(known_[t] > 0 ? mean_[t] : inherited_[static_cast<std::int32_t>(t)]);
    return;
  }
  for (double& sum : sum_) sum = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double* const y = data_.values + static_cast<std::int64_t>(rows[i]) * data_.n_targets;
    for (std::size_t t = 0; t < sum_.size(); ++t) sum_[t] += weights[i] * y[t];
  }
  const double* const first = data_.values + static_cast<std::int64_t>(rows[0]) * data_.n_targets;
  for (std::size_t t = 0; t < sum_.size(); ++t) {
    bool equal = true;  // a mean of equal numbers is that number, to the last bit
    for (std::int64_t i = 1; i < n && equal; ++i)
      equal =
          data_.values[static_cast<std::int64_t>(rows[i]) * data_.n_targets + static_cast<std::int64_t>(t)] == first[t];
    tree.leaf_values.push_back(equal ? first[t] : sum_[t] / total);
  }
}

template class NumberTarget<false>;
template class NumberTarget<true>;

}  // namespace ramify

#include "rankings/rank_criteria.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ramify {

namespace {

constexpr std::int64_t lanes = VectorRows::lanes;
constexpr double tolerance = 1e-12;

std::int64_t padded(std::int64_t length) { return (length + lanes - 1) / lanes * lanes; }

double times_log(double count) { return count > 0 ? count * std::log(count) : 0.0; }

template <class Number>
std::vector<double> padded_rows(const Number* values, std::int64_t n_rows, std::int64_t n_columns) {
  const std::int64_t stride = padded(n_columns);
  std::vector<double> rows(static_cast<std::size_t>(n_rows * stride), 0.0);
  for (std::int64_t i = 0; i < n_rows; ++i)
    for (std::int64_t j = 0; j < n_columns; ++j)
      rows[static_cast<std::size_t>(i * stride + j)] = values[i * n_columns + j];
  return rows;
}

}  // namespace

VectorRows::VectorRows(const double* values, std::int64_t n_rows, std::int64_t n_columns)
    : stride_(padded(n_columns)), values_(padded_rows(values, n_rows, n_columns)) {
  complete(n_rows, n_columns);
}

VectorRows::VectorRows(const std::int8_t* values, std::int64_t n_rows, std::int64_t n_columns)
    : stride_(padded(n_columns)), values_(padded_rows(values, n_rows, n_columns)) {
  complete(n_rows, n_columns);
}

void VectorRows::complete(std::int64_t n_rows, std::int64_t n_columns) {
  for (std::int64_t i = 0; i < n_rows; ++i) squares_.push_back(dot(row(i), row(i), stride_));
  double largest = 1;
  for (const double value : values_) {
    if (value != std::floor(value) || std::abs(value) > 127) return;
    largest = std::max(largest, std::abs(value));
  }
  if (largest * static_cast<double>(n_columns) > 32767) return;  // inner products fit 32 bits
  largest_small_weight_ = std::floor(32767 / largest);
  small_stride_ = (n_columns + small_lanes - 1) / small_lanes * small_lanes;
  small_.assign(static_cast<std::size_t>(n_rows * small_stride_), 0);
  for (std::int64_t i = 0; i < n_rows; ++i)
    for (std::int64_t j = 0; j < n_columns; ++j)
      small_[static_cast<std::size_t>(i * small_stride_ + j)] = static_cast<std::int16_t>(row(i)[j]);
}

// ---- mean correlation

CorrelationCriterion::CorrelationCriterion(const RankingProblem& problem)
    : vectors_(problem.vectors),
      square_(problem.rows.square),
      gamma_(problem.gamma),
      total_(static_cast<std::size_t>(vectors_.stride())),
      left_(static_cast<std::size_t>(vectors_.stride())),
      small_total_(static_cast<std::size_t>(vectors_.small_stride())),
      small_left_(static_cast<std::size_t>(vectors_.small_stride())) {}

void CorrelationCriterion::open(const std::uint32_t* rows, const double* weights, std::int64_t n) {
  rows_ = rows;
  weights_ = weights;
  n_ = 0;
  bool whole = true;
  for (std::int64_t i = 0; i < n; ++i) {
    n_ += weights[i];
    whole = whole && weights[i] == std::floor(weights[i]);
  }
  small_ = whole && n_ <= vectors_.largest_small_weight();
  self_.resize(static_cast<std::size_t>(n));
  with_total_.resize(static_cast<std::size_t>(n));
  sum_node(n);
  parent_ = total_square_ / (n_ * n_ * square_);
  clear();
}

void CorrelationCriterion::sum_node(std::int64_t n) {
  const auto fill = [&](auto* total, std::int64_t stride, const auto row_of) {
    using Number = std::remove_reference_t<decltype(*total)>;
    std::fill(total, total + stride, Number(0));
    for (std::int64_t i = 0; i < n; ++i) add_scaled(total, row_of(rows_[i]), static_cast<Number>(weights_[i]), stride);
    for (std::int64_t i = 0; i < n; ++i) {
      const Number* vector = row_of(rows_[i]);
      self_[static_cast<std::size_t>(i)] = weights_[i] * weights_[i] * vectors_.square(rows_[i]);
      with_total_[static_cast<std::size_t>(i)] = weights_[i] * dot(total, vector, stride);
    }
    total_square_ = 0;
    for (std::int64_t d = 0; d < stride; ++d) total_square_ += static_cast<double>(total[d]) * total[d];
  };
  if (small_) {
    fill(small_total_.data(), vectors_.small_stride(), [this](std::uint32_t row) { return vectors_.small_row(row); });
  } else {
    fill(total_.data(), vectors_.stride(), [this](std::uint32_t row) { return vectors_.row(row); });
  }
}

void CorrelationCriterion::clear() {
  n_left_ = left_square_ = left_total_ = 0;
  if (small_) {
    std::fill(small_left_.begin(), small_left_.end(), std::int16_t(0));
  } else {
    std::fill(left_.begin(), left_.end(), 0.0);
  }
}

double CorrelationCriterion::gain() const { return split_similarity() - parent_; }

bool CorrelationCriterion::allowed() const { return (1 + parent_) + tolerance < gamma_ * (1 + split_similarity()); }

// ---- entropy of rankings

double EntropyCriterion::Side::entropy(double square) const {
  if (n_distinct < 2) return 0.0;
  const double share_logs = count_logs / n - std::log(n);
  const double similarity = (products / (static_cast<double>(n_distinct) * n * square) + 1) / 2;
  return share_logs * std::log(similarity);
}

EntropyCriterion::EntropyCriterion(const RankingProblem& problem)
    : vectors_(problem.vectors),
      kinds_(problem.rows.kinds),
      square_(problem.rows.square),
      total_(static_cast<std::size_t>(vectors_.stride())),
      node_distinct_(total_.size()),
      left_sum_(total_.size()),
      left_distinct_(total_.size()),
      right_distinct_(total_.size()),
      node_counts_(static_cast<std::size_t>(problem.rows.n_kinds), 0.0),
      left_counts_(static_cast<std::size_t>(problem.rows.n_kinds), 0.0) {}

void EntropyCriterion::open(const std::uint32_t* rows, const double* weights, std::int64_t n) {
  const std::int64_t stride = vectors_.stride();
  for (const std::int32_t kind : node_kinds_)
    node_counts_[static_cast<std::size_t>(kind)] = left_counts_[static_cast<std::size_t>(kind)] = 0;
  node_kinds_.clear();
  rows_ = rows;
  weights_ = weights;
  node_ = Side();
  std::fill(total_.begin(), total_.end(), 0.0);
  std::fill(node_distinct_.begin(), node_distinct_.end(), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    const double* vector = vectors_.row(rows[i]);
    double& count = node_counts_[static_cast<std::size_t>(kinds_[rows[i]])];
    if (count == 0) {
      node_kinds_.push_back(kinds_[rows[i]]);
      add_scaled(node_distinct_.data(), vector, 1.0, stride);
    }
    count += weights[i];
    node_.n += weights[i];
    add_scaled(total_.data(), vector, weights[i], stride);
  }
  for (const std::int32_t kind : node_kinds_)
    node_.count_logs += times_log(node_counts_[static_cast<std::size_t>(kind)]);
  node_.n_distinct = static_cast<std::int64_t>(node_kinds_.size());
  node_.products = dot(node_distinct_.data(), total_.data(), stride);
  parent_ = node_.entropy(square_);
  clear();
}

void EntropyCriterion::clear() {
  left_ = Side();
  right_ = node_;
  std::fill(left_sum_.begin(), left_sum_.end(), 0.0);
  std::fill(left_distinct_.begin(), left_distinct_.end(), 0.0);
  right_distinct_ = node_distinct_;
  for (const std::int32_t kind : node_kinds_) left_counts_[static_cast<std::size_t>(kind)] = 0;
}

void EntropyCriterion::add(std::int64_t position) {
  const std::uint32_t row = rows_[position];
  const double weight = weights_[position];
  const double* vector = vectors_.row(row);
  const std::int64_t stride = vectors_.stride();
  const std::size_t kind = static_cast<std::size_t>(kinds_[row]);
  const double left_before = left_counts_[kind], left_after = left_before + weight;
  const double right_before = node_counts_[kind] - left_before, right_after = node_counts_[kind] - left_after;

  if (left_before == 0) {
    ++left_.n_distinct;
    left_.products += dot(vector, left_sum_.data(), stride);
    add_scaled(left_distinct_.data(), vector, 1.0, stride);
  }
  left_.products += weight * dot(vector, left_distinct_.data(), stride);
  right_.products -= weight * dot(vector, right_distinct_.data(), stride);
  add_scaled(left_sum_.data(), vector, weight, stride);
  if (right_after <= 0) {
    --right_.n_distinct;
    add_scaled(right_distinct_.data(), vector, -1.0, stride);
    right_.products -= dot(vector, total_.data(), stride) - dot(vector, left_sum_.data(), stride);
  }
  left_.n += weight;
  right_.n -= weight;
  left_.count_logs += times_log(left_after) - times_log(left_before);
  right_.count_logs += times_log(right_after) - times_log(right_before);
  left_counts_[kind] = left_after;
}

double EntropyCriterion::gain() const {
  left_entropy_ = left_.entropy(square_);
  right_entropy_ = right_.entropy(square_);
  return parent_ - (left_.n * left_entropy_ + right_.n * right_entropy_) / node_.n;
}

bool EntropyCriterion::allowed() const {
  if (node_.n <= 1) return false;
  const double k = static_cast<double>(node_.n_distinct);
  const double code = node_.n_distinct >= 100 ? k * std::log(3.0) : std::log(std::pow(3.0, k) - 2);
  const double drop = k * parent_ - static_cast<double>(left_.n_distinct) * left_entropy_ -
                      static_cast<double>(right_.n_distinct) * right_entropy_;
  const double gain = parent_ - (left_.n * left_entropy_ + right_.n * right_entropy_) / node_.n;
  return gain > (std::log(node_.n - 1) + code - drop) / node_.n;
}

// ---- Mallows spread

namespace {
constexpr std::size_t n_cells = 4096;
}

MallowsCriterion::MallowsCriterion(const RankingProblem& problem)
    : signs_(problem.vectors),
      n_labels_(problem.rows.n_labels),
      n_pairs_(problem.rows.n_pairs),
      total_(static_cast<std::size_t>(signs_.stride())),
      total_wins_(static_cast<std::size_t>(n_labels_)),
      left_(total_.size()),
      wins_(total_wins_.size()),
      right_wins_(total_wins_.size()),
      right_(total_.size()) {
  tabulate_spreads();
}

void MallowsCriterion::tabulate_spreads() {
  double slope = 0;
  least_distance_ = expected_distance(max_spread, slope);
  log_start_ = std::log(least_distance_);
  log_step_ = (std::log(static_cast<double>(n_pairs_) / 2) - log_start_) / n_cells;
  double spread = max_spread;
  for (std::size_t cell = 0; cell <= n_cells; ++cell) {
    const double mean_distance = std::exp(log_start_ + static_cast<double>(cell) * log_step_);
    for (int step = 0; step < 50; ++step) {  // Newton from the cell before
      const double error = expected_distance(spread, slope) - mean_distance;
      const double next = std::min(max_spread, std::max(0.0, spread - error / slope));
      const bool close = std::abs(next - spread) < 1e-15;
      spread = next;
      if (close) break;
    }
    expected_distance(spread, slope);
    spreads_.push_back(spread);
    slopes_.push_back(mean_distance / slope * log_step_);
  }
}

/// Expected distance from the centre, the sum over j of that of the insertion of the j-th label,
/// which adds 0 .. j - 1 discordances with odds e^(-spread).
double MallowsCriterion::expected_distance(double spread, double& slope) const {
  const double odds = std::exp(-spread);
  double power = 1, weights = 1, first = 0, second = 0, expected = 0;
  slope = 0;
  for (std::int64_t j = 1; j < n_labels_; ++j) {
    power *= odds;
    weights += power;
    first += static_cast<double>(j) * power;
    second += static_cast<double>(j * j) * power;
    const double mean = first / weights;
    expected += mean;
    slope -= second / weights - mean * mean;
  }
  return expected;
}

double MallowsCriterion::spread_of(double mean_distance) const {
  if (mean_distance <= least_distance_) return max_spread;
  if (mean_distance >= static_cast<double>(n_pairs_) / 2) return 0.0;
  const double at = (std::log(mean_distance) - log_start_) / log_step_;
  const std::size_t cell = std::min(n_cells - 1, static_cast<std::size_t>(std::max(0.0, at)));
  const double t = at - static_cast<double>(cell), s = 1 - t;  // cubic through values and slopes
  return s * s * ((1 + 2 * t) * spreads_[cell] + t * slopes_[cell]) +
         t * t * ((1 + 2 * s) * spreads_[cell + 1] - s * slopes_[cell + 1]);
}

void MallowsCriterion::count_wins(const double* sums, std::vector<double>& wins) const {
  std::fill(wins.begin(), wins.end(), 0.0);
  for (std::size_t a = 0; a < wins.size(); ++a) {
    double won = 0;
    for (std::size_t b = a + 1; b < wins.size(); ++b, ++sums) {
      won += *sums;
      wins[b] -= *sums;
    }
    wins[a] += won;
  }
}

/// Preferences that agree with the order by wins (ties by label order), less those that do not.
double MallowsCriterion::agreement(const double* sums, const std::vector<double>& wins) const {
  double result = 0;
  for (std::size_t a = 0; a < wins.size(); ++a) {
    const double limit = wins[a] + tolerance;
    for (std::size_t b = a + 1; b < wins.size(); ++b, ++sums) result += wins[b] > limit ? -*sums : *sums;
  }
  return result;
}

double MallowsCriterion::spread_of_agreement(double agreement, double n_ordered) const {
  return n_ordered > 0 ? spread_of(static_cast<double>(n_pairs_) / 2 * (1 - agreement / n_ordered)) : 0.0;
}

void MallowsCriterion::open(const std::uint32_t* rows, const double* weights, std::int64_t n) {
  rows_ = rows;
  weights_ = weights;
  n_ = ordered_ = 0;
  std::fill(total_.begin(), total_.end(), 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    n_ += weights[i];
    ordered_ += weights[i] * signs_.square(rows[i]);
    add_scaled(total_.data(), signs_.row(rows[i]), weights[i], signs_.stride());
  }
  count_wins(total_.data(), total_wins_);
  parent_ = spread_of_agreement(agreement(total_.data(), total_wins_), ordered_);
  clear();
}

void MallowsCriterion::clear() {
  n_left_ = left_ordered_ = 0;
  std::fill(left_.begin(), left_.end(), 0.0);
}

void MallowsCriterion::add(std::int64_t position) {
  const std::uint32_t row = rows_[position];
  add_scaled(left_.data(), signs_.row(row), weights_[position], signs_.stride());
  n_left_ += weights_[position];
  left_ordered_ += weights_[position] * signs_.square(row);
}

double MallowsCriterion::gain() const {
  count_wins(left_.data(), wins_);
  for (std::size_t a = 0; a < wins_.size(); ++a) right_wins_[a] = total_wins_[a] - wins_[a];
  for (std::size_t p = 0; p < right_.size(); ++p) right_[p] = total_[p] - left_[p];
  const double left = spread_of_agreement(agreement(left_.data(), wins_), left_ordered_);
  const double right = spread_of_agreement(agreement(right_.data(), right_wins_), ordered_ - left_ordered_);
  last_gain_ = (n_left_ * left + (n_ - n_left_) * right) / n_ - parent_;
  return last_gain_;
}

bool MallowsCriterion::allowed() const { return last_gain_ > tolerance; }

}  // namespace ramify

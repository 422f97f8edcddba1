/// How a tree of rankings judges a split: mean correlation (ranking trees), ranking entropy (entropy
/// ranking trees) or the spread of a Mallows model (label ranking trees).
///
/// Each criterion is opened on a node and then fed the examples that go left, one by one; `gain` is
/// what the split as it stands gains over the unsplit node, and `allowed` is the stopping rule for the
/// split whose gain was asked last.
#pragma once

#include <cstdint>
#include <vector>

namespace ramify {

/// Rankings as vectors. Pairs of labels stand in the order (0, 1), (0, 2), ..., (1, 2), ...
struct RankingRows {
  const std::int8_t* signs;      ///< n_rows x n_pairs: 1 = first label preferred, -1 = second, 0 = neither
  const std::uint8_t* compared;  ///< n_rows x n_pairs: 1 where both labels are ranked; null = everywhere
  const double* vectors;         ///< n_rows x n_dimensions, inner products are correlations times `square`
  const std::int32_t* kinds;     ///< equal for equal rankings, 0 .. n_kinds - 1
  std::int64_t n_rows, n_labels, n_pairs, n_dimensions, n_kinds;
  double square;  ///< squared length of every vector
};

/// Vectors in rows whose length is rounded up, so that inner loops have whole lanes. Vectors of small whole numbers are
/// also kept as 16-bit integers.
class VectorRows {
 public:
  static constexpr std::int64_t lanes = 4, small_lanes = 16;

  VectorRows(const double* values, std::int64_t n_rows, std::int64_t n_columns);
  VectorRows(const std::int8_t* values, std::int64_t n_rows, std::int64_t n_columns);

  const double* row(std::int64_t index) const { return values_.data() + index * stride_; }
  std::int64_t stride() const { return stride_; }

  /// Inner product of a row with itself.
  double square(std::int64_t index) const { return squares_[static_cast<std::size_t>(index)]; }

  const std::int16_t* small_row(std::int64_t index) const { return small_.data() + index * small_stride_; }
  std::int64_t small_stride() const { return small_stride_; }

  /// Largest total weight of rows whose sum fits 16 bits; 0 if the numbers are not small and whole.
  double largest_small_weight() const { return largest_small_weight_; }

 private:
  void complete(std::int64_t n_rows, std::int64_t n_columns);

  std::int64_t stride_, small_stride_ = 0;
  double largest_small_weight_ = 0;
  std::vector<double> values_, squares_;
  std::vector<std::int16_t> small_;
};

/// What a criterion is made from.
struct RankingProblem {
  RankingRows rows;
  VectorRows vectors;  ///< rows.vectors, or rows.signs for Mallows
  double gamma = 1;    ///< for the mean correlation
  std::int64_t n_rows = 0;
};

/// Mean correlation of the rankings of a node, each also paired with itself (one minus their
/// variance); a split must pass (1 + S_parent) < gamma (1 + S_split).
class CorrelationCriterion {
 public:
  explicit CorrelationCriterion(const RankingProblem& problem);

  void open(const std::uint32_t* rows, const double* weights, std::int64_t n);
  void clear();
  void add(std::int64_t position);
  double gain() const;
  bool allowed() const;
  double similarity() const { return parent_; }
  double node_weight() const { return n_; }

 private:
  double split_similarity() const;
  void sum_node(std::int64_t n);

  const VectorRows& vectors_;
  double square_, gamma_;
  const std::uint32_t* rows_ = nullptr;
  const double* weights_ = nullptr;
  double n_ = 0, total_square_ = 0, parent_ = 0;  // node
  double n_left_ = 0, left_square_ = 0, left_total_ = 0;
  std::vector<double> total_, left_;
  std::vector<double> self_, with_total_;  // by position: inner product with itself and with the node's sum
  bool small_ = false;                     // sums of this node fit 16 bits
  std::vector<std::int16_t> small_total_, small_left_;
};

inline double dot(const double* a, const double* b, std::int64_t length) {
  constexpr std::int64_t lanes = VectorRows::lanes;
  double sums[lanes] = {};
  for (std::int64_t i = 0; i < length; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

inline void add_scaled(double* __restrict sum, const double* __restrict values, double scale, std::int64_t length) {
  constexpr std::int64_t lanes = VectorRows::lanes;
  for (std::int64_t i = 0; i < length; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane) sum[i + lane] += scale * values[i + lane];
}

inline std::int32_t dot(const std::int16_t* a, const std::int16_t* b, std::int64_t length) {
  constexpr std::int64_t lanes = VectorRows::small_lanes;
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < length; i += lanes) {
    std::int32_t block = 0;
    for (std::int64_t lane = 0; lane < lanes; ++lane) block += static_cast<std::int32_t>(a[i + lane]) * b[i + lane];
    sum += block;
  }
  return sum;
}

inline void add_scaled(std::int16_t* __restrict sum, const std::int16_t* __restrict values, std::int16_t scale,
                       std::int64_t length) {
  constexpr std::int64_t lanes = VectorRows::small_lanes;
  for (std::int64_t i = 0; i < length; i += lanes)
    for (std::int64_t lane = 0; lane < lanes; ++lane)
      sum[i + lane] = static_cast<std::int16_t>(sum[i + lane] + static_cast<std::int16_t>(scale * values[i + lane]));
}

inline void CorrelationCriterion::add(std::int64_t position) {
  const double weight = weights_[position];
  double with_left;
  if (small_) {
    const std::int16_t* vector = vectors_.small_row(rows_[position]);
    with_left = dot(small_left_.data(), vector, vectors_.small_stride());
    add_scaled(small_left_.data(), vector, static_cast<std::int16_t>(weight), vectors_.small_stride());
  } else {
    const double* vector = vectors_.row(rows_[position]);
    with_left = dot(left_.data(), vector, vectors_.stride());
    add_scaled(left_.data(), vector, weight, vectors_.stride());
  }
  left_square_ += 2 * weight * with_left + self_[static_cast<std::size_t>(position)];
  left_total_ += with_total_[static_cast<std::size_t>(position)];
  n_left_ += weight;
}

inline double CorrelationCriterion::split_similarity() const {
  const double right_square = total_square_ - 2 * left_total_ + left_square_;
  return (left_square_ / n_left_ + right_square / (n_ - n_left_)) / (n_ * square_);
}

/// Entropy of rankings (Eq. 4.2) and its stopping rule, the minimum description length of a cut.
class EntropyCriterion {
 public:
  explicit EntropyCriterion(const RankingProblem& problem);

  void open(const std::uint32_t* rows, const double* weights, std::int64_t n);
  void clear();
  void add(std::int64_t position);
  double gain() const;
  bool allowed() const;
  double entropy() const { return parent_; }
  double node_weight() const { return node_.n; }

 private:
  struct Side {
    double n = 0, count_logs = 0, products = 0;  // sum of c ln c; distinct sum . weighted sum
    std::int64_t n_distinct = 0;
    double entropy(double square) const;
  };

  const VectorRows& vectors_;
  const std::int32_t* kinds_;
  double square_;
  const std::uint32_t* rows_ = nullptr;
  const double* weights_ = nullptr;
  Side node_, left_, right_;
  double parent_ = 0;
  mutable double left_entropy_ = 0, right_entropy_ = 0;  // of the split whose gain was asked last
  std::vector<double> total_;                            // weighted sum of the node's vectors
  std::vector<double> node_distinct_;                    // sum of its distinct vectors
  std::vector<double> left_sum_, left_distinct_, right_distinct_;
  std::vector<double> node_counts_, left_counts_;  // by kind
  std::vector<std::int32_t> node_kinds_;           // kinds seen in the node
};

/// Spread of a Mallows model around the average ranking, by maximum likelihood, at most 10; a split
/// must raise the mean spread.
class MallowsCriterion {
 public:
  explicit MallowsCriterion(const RankingProblem& problem);

  void open(const std::uint32_t* rows, const double* weights, std::int64_t n);
  void clear();
  void add(std::int64_t position);
  double gain() const;
  bool allowed() const;
  double spread() const { return parent_; }
  double node_weight() const { return n_; }

  static constexpr double max_spread = 10.0;

  /// The spread whose expected distance is `mean_distance`.
  double spread_of(double mean_distance) const;

 private:
  void tabulate_spreads();
  void count_wins(const double* sums, std::vector<double>& wins) const;
  double agreement(const double* sums, const std::vector<double>& wins) const;
  double spread_of_agreement(double agreement, double n_ordered) const;
  double expected_distance(double spread, double& slope) const;

  const VectorRows& signs_;
  std::int64_t n_labels_, n_pairs_;
  // spreads and their slopes on a grid of the logarithm of the mean distance, which they nearly follow a line in
  double log_start_ = 0, log_step_ = 1, least_distance_ = 0;
  std::vector<double> spreads_, slopes_;
  const std::uint32_t* rows_ = nullptr;
  const double* weights_ = nullptr;
  double n_ = 0, ordered_ = 0, parent_ = 0;
  double n_left_ = 0, left_ordered_ = 0;
  std::vector<double> total_, total_wins_, left_;
  mutable std::vector<double> wins_, right_wins_, right_;
  mutable double last_gain_ = 0;
};

}  // namespace ramify

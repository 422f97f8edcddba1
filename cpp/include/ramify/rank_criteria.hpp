/// How a tree of rankings judges a split: mean correlation (ranking trees), ranking entropy (entropy
/// ranking trees) or the spread of a Mallows model (label ranking trees).
///
/// Each criterion is opened on a node and then fed the examples that go left, one by one; `gain` is
/// what the split as it stands gains over the unsplit node, and `allowed` is the stopping rule.
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
  double square;                 ///< squared length of every vector
};

/// Vectors in rows whose length is rounded up, so that inner loops have whole lanes.
class VectorRows {
 public:
  static constexpr std::int64_t lanes = 4;

  VectorRows(const double* values, std::int64_t n_rows, std::int64_t n_columns);
  VectorRows(const std::int8_t* values, std::int64_t n_rows, std::int64_t n_columns);

  const double* row(std::int64_t index) const { return values_.data() + index * stride_; }
  std::int64_t stride() const { return stride_; }

 private:
  std::int64_t stride_;
  std::vector<double> values_;
};

/// Mean correlation of the rankings of a node, each also paired with itself (one minus their
/// variance); a split must pass (1 + S_parent) < gamma (1 + S_split).
class CorrelationCriterion {
 public:
  CorrelationCriterion(const RankingRows& target, double gamma);

  void open(const std::uint32_t* rows, const double* weights, std::int64_t n);
  void clear();
  void add(std::int64_t position);
  double gain() const;
  bool allowed() const;
  double similarity() const { return parent_; }

 private:
  double split_similarity() const;

  VectorRows vectors_;
  double square_, gamma_;
  const std::uint32_t* rows_ = nullptr;
  const double* weights_ = nullptr;
  double n_ = 0, total_square_ = 0, parent_ = 0;   // node
  double n_left_ = 0, left_square_ = 0, left_total_ = 0;
  std::vector<double> total_, left_;
  std::vector<double> with_total_;                 // by position: inner product with the node's sum
};

/// Entropy of rankings (Eq. 4.2) and its stopping rule, the minimum description length of a cut.
class EntropyCriterion {
 public:
  explicit EntropyCriterion(const RankingRows& target);

  void open(const std::uint32_t* rows, const double* weights, std::int64_t n);
  void clear();
  void add(std::int64_t position);
  double gain() const;
  bool allowed() const;
  double entropy() const { return parent_; }

 private:
  struct Side {
    double n = 0, count_logs = 0, products = 0;    // sum of c ln c; distinct sum . weighted sum
    std::int64_t n_distinct = 0;
    double entropy(double square) const;
  };

  VectorRows vectors_;
  std::vector<std::int32_t> kinds_;
  double square_;
  const std::uint32_t* rows_ = nullptr;
  const double* weights_ = nullptr;
  Side node_, left_, right_;
  double parent_ = 0;
  std::vector<double> total_;                      // weighted sum of the node's vectors
  std::vector<double> node_distinct_;              // sum of its distinct vectors
  std::vector<double> left_sum_, left_distinct_, right_distinct_;
  std::vector<double> node_counts_, left_counts_;  // by kind
  std::vector<std::int32_t> node_kinds_;           // kinds seen in the node
};

/// Spread of a Mallows model around the average ranking, by maximum likelihood, at most 10; a split
/// must raise the mean spread.
class MallowsCriterion {
 public:
  explicit MallowsCriterion(const RankingRows& target);

  void open(const std::uint32_t* rows, const double* weights, std::int64_t n);
  void clear();
  void add(std::int64_t position);
  double gain() const;
  bool allowed() const;
  double spread() const { return parent_; }

  static constexpr double max_spread = 10.0;

  /// The spread whose expected distance is `mean_distance`.
  double spread_of(double mean_distance) const;

 private:
  double spread_of_sums(const double* sums, double n_ordered) const;
  double expected_distance(double spread, double& slope) const;

  VectorRows signs_;
  std::int64_t n_labels_, n_pairs_;
  std::vector<double> row_ordered_;                // pairs that each row orders
  std::vector<double> start_;                      // spreads on a grid of mean distances
  const std::uint32_t* rows_ = nullptr;
  const double* weights_ = nullptr;
  double n_ = 0, ordered_ = 0, parent_ = 0;
  double n_left_ = 0, left_ordered_ = 0;
  std::vector<double> total_, left_;
  mutable std::vector<double> wins_, right_;
};

}  // namespace ramify

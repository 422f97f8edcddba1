/// Rankings as a target of the grower, with any criterion for rankings.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forest/forest.hpp"
#include "forest/nominal.hpp"
#include "rankings/rank_criteria.hpp"

namespace ramify {

/// A score is the criterion's gain; the functions are those of LabelTarget. A leaf holds the mean sign of each label
/// pair over the examples that compare it.
template <class Criterion>
class RankTarget {
 public:
  explicit RankTarget(const RankingProblem& problem)
      : data_(problem.rows), vectors_(problem.vectors), criterion_(problem) {}

  void begin_tree() {}

  int begin_node(const std::uint32_t* rows, std::uint32_t*, std::int64_t n, const double* weights, int level) {
    rows_ = rows;
    weights_ = weights;
    n_ = n;
    pure_ = true;
    for (std::int64_t i = 1; i < n && pure_; ++i) pure_ = data_.kinds[rows[i]] == data_.kinds[rows[0]];
    if (!pure_) criterion_.open(rows, weights, n);
    missing_.clear();
    tracking_open_ = false;
    return level;
  }

  bool pure() const { return pure_; }
  double decrease(double score) const { return score * criterion_.node_weight(); }
  static constexpr bool perfect(double) { return false; }

  void clear() {
    criterion_.clear();
    if (missing_.empty()) return;
    with_missing_->clear();
    for (const std::uint32_t row : missing_) with_missing_->add(row);
  }

  void add(std::uint32_t row) { criterion_.add(row); }

  double score() {
    scored_ = &criterion_;
    return criterion_.gain();
  }

  /// Does the stopping rule let a tree make the split that was scored last?
  bool worthwhile() const { return scored_->allowed(); }

  /// A second criterion, which holds the missing rows from the start, is fed along with the first.
  void set_missing(const std::vector<std::uint32_t>& rows) {
    missing_ = rows;
    if (!tracking_open_) {
      if (!with_missing_) with_missing_.emplace(criterion_);
      with_missing_->open(rows_, weights_, n_);
      tracking_open_ = true;
    }
  }

  void add_tracking_missing(std::uint32_t row) {
    criterion_.add(row);
    with_missing_->add(row);
  }

  double score_with_missing() {
    scored_ = &*with_missing_;
    return with_missing_->gain();
  }

  void category_sums(const KeyBuffer& keys, CategorySums& sums) {
    const auto n_dimensions = static_cast<std::size_t>(vectors_.stride());
    sums.clear();
    sums.dimension_weight.assign(n_dimensions, 1.0);
    sum_.resize(n_dimensions);
    for (std::size_t first = 0; first < keys.size();) {
      std::size_t last = first;
      double weight = 0;
      sum_.assign(n_dimensions, 0.0);
      for (; last < keys.size() && keys[last] >> 32 == keys[first] >> 32; ++last) {
        const auto row = static_cast<std::uint32_t>(keys[last]);
        weight += weights_[row];
        add_scaled(sum_.data(), vectors_.row(rows_[row]), weights_[row], vectors_.stride());
      }
      for (std::size_t d = 0; d < n_dimensions; ++d) {
        sums.dimensions.push_back(static_cast<std::int32_t>(d));
        sums.sums.push_back(sum_[d]);
      }
      sums.weight.push_back(weight);
      sums.own.push_back(0.0);
      sums.offsets.push_back(static_cast<std::int64_t>(sums.dimensions.size()));
      first = last;
    }
  }

  void write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights, double total, Tree& tree) {
    const auto n_pairs = static_cast<std::size_t>(data_.n_pairs);
    sum_.assign(n_pairs, 0.0);
    compared_.assign(n_pairs, data_.compared == nullptr ? total : 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t start = static_cast<std::int64_t>(rows[i]) * data_.n_pairs;
      for (std::size_t p = 0; p < n_pairs; ++p)
        sum_[p] += weights[i] * data_.signs[start + static_cast<std::int64_t>(p)];
      if (data_.compared == nullptr) continue;
      for (std::size_t p = 0; p < n_pairs; ++p)
        compared_[p] += weights[i] * data_.compared[start + static_cast<std::int64_t>(p)];
    }
    for (std::size_t p = 0; p < n_pairs; ++p)
      tree.leaf_values.push_back(compared_[p] > 0 ? sum_[p] / compared_[p] : 0.0);
  }

 private:
  const RankingRows data_;
  const VectorRows& vectors_;
  Criterion criterion_;
  std::optional<Criterion> with_missing_;
  const Criterion* scored_ = nullptr;
  const std::uint32_t* rows_ = nullptr;
  const double* weights_ = nullptr;
  std::int64_t n_ = 0;
  bool pure_ = false, tracking_open_ = false;
  std::vector<std::uint32_t> missing_;
  std::vector<double> sum_, compared_;
};

}  // namespace ramify

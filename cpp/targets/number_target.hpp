/// Several numbers as a target of the grower.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/node_entries.hpp"
#include "forest/nominal.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// The impurity sum w Var of numbers; the functions are those of LabelTarget. A node's rows are centred and scaled by
/// sqrt(w) first, so the sums of the whole node are 0 and a side's square B gives the score B / n + B / (N - n).
class NumberTarget {
 public:
  explicit NumberTarget(const NumberRows& data);

  void begin_tree() {}
  int begin_node(const std::uint32_t* rows, std::uint32_t* slots, std::int64_t n, const double* weights, int level);
  bool pure() const { return pure_; }
  double decrease(double score) const { return score; }
  static constexpr bool perfect(double) { return false; }  // not to be told from rounding

  void clear();
  void add(std::uint32_t row);
  double score() const { return score_of(square_, weight_); }

  static constexpr bool worthwhile() { return true; }

  void set_missing(const std::vector<std::uint32_t>& rows);
  void add_tracking_missing(std::uint32_t row);
  double score_with_missing() const {
    return score_of(square_ + 2 * cross_ + missing_square_, weight_ + missing_weight_);
  }

  void category_sums(const KeyBuffer& keys, CategorySums& sums);
  void write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights, double total, Tree& tree);

 private:
  double score_of(double square, double weight) const { return square / weight + square / (node_weight_ - weight); }

  const NumberRows data_;
  std::vector<double> scale_, mean_;
  std::vector<double> z_;  ///< n x T, centred and scaled
  const double* m_ = nullptr;
  double node_weight_ = 0;
  bool pure_ = false;

  std::vector<double> sum_, missing_sum_;
  double square_ = 0, weight_ = 0, missing_square_ = 0, missing_weight_ = 0, cross_ = 0;
};

inline void NumberTarget::add(std::uint32_t row) {
  const std::int64_t n_targets = data_.n_targets;
  const double* const z = z_.data() + static_cast<std::int64_t>(row) * n_targets;
  const double m = m_[row];
  double square = 0;
  for (std::int64_t t = 0; t < n_targets; ++t) {
    sum_[static_cast<std::size_t>(t)] += m * z[t];
    square += sum_[static_cast<std::size_t>(t)] * sum_[static_cast<std::size_t>(t)];
  }
  square_ = square;
  weight_ += m;
}

inline void NumberTarget::add_tracking_missing(std::uint32_t row) {
  add(row);
  double cross = 0;
  for (std::size_t t = 0; t < sum_.size(); ++t) cross += sum_[t] * missing_sum_[t];
  cross_ = cross;
}

}  // namespace ramify

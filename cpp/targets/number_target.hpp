/// Several numbers as a target of the grower.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "forest/node_entries.hpp"
#include "forest/nominal.hpp"
#include "targets/inherited_values.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// The impurity sum w Var of numbers; the functions are those of LabelTarget. A node's rows are centred and scaled by
/// sqrt(w) first, so the sums of the whole node are 0 and a side's square B gives the score B / n + B / (N - n).
///
/// Partly known: NaN takes the mean of the node's known numbers, so it adds nothing. A leaf holds means of known ones.
template <bool partly_known>
class NumberTarget {
 public:
  explicit NumberTarget(const NumberRows& data);

  void begin_tree() {}

  // partly known only: see InheritedValues
  void learn(const Examples& examples);
  void follow(std::int64_t depth) { inherited_.go_to(depth); }

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
  int begin_known_node(const std::uint32_t* rows, std::int64_t n, const double* weights, int level);
  void find_means(const std::uint32_t* rows, std::int64_t n, const double* weights);
  double score_of(double square, double weight) const {
    if (partly_known && square <= rounding_) return 0;  // the sides differ in what is unknown, and gain nothing
    return square / weight + square / (node_weight_ - weight);
  }

  const NumberRows data_;
  std::vector<double> scale_, mean_;
  std::vector<double> z_;  ///< n x T, centred and scaled
  const double* m_ = nullptr;
  double node_weight_ = 0;
  bool pure_ = false;
  std::vector<double> known_, first_;  ///< per target: weight of the rows that are known, number of the first
  std::vector<char> equal_;            ///< are all known numbers that one?
  double rounding_ = 0;                ///< squares up to this are rounding errors of 0
  InheritedValues inherited_;

  std::vector<double> sum_, missing_sum_;
  double square_ = 0, weight_ = 0, missing_square_ = 0, missing_weight_ = 0, cross_ = 0;
};

template <bool partly_known>
void NumberTarget<partly_known>::add(std::uint32_t row) {
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

template <bool partly_known>
void NumberTarget<partly_known>::add_tracking_missing(std::uint32_t row) {
  add(row);
  double cross = 0;
  for (std::size_t t = 0; t < sum_.size(); ++t) cross += sum_[t] * missing_sum_[t];
  cross_ = cross;
}

template <>
inline constexpr bool follows_paths<NumberTarget<true>> = true;

}  // namespace ramify

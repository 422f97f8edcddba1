/// A single label, or two classes, as a target of the grower: two numbers per side, and cuts of numeric features found
/// from two sums per code. Every tree equals the one LabelTarget grows.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "forest/node_entries.hpp"
#include "forest/nominal.hpp"
#include "forest/splitting.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// The impurity w p (1 - p) of one label; the functions are those of LabelTarget. Of two labels, one of which every row
/// has, the second tells all: the impurity of both is that of one with the sum of their weights.
class OneLabelTarget {
 public:
  explicit OneLabelTarget(const LabelRows& data);

  void begin_tree() {}
  int begin_node(const std::uint32_t* rows, std::uint32_t* slots, std::int64_t n, const double* weights, int level);
  bool pure() const { return pure_; }
  double decrease(double score) const { return score - node_square_ / node_weight_; }
  bool perfect(double score) const { return score + score_tolerance * score >= label_weight_ * node_count_; }

  void clear() { count_ = weight_ = 0; }
  void add(std::uint32_t row) {
    count_ += has_[row] ? m_[row] : 0.0;
    weight_ += m_[row];
  }
  double score() const { return score_of(count_, weight_); }
  static constexpr bool worthwhile() { return true; }

  void set_missing(const std::vector<std::uint32_t>& rows);
  void add_tracking_missing(std::uint32_t row) { add(row); }
  double score_with_missing() const { return score_of(count_ + missing_count_, weight_ + missing_weight_); }

  void category_sums(const KeyBuffer& keys, CategorySums& sums);
  void write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights, double total, Tree& tree);

  // small integers as weights: sums are exact, and a sum is the weight of the rows with the label << 32 | that of all
  bool sums_exact() const { return small_integers_; }
  const CodeSums& sum_codes(const NodeEntries& entries);
  void add_sum(std::uint64_t sum) {
    count_ += count_of_sum(sum);
    weight_ += weight_of_sum(sum);
  }
  void set_missing_sum(std::uint64_t sum) {
    missing_count_ = count_of_sum(sum);
    missing_weight_ = weight_of_sum(sum);
  }
  static double weight_of_sum(std::uint64_t sum) { return static_cast<double>(sum & 0xFFFFFFFFu); }

  /// Find the best cut of a feature read by code, none missing and none the default, ties as in Splitter. Cuts that do
  /// not exceed the score `to_beat` need not be found.
  void scan_codes(const NodeEntries& entries, double to_beat, Cut& cut);

  /// The same for a feature read by key. False, with nothing done, where a value is missing or the default, weights are
  /// not small integers, or codes are too many: then sort and add.
  bool scan(NodeEntries& entries, Cut& cut);

 private:
  double score_of(double count, double weight) const {
    const double square = label_weight_ * count * count, product = label_weight_ * count * node_count_;
    const double rest = node_weight_ - weight;
    return (square * rest + (node_square_ - 2 * product + square) * weight) / (weight * rest);
  }
  static double count_of_sum(std::uint64_t sum) { return static_cast<double>(sum >> 32); }
  void scan_where_worth(const NodeEntries& entries, std::uint32_t range, double to_beat, Cut& cut);
  void sort_packed(std::uint32_t range);
  template <class Codes, class Visit>
  void each_code(Codes code_of_row, std::size_t n, std::int32_t min_code, std::uint32_t range, Visit visit);
  template <class Codes, class Visit>
  void each_sorted(Codes code_of_row, std::size_t n, std::int32_t min_code, std::uint32_t range, Visit& visit);

  const LabelRows data_;
  const double label_weight_;
  std::vector<char> row_has_;  ///< by row of the table

  // the node
  std::int64_t n_ = 0;
  const double* m_ = nullptr;
  std::vector<std::uint64_t> row_sums_;  ///< per local row: a sum of this row alone
  std::vector<std::uint8_t> payload_;    ///< per local row: weight << 1 | has
  std::vector<char> has_;                ///< per local row
  double node_count_ = 0, node_weight_ = 0, node_square_ = 0;
  bool pure_ = false, small_integers_ = false;

  // the accumulated side and the missing rows
  double count_ = 0, weight_ = 0, missing_count_ = 0, missing_weight_ = 0;

  // scratch of each_code
  std::vector<std::uint64_t> by_code_;  ///< from the least code on; else 0
  std::vector<std::uint64_t> marks_;    ///< a bit per code that has a sum; else 0
  std::vector<std::uint32_t> listed_, packed_, spare_, counts_;
  CodeSums sums_;
};

template <>
inline constexpr bool has_own_scan<OneLabelTarget> = true;

template <>
inline constexpr bool sums_codes<OneLabelTarget> = true;

}  // namespace ramify

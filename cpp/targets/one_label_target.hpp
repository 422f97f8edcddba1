/// A single label, or two classes, as a target of the grower: two numbers per side, and cuts of numeric features found
/// without sorting rows. Every tree equals the one LabelTarget grows.
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
  explicit OneLabelTarget(const LabelRows& data)
      : data_(data), label_weight_(data.label_weights[0] + (data.n_labels == 2 ? data.label_weights[1] : 0.0)) {}

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

  /// Find the best cut of a feature that all rows of the node list (none missing, no default), ties as in Splitter.
  /// False, with nothing done, where weights are not small integers or codes too many: then sort and add.
  bool scan(NodeEntries& entries, Cut& cut);

 private:
  bool has(std::uint32_t row) const {
    if (data_.n_labels == 2) return data_.labels[data_.offsets[row]] == 1;
    return data_.offsets[row + 1] > data_.offsets[row];
  }
  double score_of(double count, double weight) const {
    const double square = label_weight_ * count * count, product = label_weight_ * count * node_count_;
    const double rest = node_weight_ - weight;
    return (square * rest + (node_square_ - 2 * product + square) * weight) / (weight * rest);
  }
  void scan_marked(const NodeEntries& entries, std::uint32_t range, Cut& cut);
  void scan_sorted(const NodeEntries& entries, std::uint32_t range, Cut& cut);
  void sort_packed(std::uint32_t range);

  const LabelRows data_;
  const double label_weight_;

  // the node
  std::int64_t n_ = 0;
  const double* m_ = nullptr;
  std::vector<char> has_;               ///< per local row
  std::vector<std::uint32_t> payload_;  ///< per local row: weight << 1 | has
  double node_count_ = 0, node_weight_ = 0, node_square_ = 0;
  bool pure_ = false, small_integers_ = false;

  // the accumulated side and the missing rows
  double count_ = 0, weight_ = 0, missing_count_ = 0, missing_weight_ = 0;

  // scratch of scan
  std::vector<std::uint64_t> sums_;   ///< by code: weight of the rows with the label << 32 | weight of all; else 0
  std::vector<std::uint64_t> marks_;  ///< a bit per code that has a sum; else 0
  std::vector<std::uint32_t> packed_, spare_, counts_;
};

template <>
inline constexpr bool has_own_scan<OneLabelTarget> = true;

}  // namespace ramify

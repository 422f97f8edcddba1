/// Sparse label sets as a target of the grower: a row that changes sides costs its own labels only.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/bagging.hpp"
#include "forest/forest.hpp"
#include "forest/node_entries.hpp"
#include "forest/nominal.hpp"
#include "forest/splitting.hpp"
#include "targets/inherited_values.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// The labels of a node's rows, renumbered 0 .. K - 1. Labels that all rows share are left out, labels that only one
/// row has are summed into `own`, and labels that the same rows have are one. Rows are padded to whole steps with the
/// label K, whose weight is 0: a loop of few equal steps is what a processor predicts best.
struct LocalLabels {
  std::int64_t n_rows = 0;
  std::vector<std::int64_t> offsets;
  std::vector<std::int32_t> labels;
  int step = 1;                 ///< labels per step, 1 or 4
  std::vector<double> weights;  ///< per local label, and 0 for label K
  std::vector<double> own;      ///< per row: total weight of the labels that only this row has

  // where not all is known
  std::vector<std::int64_t> unknown_offsets;
  std::vector<std::int32_t> unknown;
  std::vector<std::int32_t> original;  ///< per local label: its number in the data
};

/// The impurity sum w p (1 - p) of label sets.
///
/// A Target serves one thread. The grower calls begin_tree, then per node begin_node, and per feature
/// clear / add / score: `add` moves a local row to the accumulated side, `score` compares that side with the rest
/// (larger is better). With w the label weights, c the counts on the accumulated side and C those of the node,
/// B = sum w c^2 and D = sum w c C give sum w (C - c)^2 = B(node) - 2 D + B without touching the rest.
///
/// Partly known: a row that may have a label adds the mean of the node's rows that are known to its count, so one
/// denominator serves all labels and a row costs its labels and its unknown ones. A leaf holds means of known rows.
template <bool partly_known>
class LabelTarget {
 public:
  explicit LabelTarget(const LabelRows& data);

  void begin_tree() {}

  // partly known only: see InheritedValues
  void learn(const Examples& examples);
  void follow(std::int64_t depth) { inherited_.go_to(depth); }

  /// Look at a node. `slots` says where each row stands in the ancestor `level` the node was cut from (-1: none yet);
  /// returns the level its children are cut from, and rewrites `slots` if that is the node itself.
  int begin_node(const std::uint32_t* rows, std::uint32_t* slots, std::int64_t n, const double* weights, int level);

  bool pure() const { return pure_; }

  /// Weight times impurity of the node, less that of both sides of a split with this score.
  double decrease(double score) const { return score - node_square_ / node_weight_; }

  /// Does a split with this score leave no impurity on either side?
  bool perfect(double score) const { return score + score_tolerance * score >= perfect_; }

  void clear();
  void add(std::uint32_t row);
  double score() const { return score_of(square_, product_, weight_); }

  /// May a tree make the split that was scored last? (Full growth: yes.)
  static constexpr bool worthwhile() { return true; }

  /// Declare the rows whose value is missing; call before clear. Afterwards add_tracking keeps what
  /// score_with_missing, the score of accumulated and missing rows against the rest, needs.
  void set_missing(const std::vector<std::uint32_t>& rows);
  void add_tracking_missing(std::uint32_t row);
  double score_with_missing() const {
    return score_of(square_ + 2 * cross_ + missing_square_, product_ + missing_product_, weight_ + missing_weight_);
  }

  /// Label sums per category; `keys` are sorted by category.
  void category_sums(const KeyBuffer& keys, CategorySums& sums);

  void write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights, double total, Tree& tree);

  /// Find the best cut of a feature without a default or with two values, as Splitter does with add and score.
  bool scan(NodeEntries& entries, Cut& cut);

 private:
  /// What a row adds to a side whatever else is there.
  struct RowTerms {
    double weight;     ///< m
    double self;       ///< m^2 sum w over its labels
    double with_node;  ///< m sum w C over its labels
  };
  class LabelSums;

  /// square / weight + square of the rest / weight of the rest, with one division.
  double score_of(double square, double product, double weight) const {
    const double rest = node_weight_ - weight;
    return (square * rest + (node_square_ - 2 * product + square) * weight) / (weight * rest);
  }
  void count_labels(const LocalLabels* from, const std::uint32_t* rows, const std::uint32_t* slots, bool hash);
  void count_unknown(const LocalLabels* from, const std::uint32_t* rows, const std::uint32_t* slots);
  double known_mean(std::int32_t label, std::int64_t n, double total) const;
  void note_means(const LocalLabels* from);
  void merge_equal_labels();
  bool is_constant(std::int32_t label, double weight) const;
  void renumber(const LocalLabels* from, const std::uint32_t* rows, const std::uint32_t* slots, bool merge,
                LocalLabels& to);
  void renumber_unknown(const LocalLabels* from, const std::uint32_t* rows, const std::uint32_t* slots,
                        LocalLabels& to);
  void write_known_leaf(std::int64_t n, double total, Tree& tree);
  template <bool any_missing>
  void scan_rows(const NodeEntries& entries, Cut& cut);
  void scan_two_values(const NodeEntries& entries, Cut& cut);

  const LabelRows data_;
  std::vector<LocalLabels> levels_;
  const LocalLabels* node_ = nullptr;

  // per label of the ancestor (or of the data)
  std::vector<double> count_;
  std::vector<std::uint32_t> n_rows_with_;
  std::vector<std::uint64_t> row_hash_;
  std::vector<std::int32_t> new_label_;
  std::vector<std::int32_t> touched_;
  std::vector<double> unknown_weight_;
  std::vector<std::uint32_t> n_unknown_;
  InheritedValues inherited_;

  // the node
  std::int64_t n_ = 0;
  const double* m_ = nullptr;  ///< weight per local row
  std::vector<double> node_count_;
  std::vector<double> mean_, weighted_mean_;  ///< of known rows, per local label: mu and w mu
  std::vector<RowTerms> terms_;
  double node_weight_ = 0, node_square_ = 0, perfect_ = 0;
  bool pure_ = false;

  // the accumulated side: u = w c
  std::vector<double> u_;
  double square_ = 0, product_ = 0, weight_ = 0;
  std::vector<double> scores_;  ///< of the cuts of a feature

  // missing rows: v = w c
  std::vector<double> v_;
  double missing_square_ = 0, missing_product_ = 0, missing_weight_ = 0, cross_ = 0;

  std::vector<std::int32_t> all_have_, some_have_;
};

/// The sums u and v of the rows that were added and of the missing ones, out of reach of what a scan writes.
template <bool partly_known>
class LabelTarget<partly_known>::LabelSums {
 public:
  explicit LabelSums(LabelTarget& target)
      : node_(*target.node_),
        mean_(target.mean_.data()),
        weighted_mean_(target.weighted_mean_.data()),
        labels_(target.node_->labels.data()),
        offsets_(target.node_->offsets.data()),
        w_(target.node_->weights.data()),
        step_(target.node_->step),
        u_(target.u_.data()),
        v_(target.v_.data()) {}

  /// Add a row of weight m; returns m times the total u of its labels before.
  double add(std::uint32_t row, double m) {
    const std::int32_t* label = labels_ + offsets_[row];
    const std::int32_t* const end = labels_ + offsets_[row + 1];
    double s = 0;
    if (step_ == 1) {
      for (; label != end; ++label) {
        s += u_[*label];
        u_[*label] += m * w_[*label];
      }
    } else {
      for (; label != end; label += 4) {
        const double u0 = u_[label[0]], u1 = u_[label[1]], u2 = u_[label[2]], u3 = u_[label[3]];
        u_[label[0]] = u0 + m * w_[label[0]];
        u_[label[1]] = u1 + m * w_[label[1]];
        u_[label[2]] = u2 + m * w_[label[2]];
        u_[label[3]] = u3 + m * w_[label[3]];
        s += (u0 + u1) + (u2 + u3);
      }
    }
    if constexpr (partly_known) {
      const std::int32_t* const last = node_.unknown.data() + node_.unknown_offsets[row + 1];
      for (label = node_.unknown.data() + node_.unknown_offsets[row]; label != last; ++label) {
        s += mean_[*label] * u_[*label];
        u_[*label] += m * weighted_mean_[*label];
      }
    }
    return m * s;
  }

  double with_missing(std::uint32_t row, double m) const {
    const std::int32_t* label = labels_ + offsets_[row];
    const std::int32_t* const end = labels_ + offsets_[row + 1];
    double e = 0;
    if (step_ == 1) {
      for (; label != end; ++label) e += v_[*label];
    } else {
      for (; label != end; label += 4) e += (v_[label[0]] + v_[label[1]]) + (v_[label[2]] + v_[label[3]]);
    }
    if constexpr (partly_known) {
      const std::int32_t* const last = node_.unknown.data() + node_.unknown_offsets[row + 1];
      for (label = node_.unknown.data() + node_.unknown_offsets[row]; label != last; ++label)
        e += mean_[*label] * v_[*label];
    }
    return m * e;
  }

 private:
  const LocalLabels& node_;
  const double* const mean_;
  const double* const weighted_mean_;
  const std::int32_t* const labels_;
  const std::int64_t* const offsets_;
  const double* const w_;
  const int step_;
  double* const u_;
  const double* const v_;
};

template <bool partly_known>
void LabelTarget<partly_known>::add(std::uint32_t row) {
  const RowTerms& own = terms_[row];
  square_ += 2 * LabelSums(*this).add(row, own.weight) + own.self;
  product_ += own.with_node;
  weight_ += own.weight;
}

template <bool partly_known>
void LabelTarget<partly_known>::add_tracking_missing(std::uint32_t row) {
  cross_ += LabelSums(*this).with_missing(row, m_[row]);
  add(row);
}

template <bool partly_known>
inline constexpr bool has_own_scan<LabelTarget<partly_known>> = true;

template <>
inline constexpr bool follows_paths<LabelTarget<true>> = true;

}  // namespace ramify

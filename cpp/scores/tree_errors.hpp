/// Errors of one tree on its out-of-bag rows that are cheap to update when a few rows change leaves.
#pragma once

#include <cstdint>
#include <vector>

#include "forest/forest.hpp"
#include "scores/out_of_bag_paths.hpp"
#include "scores/permutation.hpp"
#include "targets/target_rows.hpp"

namespace ramify {

/// Each error has: begin(paths) for the unpermuted rows, restart() back to them, move(row, from, to) for a row that
/// changes leaves, and value().

/// 1 - pooled AUPRC over the known cells, from integer counts at the distinct frequencies of the tree's leaves.
class AuprcError {
 public:
  AuprcError(const Forest& forest, const Tree& tree, const LabelRows& labels);
  void begin(const OutOfBagPaths& paths);
  void restart() { counts_ = unpermuted_; }
  void move(std::uint32_t row, std::int32_t from, std::int32_t to) {
    count(row, from, -1);
    count(row, to, 1);
  }
  double value() const { return 1 - interpolated_area(counts_); }

 private:
  void count(std::uint32_t row, std::int32_t leaf, std::int64_t sign);

  const Tree& tree_;
  const LabelRows& labels_;
  std::vector<std::int32_t> place_of_count_;  ///< of each of the tree's leaf_counts among the distinct frequencies
  std::vector<std::uint32_t> has_label_;      ///< by label: stamp of the row that has it
  std::vector<std::uint32_t> may_have_;       ///< the same of unknown labels, which are left out
  std::uint32_t stamp_ = 0;
  ScoreCounts counts_, unpermuted_;
};

/// What a label of this frequency in the leaf adds to the error that it has with frequency 0: 1 if the row has it, else
/// 0.
struct BrierLoss {
  static double added(double frequency, bool own) { return frequency * (frequency - (own ? 2.0 : 0.0)); }
};
struct HammingLoss {
  static double added(double frequency, bool own) { return frequency < 0.5 ? 0.0 : own ? -1.0 : 1.0; }
};

/// Mean over rows of an error that is summed over the known labels, all of them alike.
template <class Loss>
class SummedLabelError {
 public:
  SummedLabelError(const Forest& forest, const Tree& tree, const LabelRows& labels)
      : tree_(tree),
        labels_(labels),
        has_label_(static_cast<std::size_t>(forest.n_outputs), 0),
        may_have_(labels.partly_known() ? has_label_.size() : 0, 0) {}
  void begin(const OutOfBagPaths& paths);
  void restart() { sum_ = unpermuted_; }
  void move(std::uint32_t row, std::int32_t from, std::int32_t to) { sum_ += error(row, to) - error(row, from); }
  double value() const { return n_rows_ > 0 ? sum_ / static_cast<double>(n_rows_) : 0.0; }

 private:
  double error(std::uint32_t row, std::int32_t leaf);

  const Tree& tree_;
  const LabelRows& labels_;
  std::vector<std::uint32_t> has_label_;  ///< by label: stamp of the row that has it
  std::vector<std::uint32_t> may_have_;   ///< the same of unknown labels, which are left out
  std::uint32_t stamp_ = 0;
  double sum_ = 0, unpermuted_ = 0;
  std::int64_t n_rows_ = 0;
};

/// Share of rows whose most frequent label (the first of equals) is not theirs.
class MisclassificationError {
 public:
  MisclassificationError(const Forest& forest, const Tree& tree, const LabelRows& labels);
  void begin(const OutOfBagPaths& paths);
  void restart() { n_wrong_ = unpermuted_; }
  void move(std::uint32_t row, std::int32_t from, std::int32_t to) { n_wrong_ += wrong(row, to) - wrong(row, from); }
  double value() const { return n_rows_ > 0 ? static_cast<double>(n_wrong_) / static_cast<double>(n_rows_) : 0.0; }

 private:
  std::int64_t wrong(std::uint32_t row, std::int32_t leaf) const;

  const Tree& tree_;
  const LabelRows& labels_;
  std::vector<std::int32_t> winner_;  ///< per row among the leaves
  std::int64_t n_wrong_ = 0, unpermuted_ = 0, n_rows_ = 0;
};

/// Mean over rows of the weighted squared errors of what is known.
class SquaredError {
 public:
  SquaredError(const Forest& forest, const Tree& tree, const NumberRows& numbers)
      : n_outputs_(forest.n_outputs), tree_(tree), numbers_(numbers) {}
  void begin(const OutOfBagPaths& paths);
  void restart() { sum_ = unpermuted_; }
  void move(std::uint32_t row, std::int32_t from, std::int32_t to) { sum_ += error(row, to) - error(row, from); }
  double value() const { return n_rows_ > 0 ? sum_ / static_cast<double>(n_rows_) : 0.0; }

 private:
  double error(std::uint32_t row, std::int32_t leaf) const;

  std::int64_t n_outputs_;
  const Tree& tree_;
  const NumberRows& numbers_;
  double sum_ = 0, unpermuted_ = 0;
  std::int64_t n_rows_ = 0;
};

}  // namespace ramify

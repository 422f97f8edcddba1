/// The best cut of a feature in a node, from the feature's histogram.
#pragma once

#include <cstdint>
#include <vector>

#include "boosting/histogram.hpp"
#include "features/feature_table.hpp"
#include "forest/nominal.hpp"

namespace ramify {

/// What sides a cut may have.
struct CutLimits {
  std::int64_t min_samples_leaf = 1;
  std::int64_t min_category_rows = 1;  ///< of more than two values, those with fewer rows go to one side together
};

/// A way to part a node's rows by one feature. Numeric: codes up to `low` go left. Nominal: those in `left_codes`.
struct HistogramCut {
  bool constant = true;  ///< there is nothing to cut
  bool found = false;
  double score = 0;  ///< G^2 / weight of both sides, summed over the gradients
  bool nominal = false, any_missing = false, missing_left = false;
  std::int32_t low = 0, high = 0;  ///< high: the next code in the node, -1 if only missing values go right
  std::vector<std::uint64_t> left_codes, present_codes;  ///< bits, nominal only
};

/// Finds cuts for one thread; owns the scratch memory.
class CutFinder {
 public:
  CutFinder(const Lanes& lanes, const CutLimits& limits);

  /// The cut with the largest score; the first of equal ones, missing values to the right before the left. `codes` are
  /// those that some row holds, ascending, with the code of missing values; `total` is the sum of the node. A found cut
  /// writes the sums of its left side. Cuts that gain no more than the rounding of gradients may feign are not found.
  void find(const ColumnHead& column, const std::int32_t* histogram, const std::vector<std::int32_t>& codes,
            const std::int32_t* total, HistogramCut& cut, std::int32_t* left_sums);

 private:
  struct Place {
    const std::int32_t* sums;
    std::int32_t code;  ///< numeric, or the first of a nominal group
  };

  void place_codes(const std::int32_t* histogram, std::size_t n_codes, const std::vector<std::int32_t>& codes);
  void group_codes(const std::int32_t* histogram, std::size_t n_codes, const std::vector<std::int32_t>& codes);
  void order_groups();
  void consider(const std::int32_t* left, std::int64_t at, bool missing_left);
  double score_of(const std::int32_t* left, double left_weight, double right_weight) const;
  void write_subset(const ColumnHead& column, std::size_t n_left, HistogramCut& cut) const;

  const Lanes lanes_;
  const CutLimits limits_;
  const std::int32_t* total_ = nullptr;
  std::vector<Place> places_;
  std::vector<std::int32_t> side_, with_missing_, best_sums_;
  std::int64_t best_at_ = -1;
  double best_score_ = 0;
  bool found_ = false, best_missing_left_ = false;

  // nominal
  std::vector<std::int32_t> pool_;         ///< codes of rare values
  std::vector<std::int32_t> pooled_sums_;  ///< their lanes
  CategorySums sums_;
  std::vector<double> along_;
  std::vector<std::size_t> order_;
  std::vector<Place> ordered_;
};

}  // namespace ramify

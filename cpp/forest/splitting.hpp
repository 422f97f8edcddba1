/// The best split of one feature in one node, for any target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/bits.hpp"
#include "base/indexing.hpp"
#include "base/random.hpp"
#include "forest/node_entries.hpp"
#include "forest/nominal.hpp"

namespace ramify {

/// Scores closer than this (relative) are equal; equal scores go to the first drawn feature and its lowest cut.
constexpr double score_tolerance = 1e-12;

/// The best cut of a feature: codes up to `low` go left, `high` is the next code in the node (-1: there is none, only
/// missing values go right).
struct Cut {
  bool found = false;
  double score = 0;
  std::int32_t low = 0, high = 0;
  bool missing_left = false;
  bool worthwhile = true;  ///< does the target's stopping rule let a tree make it?
};

/// The first of the scores that none exceeds by more than the tolerance; `most` is the largest and a number.
inline std::size_t first_best(const double* scores, double most) {
  std::size_t first = 0;
  while (!(scores[first] + score_tolerance * std::abs(scores[first]) >= most)) ++first;
  return first;
}

/// Uniform from `least` on and below `most`.
inline double random_between(double least, double most, Random& random) {
  const double share = random.uniform();
  const double between = least * (1 - share) + most * share;
  return between >= least && between < most ? between : least;
}

/// Whether a target finds the best cut of a numeric feature by itself: bool scan(NodeEntries&, Cut&). It does nothing
/// and says false where it cannot.
template <class Target>
inline constexpr bool has_own_scan = false;

/// Whether a target sums features by code. Then sums_exact() says if the node's sums are the same in any order,
/// scan_codes(entries, to_beat, cut) finds the best of all cuts where no value is missing or the default (if it exceeds
/// the score to_beat), sum_codes(entries) sums the rows of each code, and add_sum, set_missing_sum and weight_of_sum do
/// for sums what add and set_missing do for rows.
template <class Target>
inline constexpr bool sums_codes = false;

/// What a target keeps of the rows of each code in a node, but for those that hold the default.
struct CodeSums {
  std::vector<std::int32_t> codes;  ///< ascending
  std::vector<std::uint64_t> sums;
  std::uint64_t missing = 0;  ///< of the rows whose value is missing
};

/// A way to part a node's rows. Numeric: codes up to `low` go left. Nominal: the codes in `left_codes`.
struct Split {
  bool found = false;
  std::int64_t feature = -1;
  double score = 0;
  std::int32_t low = 0, high = 0;  ///< high: the next code in the node, -1 if only missing values go right
  bool has_threshold = false;      ///< random splits; others lie between low and high
  double threshold = 0;
  bool any_missing = false;
  bool missing_left = false;
  bool nominal = false;
  std::vector<std::uint64_t> left_codes, present_codes;  ///< bits, nominal only
};

/// How much goes to one side of a cut; the weight is kept only where it is limited.
struct Side {
  std::int64_t draws = 0;
  double weight = 0;

  Side operator+(const Side& other) const { return {draws + other.draws, weight + other.weight}; }
};

/// The rows' draw counts and the smallest side allowed.
struct SideLimits {
  const std::uint32_t* draws;  ///< per local row
  std::int64_t n_draws = 0;    ///< of the node
  std::int64_t min_samples_leaf = 1;
  const double* weights = nullptr;  ///< per local row, where the weight of a side is limited
  double weight = 0;                ///< of the node
  double min_weight = 0;
  bool draws_are_weights = false;
  std::int64_t min_category_rows = 1;  ///< values with fewer draws go to one side together

  bool any() const { return min_samples_leaf > 1 || weights != nullptr; }
};

/// Finds splits for one thread; owns the scratch memory.
template <class Target>
class Splitter {
 public:
  explicit Splitter(Target& target) : target_(target) {}

  NodeEntries entries;  ///< of the feature at hand, filled by the caller

  /// Look at a node that its target has begun.
  void begin_node(const SideLimits& limits, bool random_splits) {
    limits_ = limits;
    if constexpr (sums_codes<Target>) {
      const bool draws_known = limits.min_samples_leaf <= 1 || limits.draws_are_weights;
      entries.wants_codes = !random_splits && draws_known && target_.sums_exact();
    }
  }

  /// Offer the best split of the feature whose `entries` (not constant) are filled in; better ones replace `best`.
  /// False where the feature is as good as constant: nominal, and all its values are pooled.
  bool best(std::int64_t feature, const ColumnHead& column, std::int64_t n, Split& best) {
    if (entries.by_code) {
      scan_codes(best);
    } else {
      prepare_missing();
      if (column.nominal && column.n_codes > 2) return best_nominal(feature, column.n_codes, n, best);
      if (!scan_at_once()) {
        entries.sort();
        scan();
      }
    }
    if (!cut_.found || !cut_.worthwhile || !better(best)) return true;
    accept(feature, best);
    if (column.nominal) {
      write_two_values(column.n_codes, best);
    } else {
      best.nominal = best.has_threshold = false;
      best.low = cut_.low;
      best.high = cut_.high;
    }
    return true;
  }

  /// The same with one random cut (numeric: uniform in value between the extremes; nominal: a random subset).
  bool random(std::int64_t feature, const Column& column, Random& random, Split& best) {
    if (column.nominal) {
      prepare_missing();
      return random_nominal(feature, column.n_codes, random, best);
    }
    double threshold = std::numeric_limits<double>::infinity();
    std::int32_t low = entries.max_code;
    if (entries.min_code < entries.max_code) {
      const double least = column.lower[static_cast<std::size_t>(entries.min_code)];
      const double most = column.lower[static_cast<std::size_t>(entries.max_code)];
      threshold = random_between(least, most, random);
      const auto begin = column.lower.begin();
      low = static_cast<std::int32_t>(std::upper_bound(begin + entries.min_code, begin + entries.max_code, threshold) -
                                      begin) -
            1;
      threshold = std::max(threshold, column.upper[static_cast<std::size_t>(low)]);  // never inside a bin
    }
    at_threshold(feature, threshold, low, low == entries.max_code ? -1 : low + 1, best);
    return true;
  }

  /// The same with a given cut of a numeric feature: codes up to `low` are up to the threshold.
  void at_threshold(std::int64_t feature, double threshold, std::int32_t low, std::int32_t high, Split& best) {
    prepare_missing();
    cut_.found = false;
    score_cut(low, high);
    if (!cut_.found || !cut_.worthwhile || !better(best)) return;
    accept(feature, best);
    best.nominal = false;
    best.has_threshold = true;
    best.low = low;
    best.threshold = threshold;
  }

 private:
  bool better(const Split& best) const {
    return !best.found || cut_.score > best.score + score_tolerance * std::abs(best.score);
  }

  void accept(std::int64_t feature, Split& best) const {
    best.found = true;
    best.feature = feature;
    best.score = cut_.score;
    best.any_missing = entries.any_missing();
    best.missing_left = cut_.missing_left;
  }

  void prepare_missing() {
    missing_ = {};
    if (entries.missing.empty()) return;
    target_.set_missing(entries.missing);
    for (const std::uint32_t row : entries.missing) put(row, missing_);
  }

  void restart() {
    target_.clear();
    side_ = {};
  }

  void put(std::uint32_t row, Side& side) const {
    side.draws += limits_.draws[row];
    if (limits_.weights != nullptr) side.weight += limits_.weights[row];
  }

  /// What a scan passes one by one: rows, by their sorted keys, or ...
  struct ListedRows {
    const KeyBuffer& keys;

    std::size_t size() const { return keys.size(); }
    std::int32_t code(std::size_t i) const { return NodeEntries::code_of(keys[i]); }
    std::size_t n_below(std::int32_t code) const {
      const std::uint64_t first = static_cast<std::uint64_t>(code) << 32;
      return static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), first) - keys.begin());
    }
  };

  /// ... all rows of a code at once.
  struct ListedCodes {
    const CodeSums& sums;

    std::size_t size() const { return sums.codes.size(); }
    std::int32_t code(std::size_t i) const { return sums.codes[i]; }
    std::size_t n_below(std::int32_t code) const {
      const auto begin = sums.codes.begin();
      return static_cast<std::size_t>(std::lower_bound(begin, sums.codes.end(), code) - begin);
    }
  };

  template <bool any_missing>
  void add(std::uint64_t key) {
    const std::uint32_t row = NodeEntries::row_of(key);
    if (any_missing) {
      target_.add_tracking_missing(row);
    } else {
      target_.add(row);
    }
    put(row, side_);
  }

  template <bool any_missing>
  void add(const ListedRows& listed, std::size_t i) {
    add<any_missing>(listed.keys[i]);
  }

  template <bool any_missing>
  void add(const ListedCodes& listed, std::size_t i) {
    target_.add_sum(listed.sums.sums[i]);
    put_sum(listed.sums.sums[i], side_);
  }

  void add_missing(const ListedRows&) {
    for (const std::uint32_t row : entries.missing) target_.add(row);
  }

  void add_missing(const ListedCodes& listed) { target_.add_sum(listed.sums.missing); }

  void put_sum(std::uint64_t sum, Side& side) const {
    const double weight = target_.weight_of_sum(sum);
    side.draws += static_cast<std::int64_t>(weight);
    side.weight += weight;
  }

  bool allowed(const Side& side) const {
    const std::int64_t least = limits_.min_samples_leaf;  // no side is empty
    if (least > 1 && (side.draws < least || limits_.n_draws - side.draws < least)) return false;
    return limits_.weights == nullptr ||
           (side.weight >= limits_.min_weight && limits_.weight - side.weight >= limits_.min_weight);
  }

  /// Consider a cut; from above (`descending`) an equal score replaces, so that the lowest cut wins either way.
  void consider(double score, const Side& side, std::int32_t low, std::int32_t high, bool missing_left,
                bool descending) {
    if (!allowed(side) || !(score > -std::numeric_limits<double>::infinity())) return;
    const double margin = score_tolerance * std::abs(cut_.score);
    if (cut_.found && !(descending ? score >= cut_.score - margin : score > cut_.score + margin)) return;
    cut_ = {true, score, low, high, missing_left, target_.worthwhile()};
  }

  /// Leave the scan to a target that has a quicker one, where any side is large enough.
  bool scan_at_once() {
    if constexpr (has_own_scan<Target>) {
      if (limits_.any()) return false;
      Cut cut;
      if (!target_.scan(entries, cut)) return false;
      cut_ = cut;
      return true;
    } else {
      return false;
    }
  }

  /// The same for a feature that was read by code.
  void scan_codes(const Split& best) {
    if constexpr (sums_codes<Target>) {
      cut_ = {};
      if (entries.n_missing == 0 && entries.n_default == 0 && !limits_.any())
        return target_.scan_codes(entries, best.found ? best.score : 0.0, cut_);
      const CodeSums& sums = target_.sum_codes(entries);
      missing_ = {};
      if (entries.n_missing > 0) {
        target_.set_missing_sum(sums.missing);
        put_sum(sums.missing, missing_);
      }
      scan(ListedCodes{sums});
    }
  }

  void scan() { scan(ListedRows{entries.keys}); }

  /// Scan from both ends towards the default code, whose rows stay untouched.
  template <class Listed>
  void scan(const Listed& listed) {
    if (entries.any_missing()) {
      scan_all<true>(listed);
    } else {
      scan_all<false>(listed);
    }
  }

  template <bool any_missing, class Listed>
  void scan_all(const Listed& listed) {
    cut_.found = false;
    const bool any_default = entries.n_default > 0;
    const std::size_t n_low = any_default ? listed.n_below(entries.default_code) : listed.size();
    if (n_low > 0) restart();
    for (std::size_t i = 0; i < n_low; ++i) {
      add<any_missing>(listed, i);
      const std::int32_t code = listed.code(i);
      std::int32_t next = any_default ? entries.default_code : -1;
      if (i + 1 < n_low) next = listed.code(i + 1);
      if (next == code) continue;
      if (next < 0) {  // all values against missing
        if (any_missing) consider(target_.score(), side_, code, -1, false, false);
        continue;
      }
      consider(target_.score(), side_, code, next, false, false);
      if (any_missing) consider(target_.score_with_missing(), side_ + missing_, code, next, true, false);
    }
    if (n_low < listed.size()) scan_high<any_missing>(listed, n_low);
    if (any_missing && any_default) {
      restart();
      add_missing(listed);
      consider(target_.score(), missing_, entries.max_code, -1, false, false);
    }
  }

  template <bool any_missing, class Listed>
  void scan_high(const Listed& listed, std::size_t n_low) {
    const Cut below = cut_;
    cut_.found = false;
    restart();
    for (std::size_t i = listed.size(); i-- > n_low;) {
      add<any_missing>(listed, i);
      const std::int32_t code = listed.code(i);
      const std::int32_t next = i > n_low ? listed.code(i - 1) : entries.default_code;
      if (next == code) continue;
      if (any_missing) {
        consider(target_.score_with_missing(), side_ + missing_, next, code, false, true);
        // at one cut, missing to the right wins a tie
        const double right = cut_.found && cut_.low == next ? cut_.score : -std::numeric_limits<double>::infinity();
        const double left = target_.score();
        if (left > right + score_tolerance * std::abs(right) || !(right > -std::numeric_limits<double>::infinity())) {
          consider(left, side_, next, code, true, true);
        }
      } else {
        consider(target_.score(), side_, next, code, false, true);
      }
    }
    if (below.found && !(cut_.found && cut_.score > below.score + score_tolerance * std::abs(below.score)))
      cut_ = below;
  }

  /// Score one given cut by accumulating one side, not the one with the default.
  void score_cut(std::int32_t low, std::int32_t high) {
    const bool any_missing = !entries.missing.empty();
    restart();
    if (high < 0) {  // all values against missing
      for (const std::uint32_t row : entries.missing) target_.add(row);
      consider(target_.score(), missing_, low, -1, false, false);
      return;
    }
    bool left = entries.n_default == 0 || entries.default_code > low;
    if (entries.n_default == 0) {
      std::int64_t n_left = 0;
      for (const std::uint64_t key : entries.keys) n_left += NodeEntries::code_of(key) <= low;
      left = 2 * n_left <= static_cast<std::int64_t>(entries.keys.size());
    }
    for (const std::uint64_t key : entries.keys) {
      if ((NodeEntries::code_of(key) <= low) != left) continue;
      if (any_missing) {
        add<true>(key);
      } else {
        add<false>(key);
      }
    }
    if (!any_missing) return consider(target_.score(), side_, low, high, false, false);
    const Side with_missing = side_ + missing_;
    if (left) {
      consider(target_.score(), side_, low, high, false, false);
      consider(target_.score_with_missing(), with_missing, low, high, true, false);
    } else {
      consider(target_.score_with_missing(), with_missing, low, high, false, false);
      consider(target_.score(), side_, low, high, true, false);
    }
  }

  bool best_nominal(std::int64_t feature, std::int32_t n_codes, std::int64_t n, Split& best) {
    note_codes(n_codes);
    const std::size_t n_groups = group_codes();
    if (n_groups == 1 && entries.missing.empty()) return false;
    if (n_groups > 2) {
      order_groups(n, n_groups);
    } else if (n_groups < codes_.size()) {  // the pool may hold the default beside listed codes
      entries.list_default(n, listed_);
    }
    recode_to_places(n_groups);
    entries.sort();
    scan();
    if (!cut_.found || !cut_.worthwhile || !better(best)) return true;
    accept(feature, best);
    write_groups(n_codes, cut_.low, best);
    return true;
  }

  bool random_nominal(std::int64_t feature, std::int32_t n_codes, Random& random, Split& best) {
    note_codes(n_codes);
    const std::size_t n_groups = group_codes();
    cut_.found = false;
    if (n_groups > 1) {
      // a coin per group; should all agree, one group changes sides
      std::size_t n_left = 0;
      std::uint64_t coins = 0;
      for (std::size_t g = 0; g < n_groups; ++g) {
        if (g % 64 == 0) coins = random.next();
        place_[g] = (coins >> (g % 64)) & 1 ? 1 : 0;
        n_left += place_[g] == 0;
      }
      if (n_left == 0 || n_left == n_groups) {
        const std::size_t odd = random.below(n_groups);
        place_[odd] = 1 - place_[odd];
      }
      recode_to_places(2);
      score_cut(0, 1);
    } else {
      if (entries.missing.empty()) return false;
      recode_to_places(1);
      score_cut(0, -1);
    }
    if (!cut_.found || !cut_.worthwhile || !better(best)) return true;
    accept(feature, best);
    write_groups(n_codes, 0, best);
    return true;
  }

  /// Note the node's distinct codes, ascending, and the draws of each; the rows that hold the default stay unlisted.
  void note_codes(std::int32_t n_codes) {
    draws_of_code_.resize(static_cast<std::size_t>(n_codes), 0);
    present_.assign(static_cast<std::size_t>((n_codes + 63) / 64), 0);
    std::int64_t n_listed = missing_.draws;
    const auto note = [this](std::int32_t code, std::int64_t draws) {
      present_[at(code / 64)] |= std::uint64_t(1) << (code % 64);
      draws_of_code_[at(code)] += draws;
    };
    for (const std::uint64_t key : entries.keys) {
      const std::uint32_t draws = limits_.draws[NodeEntries::row_of(key)];
      note(NodeEntries::code_of(key), draws);
      n_listed += draws;
    }
    if (entries.n_default > 0) note(entries.default_code, limits_.n_draws - n_listed);
    codes_.clear();
    draws_.clear();
    for (std::size_t word = 0; word < present_.size(); ++word) {
      for (std::uint64_t bits = present_[word]; bits != 0; bits &= bits - 1) {
        codes_.push_back(static_cast<std::int32_t>(word * 64 + lowest_bit(bits)));
        draws_.push_back(draws_of_code_[at(codes_.back())]);
        draws_of_code_[at(codes_.back())] = 0;
      }
    }
  }

  /// Note the group of each of `codes_`, in whose order groups are numbered, and as place of each group its number.
  /// Of more than two codes, all that have few draws are one group; any other is a group of its own.
  std::size_t group_codes() {
    group_.resize(codes_.size());
    std::int32_t n_groups = 0, pool = -1;
    for (std::size_t i = 0; i < codes_.size(); ++i) {
      const bool rare = codes_.size() > 2 && draws_[i] < limits_.min_category_rows;
      group_[i] = rare && pool >= 0 ? pool : n_groups++;
      if (rare) pool = group_[i];
    }
    place_.resize(static_cast<std::size_t>(n_groups));
    for (std::size_t g = 0; g < place_.size(); ++g) place_[g] = static_cast<std::int32_t>(g);
    return place_.size();
  }

  /// Place the groups by the order of the means of their codes' places along the first principal direction.
  void order_groups(std::int64_t n, std::size_t n_groups) {
    entries.list_default(n, listed_);
    entries.sort();
    target_.category_sums(entries.keys, sums_);
    principal_places(sums_, along_);
    mean_of_group_.assign(n_groups, 0.0);
    weight_of_group_.assign(n_groups, 0.0);
    for (std::size_t i = 0; i < group_.size(); ++i) {
      const std::size_t g = at(group_[i]);
      const double before = weight_of_group_[g];
      weight_of_group_[g] += sums_.weight[i];
      mean_of_group_[g] = before > 0 ? (before * mean_of_group_[g] + sums_.weight[i] * along_[i]) / weight_of_group_[g]
                                     : along_[i];  // a code alone keeps its place to the bit
    }
    order_.resize(n_groups);
    for (std::size_t g = 0; g < n_groups; ++g) order_[g] = static_cast<std::int32_t>(g);
    std::stable_sort(order_.begin(), order_.end(),
                     [this](std::int32_t a, std::int32_t b) { return mean_of_group_[at(a)] < mean_of_group_[at(b)]; });
    for (std::size_t p = 0; p < n_groups; ++p) place_[at(order_[p])] = static_cast<std::int32_t>(p);
  }

  /// Replace each code by the place of its group.
  void recode_to_places(std::size_t n_places) {
    place_of_code_.resize(draws_of_code_.size());
    for (std::size_t i = 0; i < codes_.size(); ++i) place_of_code_[at(codes_[i])] = place_[at(group_[i])];
    for (std::uint64_t& key : entries.keys) {
      const auto place = static_cast<std::uint32_t>(place_of_code_[at(NodeEntries::code_of(key))]);
      key = NodeEntries::key_of(place, NodeEntries::row_of(key));
    }
    if (entries.n_default > 0) entries.default_code = place_of_code_[at(entries.default_code)];
    entries.min_code = 0;
    entries.max_code = static_cast<std::int32_t>(n_places) - 1;
  }

  /// The cut of a nominal feature of at most two values, which needs no order.
  void write_two_values(std::int32_t n_codes, Split& best) {
    begin_subset(n_codes, best);
    note_side(entries.min_code, true, best);
    if (entries.max_code != entries.min_code) note_side(entries.max_code, cut_.low == entries.max_code, best);
  }

  /// The codes whose group stands at most at the place `low` go left.
  void write_groups(std::int32_t n_codes, std::int32_t low, Split& best) {
    begin_subset(n_codes, best);
    for (std::size_t i = 0; i < codes_.size(); ++i) note_side(codes_[i], place_[at(group_[i])] <= low, best);
  }

  static void begin_subset(std::int32_t n_codes, Split& best) {
    const auto n_words = static_cast<std::size_t>((n_codes + 63) / 64);
    best.nominal = true;
    best.left_codes.assign(n_words, 0);
    best.present_codes.assign(n_words, 0);
  }

  static void note_side(std::int32_t code, bool left, Split& best) {
    const std::uint64_t bit = std::uint64_t(1) << (code % 64);
    best.present_codes[at(code / 64)] |= bit;
    if (left) best.left_codes[at(code / 64)] |= bit;
  }

  Target& target_;
  SideLimits limits_{};
  Side side_, missing_;
  Cut cut_;  ///< the feature's best

  CategorySums sums_;
  std::vector<double> along_, mean_of_group_, weight_of_group_;
  std::vector<char> listed_;
  std::vector<std::int32_t> codes_, group_;  ///< the node's distinct codes and the group of each
  std::vector<std::int32_t> order_, place_;  ///< of groups
  std::vector<std::int64_t> draws_;          ///< by position in `codes_`
  std::vector<std::int64_t> draws_of_code_;  ///< by code, zero between uses
  std::vector<std::int32_t> place_of_code_;  ///< by code
  std::vector<std::uint64_t> present_;
};

}  // namespace ramify

#include "targets/one_label_target.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bits.hpp"
#include "forest/sorting.hpp"

namespace ramify {

namespace {

constexpr int payload_bits = 8;  // of a packed row: weight << 1 | has, below the code
constexpr std::uint32_t payload_mask = (1u << payload_bits) - 1;
constexpr double largest_weight = 127;

constexpr double margin = 1 - 1e-9;  // of scores that are told apart without a closer look

/// Keeps the best of the cuts offered in ascending order; the lowest of equal ones. Cuts below `to_beat` need not be
/// looked at.
class BestCut {
 public:
  BestCut(double node_count, double node_weight, double to_beat, Cut& cut)
      : count_(node_count),
        weight_(node_weight),
        worth_a_look_(std::max(0.0, to_beat * margin * node_weight - node_count * node_count)),
        cut_(cut) {}

  /// Could the cut with this count and weight on the left be one? Of no rows or all of them: never.
  bool worth_a_look(double count, double weight) const {
    const double excess = count * weight_ - count_ * weight, product = weight * (weight_ - weight);
    return product > 0 && excess * excess >= worth_a_look_ * product;
  }

  /// Look no more at cuts that are worse than this one.
  void beat(double count, double weight) {
    const double rest_weight = weight_ - weight, product = weight * rest_weight, rest = count_ - count;
    const double score = (count * count * rest_weight + rest * rest * weight) / product;
    worth_a_look_ = std::max(worth_a_look_, score * margin * weight_ - count_ * count_);
  }

  void offer(double count, double weight, std::int32_t low, std::int32_t high) {
    const double rest_weight = weight_ - weight, product = weight * rest_weight;
    // the score is (count_^2 + excess^2 / product) / weight_: without a division, is it worth a closer look?
    const double excess = count * weight_ - count_ * weight;
    if (excess * excess < worth_a_look_ * product) return;
    const double rest = count_ - count;
    const double score = (count * count * rest_weight + rest * rest * weight) / product;
    if (!(score > limit_)) return;
    limit_ = score + score_tolerance * score;
    worth_a_look_ = std::max(worth_a_look_, score * margin * weight_ - count_ * count_);
    cut_.found = true;
    cut_.score = score;
    cut_.low = low;
    cut_.high = high;
  }

 private:
  const double count_, weight_;
  double limit_ = -std::numeric_limits<double>::infinity();
  double worth_a_look_;
  Cut& cut_;
};

}  // namespace

OneLabelTarget::OneLabelTarget(const LabelRows& data)
    : data_(data),
      label_weight_(data.label_weights[0] + (data.n_labels == 2 ? data.label_weights[1] : 0.0)),
      row_has_(static_cast<std::size_t>(data.n_rows)) {
  for (std::int64_t row = 0; row < data.n_rows; ++row) {
    const std::int64_t first = data.offsets[row];
    row_has_[static_cast<std::size_t>(row)] =
        data.n_labels == 2 ? data.labels[first] == 1 : data.offsets[row + 1] > first;
  }
}

int OneLabelTarget::begin_node(const std::uint32_t* rows, std::uint32_t*, std::int64_t n, const double* weights,
                               int level) {
  m_ = weights;
  has_.resize(static_cast<std::size_t>(n));
  row_sums_.resize(static_cast<std::size_t>(n));
  payload_.resize(static_cast<std::size_t>(n));
  std::int64_t n_have = 0;
  bool small_integers = true;
  node_count_ = node_weight_ = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const char has = row_has_[rows[i]];
    const double m = weights[i];
    has_[at] = has;
    n_have += has;
    node_count_ += has ? m : 0.0;
    node_weight_ += m;
    const std::int32_t whole = static_cast<std::int32_t>(m < largest_weight ? m : largest_weight);
    small_integers &= m == whole;
    payload_[at] = static_cast<std::uint8_t>(whole << 1 | has);
    row_sums_[at] = static_cast<std::uint64_t>(whole) | static_cast<std::uint64_t>(has ? whole : 0) << 32;
  }
  small_integers_ = small_integers && node_weight_ < 4294967296.0;  // sums are kept in 32 bits
  pure_ = n_have == 0 || n_have == n || label_weight_ == 0;
  node_square_ = label_weight_ * node_count_ * node_count_;
  return level;
}

void OneLabelTarget::set_missing(const std::vector<std::uint32_t>& rows) {
  clear();
  for (const std::uint32_t row : rows) add(row);
  missing_count_ = count_;
  missing_weight_ = weight_;
}

void OneLabelTarget::category_sums(const KeyBuffer& keys, CategorySums& sums) {
  sums.clear();
  sums.dimension_weight.assign(1, label_weight_);
  for (std::size_t first = 0; first < keys.size();) {
    std::size_t last = first;
    clear();
    for (; last < keys.size() && keys[last] >> 32 == keys[first] >> 32; ++last) {
      add(static_cast<std::uint32_t>(keys[last]));
    }
    if (count_ != 0) {
      sums.dimensions.push_back(0);
      sums.sums.push_back(count_);
    }
    sums.weight.push_back(weight_);
    sums.own.push_back(0);
    sums.offsets.push_back(static_cast<std::int64_t>(sums.dimensions.size()));
    first = last;
  }
}

void OneLabelTarget::write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights, double total,
                                Tree& tree) {
  std::int64_t n_have = 0;
  double count = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const bool has = row_has_[rows[i]] != 0;
    n_have += has;
    count += has ? weights[i] : 0.0;
  }
  const bool some_have = n_have > 0 && n_have < n;
  if (data_.n_labels == 2) {
    if (n_have < n) tree.leaf_labels.push_back(0);
    if (n_have > 0) tree.leaf_labels.push_back(1);
    if (some_have) tree.leaf_counts.push_back(total - count);
  } else if (n_have > 0) {
    tree.leaf_labels.push_back(0);
  }
  if (some_have) tree.leaf_counts.push_back(count);
  tree.leaf_offsets.push_back(static_cast<std::int64_t>(tree.leaf_labels.size()));
  tree.leaf_partial.push_back(static_cast<std::int64_t>(tree.leaf_counts.size()));
}

namespace {

std::uint64_t sum_of_payload(std::uint64_t payload) {
  const std::uint64_t weight = payload >> 1;
  return weight | (weight << 32 & (0 - (payload & 1)));
}

/// Finds the best cut between codes that are passed in ascending order, with their sums.
class CutFinder {
 public:
  CutFinder(double node_count, double node_weight, double to_beat, Cut& cut)
      : best_(node_count, node_weight, to_beat, cut) {}

  void operator()(std::int32_t code, std::uint64_t sum) {
    if (sum_ != 0) best_.offer(static_cast<double>(sum_ >> 32), static_cast<double>(sum_ & 0xFFFFFFFFu), last_, code);
    sum_ += sum;
    last_ = code;
  }

 private:
  BestCut best_;
  std::uint64_t sum_ = 0;
  std::int32_t last_ = 0;
};

/// The code of a row, by what the feature was read into.
struct ByKey {
  const std::uint64_t* keys;
  std::uint32_t operator[](std::size_t i) const { return static_cast<std::uint32_t>(NodeEntries::code_of(keys[i])); }
};

}  // namespace

bool OneLabelTarget::scan(NodeEntries& entries, Cut& cut) {
  const std::uint32_t range = static_cast<std::uint32_t>(entries.max_code - entries.min_code) + 1;
  if (entries.n_default > 0 || !entries.missing.empty()) return false;
  if (!small_integers_ || range >= 1u << (32 - payload_bits)) return false;
  cut.found = false;
  each_code(ByKey{entries.keys.begin()}, entries.keys.size(), entries.min_code, range,
            CutFinder(node_count_, node_weight_, 0, cut));
  cut.score *= label_weight_;
  return true;
}

void OneLabelTarget::scan_codes(const NodeEntries& entries, double to_beat, Cut& cut) {
  constexpr std::size_t many_rows = 96;
  constexpr std::uint32_t many_codes = 512;
  const std::uint32_t range = static_cast<std::uint32_t>(entries.max_code - entries.min_code) + 1;
  const auto n = static_cast<std::size_t>(entries.n_rows);
  cut.found = false;
  to_beat = std::max(0.0, to_beat / label_weight_);
  if (n >= many_rows && range >= many_codes) {
    scan_where_worth(entries, range, to_beat, cut);
  } else {
    each_code(entries.codes.data(), n, entries.min_code, range, CutFinder(node_count_, node_weight_, to_beat, cut));
  }
  cut.score *= label_weight_;
}

/// Many codes: sum the rows of stretches of codes and sort only where a cut can be the best one. The score is convex in
/// count and weight on the left, so within a stretch it is at most that of a corner: no row of it, all of them, first
/// those with the label or first the others.
void OneLabelTarget::scan_where_worth(const NodeEntries& entries, std::uint32_t range, double to_beat, Cut& cut) {
  const auto n = static_cast<std::size_t>(entries.n_rows);
  const std::uint32_t n_wanted = static_cast<std::uint32_t>(std::min<std::size_t>(n / 8, 128));
  int shift = 0;
  while ((range - 1) >> shift >= n_wanted) ++shift;
  const std::uint32_t n_stretches = ((range - 1) >> shift) + 1;
  const auto base = static_cast<std::uint32_t>(entries.min_code);
  const std::uint16_t* const codes = entries.codes.data();
  std::uint64_t before[129] = {};  // sums of the stretches below, and all
  char worth[128];
  for (std::size_t i = 0; i < n; ++i) before[((codes[i] - base) >> shift) + 1] += row_sums_[i];
  BestCut best(node_count_, node_weight_, to_beat, cut);
  for (std::uint32_t s = 1; s < n_stretches; ++s) {
    before[s] += before[s - 1];
    const double count = count_of_sum(before[s]), weight = weight_of_sum(before[s]);
    if (best.worth_a_look(count, weight)) best.beat(count, weight);
  }
  before[n_stretches] += before[n_stretches - 1];
  bool any = false, starts_well = false;
  for (std::uint32_t s = 0; s < n_stretches; ++s) {
    const double count = count_of_sum(before[s]), weight = weight_of_sum(before[s]);
    const double end_count = count_of_sum(before[s + 1]), end_weight = weight_of_sum(before[s + 1]);
    const double have = end_count - count, others = end_weight - weight - have;
    const bool ends_well = best.worth_a_look(end_count, end_weight);
    worth[s] = starts_well || ends_well || best.worth_a_look(end_count, weight + have) ||
               best.worth_a_look(count, weight + others);
    any = any || worth[s];
    starts_well = ends_well;
  }
  if (!any) return;
  packed_.resize(n + 1);
  std::size_t n_packed = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t code = codes[i] - base;
    packed_[n_packed] = code << payload_bits | payload_[i];
    n_packed += worth[code >> shift] != 0;
  }
  packed_.resize(n_packed);
  sort_packed(range);
  std::uint32_t stretch = n_stretches;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 1 < n_packed; ++i) {
    const std::uint32_t code = packed_[i] >> payload_bits, next = packed_[i + 1] >> payload_bits;
    if (code >> shift != stretch) sum = before[stretch = code >> shift];
    sum += sum_of_payload(packed_[i] & payload_mask);
    if (code == next) continue;
    best.offer(count_of_sum(sum), weight_of_sum(sum), static_cast<std::int32_t>(code) + entries.min_code,
               static_cast<std::int32_t>(next) + entries.min_code);
  }
}

const CodeSums& OneLabelTarget::sum_codes(const NodeEntries& entries) {
  const std::int32_t last = entries.n_missing > 0 ? entries.missing_code : entries.max_code;
  const std::uint32_t range = static_cast<std::uint32_t>(last - entries.min_code) + 1;
  sums_.codes.clear();
  sums_.sums.clear();
  const auto list = [&](std::int32_t code, std::uint64_t sum) {
    if (code == entries.default_code) return;
    if (code == entries.missing_code) {
      sums_.missing = sum;
      return;
    }
    sums_.codes.push_back(code);
    sums_.sums.push_back(sum);
  };
  each_code(entries.codes.data(), static_cast<std::size_t>(entries.n_rows), entries.min_code, range, list);
  return sums_;
}

/// Sum the rows per code and visit the codes in ascending order. Where codes are few, every code is looked at; where
/// they are not too many, those that are marked; else the rows are sorted.
template <class Codes, class Visit>
void OneLabelTarget::each_code(Codes code_of_row, std::size_t n, std::int32_t min_code, std::uint32_t range,
                               Visit visit) {
  const std::size_t n_words = (range + 63) / 64;
  const bool few = range <= 4 * n;
  if (!few && range > 64 && (n <= few_keys || range / 64 > n))
    return each_sorted(code_of_row, n, min_code, range, visit);
  if (by_code_.size() < range) by_code_.resize(range, 0);
  if (listed_.size() < range) listed_.resize(range);
  std::uint64_t* const by_code = by_code_.data();
  const std::uint64_t* const row_sums = row_sums_.data();
  const auto base = static_cast<std::uint32_t>(min_code);
  if (few) {
    for (std::size_t i = 0; i < n; ++i) by_code[code_of_row[i] - base] += row_sums[i];
    std::uint32_t* const listed = listed_.data();
    std::size_t n_listed = 0;
    for (std::uint32_t code = 0; code < range; ++code) {
      listed[n_listed] = code;
      n_listed += by_code[code] != 0;
    }
    for (std::size_t i = 0; i < n_listed; ++i)
      visit(static_cast<std::int32_t>(listed[i]) + min_code, std::exchange(by_code[listed[i]], 0));
    return;
  }
  if (marks_.size() < n_words) marks_.resize(n_words, 0);
  std::uint64_t* const all_marks = marks_.data();
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t code = code_of_row[i] - base;
    by_code[code] += row_sums[i];
    all_marks[code / 64] |= std::uint64_t(1) << (code % 64);
  }
  for (std::size_t word = 0; word < n_words; ++word) {
    for (std::uint64_t marks = std::exchange(all_marks[word], 0); marks != 0; marks &= marks - 1) {
      const auto code = static_cast<std::uint32_t>(word * 64 + lowest_bit(marks));
      visit(static_cast<std::int32_t>(code) + min_code, std::exchange(by_code[code], 0));
    }
  }
}

/// Sort code and weight as one number, then walk the rows.
template <class Codes, class Visit>
void OneLabelTarget::each_sorted(Codes code_of_row, std::size_t n, std::int32_t min_code, std::uint32_t range,
                                 Visit& visit) {
  packed_.resize(n);
  const auto base = static_cast<std::uint32_t>(min_code);
  for (std::size_t i = 0; i < n; ++i) packed_[i] = (code_of_row[i] - base) << payload_bits | payload_[i];
  sort_packed(range);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t code = packed_[i] >> payload_bits;
    sum += sum_of_payload(packed_[i] & payload_mask);
    if (i + 1 < n && packed_[i + 1] >> payload_bits == code) continue;
    visit(static_cast<std::int32_t>(code) + min_code, std::exchange(sum, 0));
  }
}

void OneLabelTarget::sort_packed(std::uint32_t range) {
  const std::size_t n = packed_.size();
  if (n <= few_keys) return sort_few(packed_.data(), n);
  const auto code_of = [](std::uint32_t key) { return key >> payload_bits; };
  spare_.resize(n);
  if (sort_by_digits(packed_.data(), spare_.data(), n, range - 1, code_of, counts_)) packed_.swap(spare_);
}

}  // namespace ramify

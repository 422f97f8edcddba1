#include "targets/one_label_target.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bits.hpp"
#include "forest/sorting.hpp"

namespace ramify {

namespace {

constexpr int payload_bits = 8;
constexpr std::uint32_t payload_mask = (1u << payload_bits) - 1;
constexpr double largest_weight = 127;  // weight << 1 | has must fit the payload

/// Keeps the best of the cuts offered in ascending order; the lowest of equal ones.
class BestCut {
 public:
  BestCut(double node_count, double node_weight, Cut& cut) : count_(node_count), weight_(node_weight), cut_(cut) {}

  void offer(double count, double weight, std::int32_t low, std::int32_t high) {
    const double rest_weight = weight_ - weight, product = weight * rest_weight;
    // the score is (count_^2 + excess^2 / product) / weight_: without a division, is it worth a closer look?
    const double excess = count * weight_ - count_ * weight;
    if (excess * excess < worth_a_look_ * product) return;
    const double rest = count_ - count;
    const double score = (count * count * rest_weight + rest * rest * weight) / product;
    if (!(score > limit_)) return;
    limit_ = score + score_tolerance * score;
    worth_a_look_ = score * (1 - 1e-9) * weight_ - count_ * count_;
    cut_.found = true;
    cut_.score = score;
    cut_.low = low;
    cut_.high = high;
  }

 private:
  const double count_, weight_;
  double limit_ = -std::numeric_limits<double>::infinity();
  double worth_a_look_ = 0;
  Cut& cut_;
};

}  // namespace

int OneLabelTarget::begin_node(const std::uint32_t* rows, std::uint32_t*, std::int64_t n, const double* weights,
                               int level) {
  n_ = n;
  m_ = weights;
  has_.resize(static_cast<std::size_t>(n));
  payload_.resize(static_cast<std::size_t>(n));
  std::int64_t n_have = 0;
  small_integers_ = true;
  node_count_ = node_weight_ = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const bool has = this->has(rows[i]);
    const double m = weights[i];
    has_[at] = has;
    n_have += has;
    node_count_ += has ? m : 0.0;
    node_weight_ += m;
    const auto whole = static_cast<std::uint32_t>(m < largest_weight ? m : largest_weight);
    small_integers_ = small_integers_ && m == whole;
    payload_[at] = whole << 1 | static_cast<std::uint32_t>(has);
  }
  small_integers_ = small_integers_ && node_weight_ < 4294967296.0;  // sums are kept in 32 bits
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
    const bool has = this->has(rows[i]);
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

bool OneLabelTarget::scan(NodeEntries& entries, Cut& cut) {
  const std::uint32_t range = static_cast<std::uint32_t>(entries.max_code - entries.min_code) + 1;
  if (entries.n_default > 0 || !entries.missing.empty()) return false;
  if (!small_integers_ || range >= 1u << (32 - payload_bits)) return false;
  cut.found = false;
  if (range <= 64 || (entries.keys.size() > few_keys && range / 64 <= entries.keys.size())) {
    scan_marked(entries, range, cut);
  } else {
    scan_sorted(entries, range, cut);
  }
  cut.score *= label_weight_;
  return true;
}

/// Not too many codes: sum per code and mark it, then walk the marks.
void OneLabelTarget::scan_marked(const NodeEntries& entries, std::uint32_t range, Cut& cut) {
  const std::size_t n_words = (range + 63) / 64;
  if (sums_.size() < range) sums_.resize(range, 0);
  if (marks_.size() < n_words) marks_.resize(n_words, 0);
  for (const std::uint64_t key : entries.keys) {
    const std::uint64_t payload = payload_[NodeEntries::row_of(key)], weight = payload >> 1;
    const auto code = static_cast<std::uint32_t>(NodeEntries::code_of(key) - entries.min_code);
    sums_[code] += weight | (weight << 32 & (0 - (payload & 1)));
    marks_[code / 64] |= std::uint64_t(1) << (code % 64);
  }
  BestCut best(node_count_, node_weight_, cut);
  std::uint64_t sum = std::exchange(sums_[0], 0);
  std::uint32_t low = 0;
  marks_[0] &= ~std::uint64_t(1);
  for (std::size_t word = 0; word < n_words; ++word) {
    for (std::uint64_t marks = std::exchange(marks_[word], 0); marks != 0; marks &= marks - 1) {
      const auto code = static_cast<std::uint32_t>(word * 64 + lowest_bit(marks));
      best.offer(static_cast<double>(sum >> 32), static_cast<double>(sum & 0xFFFFFFFFu),
                 static_cast<std::int32_t>(low) + entries.min_code, static_cast<std::int32_t>(code) + entries.min_code);
      sum += std::exchange(sums_[code], 0);
      low = code;
    }
  }
}

/// Many codes: sort code and payload as one number, then walk the rows.
void OneLabelTarget::scan_sorted(const NodeEntries& entries, std::uint32_t range, Cut& cut) {
  const std::size_t n = entries.keys.size();
  packed_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto code = static_cast<std::uint32_t>(NodeEntries::code_of(entries.keys[i]) - entries.min_code);
    packed_[i] = code << payload_bits | payload_[NodeEntries::row_of(entries.keys[i])];
  }
  sort_packed(range);
  BestCut best(node_count_, node_weight_, cut);
  std::uint32_t count = 0, weight = 0;
  for (std::size_t i = 0; i + 1 < n; ++i) {
    const std::uint32_t m = (packed_[i] & payload_mask) >> 1;
    weight += m;
    count += m & (0u - (packed_[i] & 1u));
    const std::uint32_t code = packed_[i] >> payload_bits, next = packed_[i + 1] >> payload_bits;
    if (code == next) continue;
    best.offer(count, weight, static_cast<std::int32_t>(code) + entries.min_code,
               static_cast<std::int32_t>(next) + entries.min_code);
  }
}

void OneLabelTarget::sort_packed(std::uint32_t range) {
  if (packed_.size() <= few_keys) return sort_few(packed_.data(), packed_.size());
  const auto code_of = [](std::uint32_t key) { return key >> payload_bits; };
  spare_.resize(packed_.size());
  if (sort_by_digits(packed_.data(), spare_.data(), packed_.size(), range - 1, code_of, counts_)) packed_.swap(spare_);
}

}  // namespace ramify

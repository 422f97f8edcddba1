#include "targets/label_target.hpp"

#include <algorithm>
#include <limits>

namespace ramify {

namespace {

// states of a label that gets no number of its own
constexpr std::int32_t shared_by_all = -1, of_one_row = -2;

std::uint64_t hash_of_row(std::uint64_t row) {
  row = (row + 1) * 0x9E3779B97F4A7C15ULL;
  row = (row ^ (row >> 32)) * 0xD6E8FEB86659FD93ULL;
  return row ^ (row >> 32);
}

struct LabelSpan {
  const std::int32_t* begin;
  const std::int32_t* end;
};

}  // namespace

LabelTarget::LabelTarget(const LabelRows& data)
    : data_(data),
      count_(static_cast<std::size_t>(data.n_labels) + 1, 0.0),
      n_rows_with_(static_cast<std::size_t>(data.n_labels) + 1, 0),
      row_hash_(static_cast<std::size_t>(data.n_labels) + 1, 0),
      new_label_(static_cast<std::size_t>(data.n_labels) + 1, 0) {
  levels_.resize(72);  // each kept level has at most half the rows of the one before
}

namespace {

LabelSpan labels_of(const LabelRows& data, const LocalLabels* from, const std::uint32_t* rows,
                    const std::uint32_t* slots, std::int64_t i) {
  if (from == nullptr) return {data.labels + data.offsets[rows[i]], data.labels + data.offsets[rows[i] + 1]};
  return {from->labels.data() + from->offsets[slots[i]], from->labels.data() + from->offsets[slots[i] + 1]};
}

}  // namespace

void LabelTarget::count_labels(const LocalLabels* from, const std::uint32_t* rows, const std::uint32_t* slots,
                               bool hash) {
  touched_.clear();
  for (std::int64_t i = 0; i < n_; ++i) {
    const LabelSpan span = labels_of(data_, from, rows, slots, i);
    const double m = m_[i];
    if (hash) {
      const std::uint64_t h = hash_of_row(static_cast<std::uint64_t>(i));
      for (const std::int32_t* label = span.begin; label != span.end; ++label) {
        if (n_rows_with_[*label]++ == 0) touched_.push_back(*label);
        count_[*label] += m;
        row_hash_[*label] += h;
      }
    } else {
      for (const std::int32_t* label = span.begin; label != span.end; ++label) {
        if (n_rows_with_[*label]++ == 0) touched_.push_back(*label);
        count_[*label] += m;
      }
    }
  }
}

/// Sort touched labels so that those of the same rows stand together.
void LabelTarget::merge_equal_labels() {
  std::sort(touched_.begin(), touched_.end(), [this](std::int32_t a, std::int32_t b) {
    return row_hash_[a] != row_hash_[b] ? row_hash_[a] < row_hash_[b] : a < b;
  });
}

void LabelTarget::renumber(const LocalLabels* from, const std::uint32_t* rows, const std::uint32_t* slots, bool merge,
                           LocalLabels& to) {
  const double* const old_weights = from == nullptr ? data_.label_weights : from->weights.data();
  to.weights.clear();
  node_count_.clear();
  std::int64_t n_kept = 0;
  std::int32_t previous = -1;
  for (const std::int32_t label : touched_) {
    if (n_rows_with_[label] == n_ || old_weights[label] == 0) {
      new_label_[label] = shared_by_all;
    } else if (n_rows_with_[label] == 1) {
      new_label_[label] = of_one_row;
    } else if (merge && previous >= 0 && row_hash_[label] == row_hash_[previous] &&
               n_rows_with_[label] == n_rows_with_[previous]) {
      new_label_[label] = -3 - new_label_[previous];  // the number of `previous`, to be written once per row
      to.weights.back() += old_weights[label];
    } else {
      new_label_[label] = static_cast<std::int32_t>(to.weights.size());
      to.weights.push_back(old_weights[label]);
      node_count_.push_back(count_[label]);
      n_kept += n_rows_with_[label];
      previous = label;
    }
  }
  const auto padding = static_cast<std::int32_t>(to.weights.size());
  to.weights.push_back(0.0);
  node_count_.push_back(0.0);
  to.step = n_kept > 2 * n_ ? 4 : 1;
  to.n_rows = n_;
  to.offsets.resize(static_cast<std::size_t>(n_) + 1);
  to.own.resize(static_cast<std::size_t>(n_));
  to.labels.clear();
  to.offsets[0] = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    const LabelSpan span = labels_of(data_, from, rows, slots, i);
    double own = from == nullptr ? 0.0 : from->own[slots[i]];
    for (const std::int32_t* label = span.begin; label != span.end; ++label) {
      const std::int32_t now = new_label_[*label];
      if (now >= 0) {
        to.labels.push_back(now);
      } else if (now == of_one_row) {
        own += old_weights[*label];
      }
    }
    while (to.step == 4 && to.labels.size() % 4 != 0) to.labels.push_back(padding);
    to.own[static_cast<std::size_t>(i)] = own;
    to.offsets[static_cast<std::size_t>(i) + 1] = static_cast<std::int64_t>(to.labels.size());
  }
  for (const std::int32_t label : touched_) {
    n_rows_with_[label] = 0;
    count_[label] = 0;
    row_hash_[label] = 0;
  }
}

int LabelTarget::begin_node(const std::uint32_t* rows, std::uint32_t* slots, std::int64_t n, const double* weights,
                            int level) {
  const LocalLabels* from = level < 0 ? nullptr : &levels_[static_cast<std::size_t>(level)];
  const bool keep = from == nullptr || 2 * n <= from->n_rows;
  n_ = n;
  m_ = weights;
  count_labels(from, rows, slots, keep);
  if (keep) merge_equal_labels();
  LocalLabels& to = levels_[static_cast<std::size_t>(level + 1)];
  renumber(from, rows, slots, keep, to);
  node_ = &to;

  node_weight_ = node_square_ = perfect_ = 0;
  for (std::size_t j = 0; j < node_count_.size(); ++j) node_square_ += to.weights[j] * node_count_[j] * node_count_[j];
  terms_.resize(static_cast<std::size_t>(n));
  bool any_own = false;
  for (std::int64_t i = 0; i < n; ++i) {
    double weight = to.own[static_cast<std::size_t>(i)], product = 0;
    any_own = any_own || weight > 0;
    const double m = m_[i], own = m * m * weight;
    for (std::int64_t p = to.offsets[static_cast<std::size_t>(i)]; p < to.offsets[static_cast<std::size_t>(i) + 1];
         ++p) {
      weight += to.weights[to.labels[p]];
      product += to.weights[to.labels[p]] * node_count_[to.labels[p]];
    }
    terms_[static_cast<std::size_t>(i)] = {m, m * m * weight, m * product + own};
    node_square_ += own;
    perfect_ += m * weight;
    node_weight_ += m;
  }
  pure_ = node_count_.size() == 1 && !any_own;
  if (!keep) return level;
  for (std::int64_t i = 0; i < n; ++i) slots[i] = static_cast<std::uint32_t>(i);
  return level + 1;
}

void LabelTarget::clear() {
  u_.assign(node_->weights.size(), 0.0);
  square_ = product_ = weight_ = cross_ = 0;
}

void LabelTarget::set_missing(const std::vector<std::uint32_t>& rows) {
  clear();
  for (const std::uint32_t row : rows) add(row);
  v_.swap(u_);
  missing_square_ = square_;
  missing_product_ = product_;
  missing_weight_ = weight_;
}

template <bool any_missing>
void LabelTarget::scan_rows(const NodeEntries& entries, Cut& cut) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double cap[2] = {-infinity, infinity};  // no cut between equal codes
  LabelSums sums(*this);
  const RowTerms* const terms = terms_.data();
  const std::uint64_t* const keys = entries.keys.begin();
  const std::size_t n = entries.keys.size();
  scores_.resize(any_missing ? 2 * n : n);
  double* const scores = scores_.data();
  double square = 0, product = 0, weight = 0, cross = 0, most = -infinity;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t row = NodeEntries::row_of(keys[i]);
    const RowTerms& own = terms[row];
    if (any_missing) cross += sums.with_missing(row, own.weight);
    square += 2 * sums.add(row, own.weight) + own.self;
    product += own.with_node;
    weight += own.weight;
    if (i + 1 == n) break;
    const double limit = cap[keys[i] >> 32 != keys[i + 1] >> 32];
    if (any_missing) {
      scores[2 * i] = std::min(score_of(square, product, weight), limit);
      scores[2 * i + 1] = std::min(
          score_of(square + 2 * cross + missing_square_, product + missing_product_, weight + missing_weight_), limit);
      most = std::max(std::max(most, scores[2 * i]), scores[2 * i + 1]);  // in this order: NaN never wins
    } else {
      scores[i] = std::min(score_of(square, product, weight), limit);
      most = std::max(most, scores[i]);
    }
  }
  if (any_missing) {  // all values against missing
    scores[2 * n - 2] = score_of(square, product, weight);
    most = std::max(most, scores[2 * n - 2]);
  }
  if (!(most > -infinity)) return;  // no score is a number
  const std::size_t first = first_best(scores, most);
  const std::size_t i = any_missing ? first / 2 : first;
  cut.found = true;
  cut.score = scores[first];
  cut.low = NodeEntries::code_of(keys[i]);
  cut.high = i + 1 < n ? NodeEntries::code_of(keys[i + 1]) : -1;
  cut.missing_left = any_missing && first % 2 == 1;
}

/// Two values: the listed rows against those that hold the default.
void LabelTarget::scan_two_values(const NodeEntries& entries, Cut& cut) {
  LabelSums sums(*this);
  double square = 0, product = 0, weight = 0;
  for (const std::uint64_t key : entries.keys) {
    const std::uint32_t row = NodeEntries::row_of(key);
    const RowTerms& own = terms_[row];
    square += 2 * sums.add(row, own.weight) + own.self;
    product += own.with_node;
    weight += own.weight;
  }
  cut.score = score_of(square, product, weight);
  cut.found = cut.score > -std::numeric_limits<double>::infinity();  // and not NaN
  cut.low = entries.min_code;
  cut.high = entries.max_code;
}

bool LabelTarget::scan(NodeEntries& entries, Cut& cut) {
  const bool two_values = entries.n_default > 0 && entries.max_code - entries.min_code == 1 && entries.missing.empty();
  if (entries.n_default > 0 && !two_values) return false;
  clear();
  if (two_values) {
    scan_two_values(entries, cut);
    return true;
  }
  entries.sort();
  if (entries.missing.empty()) {
    scan_rows<false>(entries, cut);
  } else {
    scan_rows<true>(entries, cut);
  }
  return true;
}

void LabelTarget::category_sums(const KeyBuffer& keys, CategorySums& sums) {
  sums.clear();
  sums.dimension_weight = node_->weights;
  u_.assign(node_->weights.size(), 0.0);
  for (std::size_t first = 0; first < keys.size();) {
    std::size_t last = first;
    double weight = 0, own = 0;
    touched_.clear();
    for (; last < keys.size() && keys[last] >> 32 == keys[first] >> 32; ++last) {
      const auto row = static_cast<std::uint32_t>(keys[last]);
      weight += m_[row];
      own += m_[row] * m_[row] * node_->own[row];
      for (std::int64_t p = node_->offsets[row]; p < node_->offsets[row + 1]; ++p) {
        const std::int32_t label = node_->labels[p];
        if (u_[label] == 0) touched_.push_back(label);
        u_[label] += m_[row];  // of the padding, too: its weight is 0
      }
    }
    for (const std::int32_t label : touched_) {
      sums.dimensions.push_back(label);
      sums.sums.push_back(u_[label]);
      u_[label] = 0;
    }
    sums.weight.push_back(weight);
    sums.own.push_back(own);
    sums.offsets.push_back(static_cast<std::int64_t>(sums.dimensions.size()));
    first = last;
  }
}

void LabelTarget::write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights, double, Tree& tree) {
  if (n == 1) {  // its labels, which are sorted
    const LabelSpan span = labels_of(data_, nullptr, rows, nullptr, 0);
    tree.leaf_labels.insert(tree.leaf_labels.end(), span.begin, span.end);
    tree.leaf_offsets.push_back(static_cast<std::int64_t>(tree.leaf_labels.size()));
    tree.leaf_partial.push_back(static_cast<std::int64_t>(tree.leaf_counts.size()));
    return;
  }
  touched_.clear();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t p = data_.offsets[rows[i]]; p < data_.offsets[rows[i] + 1]; ++p) {
      const std::int32_t label = data_.labels[p];
      if (n_rows_with_[label]++ == 0) touched_.push_back(label);
      count_[label] += weights[i];
    }
  }
  all_have_.clear();
  some_have_.clear();
  for (const std::int32_t label : touched_) (n_rows_with_[label] == n ? all_have_ : some_have_).push_back(label);
  std::sort(all_have_.begin(), all_have_.end());
  std::sort(some_have_.begin(), some_have_.end());
  tree.leaf_labels.insert(tree.leaf_labels.end(), all_have_.begin(), all_have_.end());
  tree.leaf_labels.insert(tree.leaf_labels.end(), some_have_.begin(), some_have_.end());
  for (const std::int32_t label : some_have_) tree.leaf_counts.push_back(count_[label]);
  tree.leaf_offsets.push_back(static_cast<std::int64_t>(tree.leaf_labels.size()));
  tree.leaf_partial.push_back(static_cast<std::int64_t>(tree.leaf_counts.size()));
  for (const std::int32_t label : touched_) {
    n_rows_with_[label] = 0;
    count_[label] = 0;
  }
}

}  // namespace ramify

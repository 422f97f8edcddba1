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

template <bool partly_known>
LabelTarget<partly_known>::LabelTarget(const LabelRows& data)
    : data_(data),
      count_(static_cast<std::size_t>(data.n_labels) + 1, 0.0),
      n_rows_with_(static_cast<std::size_t>(data.n_labels) + 1, 0),
      row_hash_(static_cast<std::size_t>(data.n_labels) + 1, 0),
      new_label_(static_cast<std::size_t>(data.n_labels) + 1, 0),
      unknown_weight_(partly_known ? static_cast<std::size_t>(data.n_labels) + 1 : 0, 0.0),
      n_unknown_(partly_known ? static_cast<std::size_t>(data.n_labels) + 1 : 0, 0) {
  levels_.resize(72);  // each kept level has at most half the rows of the one before
}

namespace {

LabelSpan labels_of(const LabelRows& data, const LocalLabels* from, const std::uint32_t* rows,
                    const std::uint32_t* slots, std::int64_t i) {
  if (from == nullptr) return {data.labels + data.offsets[rows[i]], data.labels + data.offsets[rows[i] + 1]};
  return {from->labels.data() + from->offsets[slots[i]], from->labels.data() + from->offsets[slots[i] + 1]};
}

LabelSpan unknown_of(const LabelRows& data, const LocalLabels* from, const std::uint32_t* rows,
                     const std::uint32_t* slots, std::int64_t i) {
  if (from == nullptr)
    return {data.unknown + data.unknown_offsets[rows[i]], data.unknown + data.unknown_offsets[rows[i] + 1]};
  const std::int32_t* const unknown = from->unknown.data();
  return {unknown + from->unknown_offsets[slots[i]], unknown + from->unknown_offsets[slots[i] + 1]};
}

}  // namespace

template <bool partly_known>
void LabelTarget<partly_known>::count_labels(const LocalLabels* from, const std::uint32_t* rows,
                                             const std::uint32_t* slots, bool hash) {
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

template <bool partly_known>
void LabelTarget<partly_known>::count_unknown(const LocalLabels* from, const std::uint32_t* rows,
                                              const std::uint32_t* slots) {
  for (std::int64_t i = 0; i < n_; ++i) {
    const LabelSpan span = unknown_of(data_, from, rows, slots, i);
    for (const std::int32_t* label = span.begin; label != span.end; ++label) {
      if (n_unknown_[*label]++ == 0 && n_rows_with_[*label] == 0) touched_.push_back(*label);
      unknown_weight_[*label] += m_[i];
    }
  }
}

/// The mean of a counted label over the rows that are known, of `n` rows that weigh `total`; some are.
template <bool partly_known>
double LabelTarget<partly_known>::known_mean(std::int32_t label, std::int64_t n, double total) const {
  if (n_rows_with_[label] == 0) return 0;
  if (n_rows_with_[label] + n_unknown_[label] == static_cast<std::uint64_t>(n)) return 1;
  return std::min(1.0, count_[label] / (total - unknown_weight_[label]));
}

/// Remember what this node says of labels that its descendants may not know.
template <bool partly_known>
void LabelTarget<partly_known>::note_means(const LocalLabels* from) {
  for (const std::int32_t label : touched_) {
    if (n_unknown_[label] == 0 || n_unknown_[label] == n_) continue;
    inherited_.set(from == nullptr ? label : from->original[label], known_mean(label, n_, node_weight_));
  }
}

template <bool partly_known>
void LabelTarget<partly_known>::learn(const Examples& examples) {
  std::vector<double> has(static_cast<std::size_t>(data_.n_labels), 0.0), known(has.size(), 0.0);
  double total = 0;
  for (const std::uint32_t row : examples.rows) {
    const double weight = examples.weights.empty() ? 1.0 : examples.weights[row];
    total += weight;
    const LabelSpan labels = labels_of(data_, nullptr, &row, nullptr, 0);
    for (const std::int32_t* label = labels.begin; label != labels.end; ++label) has[*label] += weight;
    const LabelSpan unknown = unknown_of(data_, nullptr, &row, nullptr, 0);
    for (const std::int32_t* label = unknown.begin; label != unknown.end; ++label) known[*label] -= weight;
  }
  for (std::size_t j = 0; j < has.size(); ++j) has[j] = has[j] > 0 ? std::min(1.0, has[j] / (total + known[j])) : 0.0;
  inherited_.start_from(std::move(has));
}

/// Sort touched labels so that those of the same rows stand together.
template <bool partly_known>
void LabelTarget<partly_known>::merge_equal_labels() {
  std::sort(touched_.begin(), touched_.end(), [this](std::int32_t a, std::int32_t b) {
    return row_hash_[a] != row_hash_[b] ? row_hash_[a] < row_hash_[b] : a < b;
  });
}

/// Do all rows that are known agree on a counted label?
template <bool partly_known>
bool LabelTarget<partly_known>::is_constant(std::int32_t label, double weight) const {
  if constexpr (partly_known) {
    if (n_unknown_[label] > 0)  // also without weight: what leaves inherit of it changes on the way down
      return n_rows_with_[label] == 0 || n_rows_with_[label] + n_unknown_[label] == n_;
  }
  return n_rows_with_[label] == n_ || weight == 0;
}

template <bool partly_known>
void LabelTarget<partly_known>::renumber(const LocalLabels* from, const std::uint32_t* rows, const std::uint32_t* slots,
                                         bool merge, LocalLabels& to) {
  const double* const old_weights = from == nullptr ? data_.label_weights : from->weights.data();
  to.weights.clear();
  node_count_.clear();
  if constexpr (partly_known) {
    to.original.clear();
    mean_.clear();
    weighted_mean_.clear();
  }
  std::int64_t n_kept = 0;
  std::int32_t previous = -1;
  for (const std::int32_t label : touched_) {
    if (is_constant(label, old_weights[label])) {
      new_label_[label] = shared_by_all;
    } else if (n_rows_with_[label] == 1 && (!partly_known || n_unknown_[label] == 0)) {
      new_label_[label] = of_one_row;
    } else if (merge && previous >= 0 && row_hash_[label] == row_hash_[previous] &&
               n_rows_with_[label] == n_rows_with_[previous]) {
      new_label_[label] = -3 - new_label_[previous];  // the number of `previous`, to be written once per row
      to.weights.back() += old_weights[label];
    } else {
      new_label_[label] = static_cast<std::int32_t>(to.weights.size());
      to.weights.push_back(old_weights[label]);
      node_count_.push_back(count_[label]);
      if constexpr (partly_known) {
        to.original.push_back(from == nullptr ? label : from->original[label]);
        const double mean = known_mean(label, n_, node_weight_);
        mean_.push_back(mean);
        weighted_mean_.push_back(old_weights[label] * mean);
        node_count_.back() += mean * unknown_weight_[label];
      }
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
  if constexpr (partly_known) renumber_unknown(from, rows, slots, to);
  for (const std::int32_t label : touched_) {
    n_rows_with_[label] = 0;
    count_[label] = 0;
    row_hash_[label] = 0;
  }
}

template <bool partly_known>
void LabelTarget<partly_known>::renumber_unknown(const LocalLabels* from, const std::uint32_t* rows,
                                                 const std::uint32_t* slots, LocalLabels& to) {
  to.unknown_offsets.resize(static_cast<std::size_t>(n_) + 1);
  to.unknown.clear();
  to.unknown_offsets[0] = 0;
  for (std::int64_t i = 0; i < n_; ++i) {
    const LabelSpan span = unknown_of(data_, from, rows, slots, i);
    for (const std::int32_t* label = span.begin; label != span.end; ++label) {
      if (new_label_[*label] >= 0) to.unknown.push_back(new_label_[*label]);
    }
    to.unknown_offsets[static_cast<std::size_t>(i) + 1] = static_cast<std::int64_t>(to.unknown.size());
  }
  for (const std::int32_t label : touched_) {
    n_unknown_[label] = 0;
    unknown_weight_[label] = 0;
  }
}

template <bool partly_known>
int LabelTarget<partly_known>::begin_node(const std::uint32_t* rows, std::uint32_t* slots, std::int64_t n,
                                          const double* weights, int level) {
  const LocalLabels* from = level < 0 ? nullptr : &levels_[static_cast<std::size_t>(level)];
  const bool keep = from == nullptr || 2 * n <= from->n_rows;
  n_ = n;
  m_ = weights;
  const bool merge = keep && !partly_known;  // labels that are known of the same rows are seldom
  count_labels(from, rows, slots, merge);
  if (merge) merge_equal_labels();
  if constexpr (partly_known) {
    node_weight_ = 0;
    for (std::int64_t i = 0; i < n; ++i) node_weight_ += m_[i];
    count_unknown(from, rows, slots);
    note_means(from);
  }
  LocalLabels& to = levels_[static_cast<std::size_t>(level + 1)];
  renumber(from, rows, slots, merge, to);
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
    if constexpr (partly_known) {
      for (std::int64_t p = to.unknown_offsets[static_cast<std::size_t>(i)];
           p < to.unknown_offsets[static_cast<std::size_t>(i) + 1]; ++p) {
        const double by_mean = weighted_mean_[static_cast<std::size_t>(to.unknown[p])];
        weight += by_mean * mean_[static_cast<std::size_t>(to.unknown[p])];
        product += by_mean * node_count_[static_cast<std::size_t>(to.unknown[p])];
      }
    }
    terms_[static_cast<std::size_t>(i)] = {m, m * m * weight, m * product + own};
    node_square_ += own;
    perfect_ += m * weight;
    node_weight_ += m;
  }
  pure_ = node_count_.size() == 1 && !any_own;
  if constexpr (partly_known) {
    pure_ = !any_own;
    for (const double weight : to.weights) pure_ = pure_ && weight == 0;
  }
  if (!keep) return level;
  for (std::int64_t i = 0; i < n; ++i) slots[i] = static_cast<std::uint32_t>(i);
  return level + 1;
}

template <bool partly_known>
void LabelTarget<partly_known>::clear() {
  u_.assign(node_->weights.size(), 0.0);
  square_ = product_ = weight_ = cross_ = 0;
}

template <bool partly_known>
void LabelTarget<partly_known>::set_missing(const std::vector<std::uint32_t>& rows) {
  clear();
  for (const std::uint32_t row : rows) add(row);
  v_.swap(u_);
  missing_square_ = square_;
  missing_product_ = product_;
  missing_weight_ = weight_;
}

template <bool partly_known>
template <bool any_missing>
void LabelTarget<partly_known>::scan_rows(const NodeEntries& entries, Cut& cut) {
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
template <bool partly_known>
void LabelTarget<partly_known>::scan_two_values(const NodeEntries& entries, Cut& cut) {
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

template <bool partly_known>
bool LabelTarget<partly_known>::scan(NodeEntries& entries, Cut& cut) {
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

template <bool partly_known>
void LabelTarget<partly_known>::category_sums(const KeyBuffer& keys, CategorySums& sums) {
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
      if constexpr (partly_known) {
        for (std::int64_t p = node_->unknown_offsets[row]; p < node_->unknown_offsets[row + 1]; ++p) {
          const std::int32_t label = node_->unknown[p];
          if (u_[label] == 0) touched_.push_back(label);
          u_[label] += m_[row] * mean_[label];
        }
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

template <bool partly_known>
void LabelTarget<partly_known>::write_leaf(const std::uint32_t* rows, std::int64_t n, const double* weights,
                                           double total, Tree& tree) {
  if (!partly_known && n == 1) {  // its labels, which are sorted
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
  if constexpr (partly_known) {
    n_ = n;
    m_ = weights;
    count_unknown(nullptr, rows, nullptr);
    return write_known_leaf(n, total, tree);
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

/// Means of the rows that are known, as counts of a leaf that weighs `total`; the labels are counted.
template <bool partly_known>
void LabelTarget<partly_known>::write_known_leaf(std::int64_t n, double total, Tree& tree) {
  all_have_.clear();
  some_have_.clear();
  for (const std::int32_t label : touched_) {
    const double mean = n_unknown_[label] == n ? inherited_[label] : known_mean(label, n, total);
    if (n_unknown_[label] > 0) count_[label] = mean * total;  // at least 0 and at most the total
    if (mean > 0 && count_[label] > 0) (mean == 1 ? all_have_ : some_have_).push_back(label);
  }
  std::sort(all_have_.begin(), all_have_.end());
  std::sort(some_have_.begin(), some_have_.end());
  tree.leaf_labels.insert(tree.leaf_labels.end(), all_have_.begin(), all_have_.end());
  tree.leaf_labels.insert(tree.leaf_labels.end(), some_have_.begin(), some_have_.end());
  for (const std::int32_t label : some_have_) tree.leaf_counts.push_back(count_[label]);
  tree.leaf_offsets.push_back(static_cast<std::int64_t>(tree.leaf_labels.size()));
  tree.leaf_partial.push_back(static_cast<std::int64_t>(tree.leaf_counts.size()));
  for (const std::int32_t label : touched_) {
    n_rows_with_[label] = n_unknown_[label] = 0;
    count_[label] = unknown_weight_[label] = 0;
  }
}

template class LabelTarget<false>;
template class LabelTarget<true>;

}  // namespace ramify

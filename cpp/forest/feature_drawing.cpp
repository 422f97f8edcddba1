#include "forest/feature_drawing.hpp"

#include <algorithm>

#include "base/bits.hpp"

namespace ramify {

namespace {

/// Ask for memory that will be read soon.
void prefetch(const void* memory) {
#ifdef __GNUC__
  __builtin_prefetch(memory);
#else
  (void)memory;
#endif
}

}  // namespace

FeatureDrawing::FeatureDrawing(const FeatureTable& table, std::int64_t max_features)
    : table_(table), max_features_(max_features), features_(static_cast<std::size_t>(table.n_features())) {
  if (table.row_entries() != nullptr) {
    n_entries_.assign(features_.size(), 0);
    first_entry_.assign(features_.size(), 0);
    touched_.assign(features_.size() + 1, 0);
  }
}

void FeatureDrawing::begin_tree() {
  for (std::size_t f = 0; f < features_.size(); ++f) features_[f] = static_cast<std::uint32_t>(f);
}

void FeatureDrawing::begin_node(const NodeSlice& node, std::int64_t n_constant) {
  node_ = node;
  repeated_ = false;
  n_constant_ = n_constant;
  next_ = n_constant;
  by_row_ = worth_by_row();
  if (!by_row_) return;
  next_ = 0;
  partings_.clear();
  candidates_ = table_.column_wise();
  if (table_.row_entries() != nullptr) list_entries();
  if (table_.row_bits() != nullptr) list_bits();
}

/// Is finding the features that are not constant less work than drawing columns until enough of them are not? The
/// smaller a node, the more columns must be drawn, so once this holds it holds for the whole subtree.
bool FeatureDrawing::worth_by_row() const {
  constexpr std::int64_t few_rows = 256;
  if (table_.row_entries() == nullptr && table_.row_bits() == nullptr) return false;
  if (4 * static_cast<std::int64_t>(table_.column_wise().size()) > table_.n_features()) return false;
  if (table_.row_bits() != nullptr && node_.n > few_rows) return false;
  return table_.row_entries() == nullptr || few_entries();
}

bool FeatureDrawing::few_entries() const {
  const RowEntries* entries = table_.row_entries();
  const std::int64_t n_column_wise = static_cast<std::int64_t>(table_.column_wise().size());
  const double n_open = static_cast<double>(table_.n_features() - n_constant_);
  const double per_column =
      static_cast<double>(entries->features.size()) / static_cast<double>(table_.n_features() - n_column_wise);
  constexpr double overhead = 60;  // of drawing a column, in entries
  const double enough = static_cast<double>(max_features_) * (per_column + overhead);
  std::int64_t n_entries = 0;
  for (std::int64_t i = 0; i < node_.n; ++i) {
    n_entries += entries->offsets[node_.rows[i] + 1] - entries->offsets[node_.rows[i]];
    // draws: max_features, or more where entries are fewer than features
    const auto n = static_cast<double>(n_entries);
    if (n > enough && n * n > enough * n_open) return false;
  }
  return true;
}

void FeatureDrawing::list_entries() {
  const RowEntries& entries = *table_.row_entries();
  for (std::size_t t = 0; t < n_touched_; ++t) n_entries_[touched_[t]] = 0;
  n_touched_ = 0;
  for (std::int64_t i = 0; i < node_.n; ++i) {
    for (std::int64_t e = entries.offsets[node_.rows[i]]; e < entries.offsets[node_.rows[i] + 1]; ++e) {
      const std::uint32_t feature = entries.features[static_cast<std::size_t>(e)];
      touched_[n_touched_] = feature;
      n_touched_ += n_entries_[feature]++ == 0;
    }
  }
  std::uint32_t total = 0;
  for (std::size_t t = 0; t < n_touched_; ++t) {
    const std::uint32_t feature = touched_[t];
    first_entry_[feature] = total;
    total += n_entries_[feature];
    n_entries_[feature] = 0;
  }
  entry_keys_.resize(total);
  for (std::int64_t i = 0; i < node_.n; ++i) {
    for (std::int64_t e = entries.offsets[node_.rows[i]]; e < entries.offsets[node_.rows[i] + 1]; ++e) {
      const std::uint32_t feature = entries.features[static_cast<std::size_t>(e)];
      const auto code = static_cast<std::uint32_t>(entries.codes[static_cast<std::size_t>(e)]);
      entry_keys_[first_entry_[feature] + n_entries_[feature]++] = NodeEntries::key_of(code, i);
    }
  }
  candidates_.insert(candidates_.end(), touched_.begin(), touched_.begin() + static_cast<std::ptrdiff_t>(n_touched_));
}

void FeatureDrawing::list_bits() {
  const RowBits& rows = *table_.row_bits();
  std::size_t n = candidates_.size();
  candidates_.resize(n + rows.features.size());
  for (std::int64_t word = 0; word < rows.n_words; ++word) {
    const std::uint64_t* const bits = rows.bits.data() + word;
    std::uint64_t some = 0, all = ~std::uint64_t(0);
    for (std::int64_t i = 0; i < node_.n; ++i) {
      some |= bits[node_.rows[i] * rows.n_words];
      all &= bits[node_.rows[i] * rows.n_words];
    }
    const std::uint32_t* const features = rows.features.data() + 64 * word;
    for (std::uint64_t differ = some & ~all; differ != 0; differ &= differ - 1)
      candidates_[n++] = features[lowest_bit(differ)];
  }
  candidates_.resize(n);
}

bool FeatureDrawing::draw(Random& random, NodeEntries& entries) {
  return by_row_ ? draw_by_row(random, entries) : draw_by_column(random, entries);
}

bool FeatureDrawing::draw_by_column(Random& random, NodeEntries& entries) {
  const std::int64_t n_features = table_.n_features();
  while (next_ < n_features) {
    const auto at = static_cast<std::size_t>(
        next_ + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n_features - next_))));
    std::swap(features_[static_cast<std::size_t>(next_)], features_[at]);
    feature_ = features_[static_cast<std::size_t>(next_)];
    if (table_.has_sparse()) prefetch_next(random);
    read(feature_, entries);
    ++next_;
    if (!entries.constant()) return true;
    std::swap(features_[static_cast<std::size_t>(next_ - 1)], features_[static_cast<std::size_t>(n_constant_)]);
    ++n_constant_;
  }
  return false;
}

std::int32_t FeatureDrawing::bit_of(std::int64_t feature) const {
  return table_.row_bits() == nullptr || !table_.by_row(feature)
             ? -1
             : table_.row_bits()->bit_of[static_cast<std::size_t>(feature)];
}

void FeatureDrawing::read(std::int64_t feature, NodeEntries& entries) const {
  if (!by_row_ || !table_.by_row(feature)) return gather(table_, feature, node_, entries);
  const std::int32_t bit = bit_of(feature);
  entries.keys.clear();
  entries.missing.clear();
  entries.by_code = false;
  bit < 0 ? read_entries(feature, entries) : read_bits(feature, bit, entries);
}

void FeatureDrawing::read_entries(std::int64_t feature, NodeEntries& entries) const {
  const ColumnHead& column = table_.head(feature);
  const auto first = entry_keys_.begin() + first_entry_[static_cast<std::size_t>(feature)];
  for (auto key = first; key != first + n_entries_[static_cast<std::size_t>(feature)]; ++key) {
    if (NodeEntries::code_of(*key) == column.n_codes) {
      entries.missing.push_back(NodeEntries::row_of(*key));
    } else {
      entries.keys.push_back(*key);
    }
  }
  entries.summarise(node_.n, column.default_code);
}

/// Only columns that are not constant in the node are read by their bits.
void FeatureDrawing::read_bits(std::int64_t feature, std::int32_t bit, NodeEntries& entries) const {
  const RowBits& rows = *table_.row_bits();
  const std::uint64_t* const words = rows.bits.data() + bit / 64;
  entries.default_code = table_.head(feature).default_code;
  entries.keys.resize(static_cast<std::size_t>(node_.n) + 1);
  std::uint64_t* const keys = entries.keys.begin();
  std::uint64_t key = NodeEntries::key_of(static_cast<std::uint32_t>(1 - entries.default_code), 0);
  std::size_t n_keys = 0;
  for (std::int64_t i = 0; i < node_.n; ++i, ++key) {
    keys[n_keys] = key;
    n_keys += (words[node_.rows[i] * rows.n_words] >> (bit % 64)) & 1;
  }
  entries.keys.resize(n_keys);
  entries.n_default = node_.n - static_cast<std::int64_t>(n_keys);
  entries.min_code = 0;
  entries.max_code = 1;
}

/// Sparse columns are short and lie anywhere: most of the time of reading one is waiting for it. Best splits take no
/// random numbers, so a copy of the generator knows what comes next; elsewhere this is only in vain.
void FeatureDrawing::prefetch_next(Random random) const {
  constexpr std::int64_t head_ahead = 6, entries_ahead = 3;
  const std::int64_t last = std::min(next_ + head_ahead, table_.n_features() - 1);
  for (std::int64_t draw = next_ + 1; draw <= last; ++draw) {
    const auto n_left = static_cast<std::uint64_t>(table_.n_features() - draw);
    const std::uint32_t feature = features_[static_cast<std::size_t>(draw) + random.below(n_left)];
    if (draw == next_ + entries_ahead) {
      const ColumnHead& column = table_.head(feature);
      prefetch(column.entry_rows);
      if (column.sparse && column.n_stored > 16) prefetch(column.entry_rows + 16);  // the next cache line
    }
    if (draw == next_ + head_ahead) prefetch(&table_.head(feature));
  }
}

bool FeatureDrawing::draw_by_row(Random& random, NodeEntries& entries) {
  const auto n_candidates = static_cast<std::int64_t>(candidates_.size());
  while (next_ < n_candidates) {
    const auto at = static_cast<std::size_t>(
        next_ + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n_candidates - next_))));
    std::swap(candidates_[static_cast<std::size_t>(next_)], candidates_[at]);
    feature_ = candidates_[static_cast<std::size_t>(next_)];
    ++next_;
    repeated_ = parts_as_before();
    if (repeated_) return true;
    read(feature_, entries);
    if (!entries.constant()) return true;
  }
  return false;
}

/// A few rows can be parted in few ways, and columns of two values part them again and again in the same.
bool FeatureDrawing::parts_as_before() {
  constexpr std::int64_t few_rows = 24;
  const std::int32_t bit = node_.n <= few_rows ? bit_of(feature_) : -1;
  if (bit < 0) return false;
  const RowBits& rows = *table_.row_bits();
  const std::uint64_t* const words = rows.bits.data() + bit / 64;
  std::uint32_t parting = 0;
  for (std::int64_t i = 0; i < node_.n; ++i) {
    parting |= static_cast<std::uint32_t>((words[node_.rows[i] * rows.n_words] >> (bit % 64)) & 1) << i;
  }
  if (parting & 1) parting = ~parting & ((std::uint32_t(1) << node_.n) - 1);  // either side may hold the first row
  if (std::find(partings_.begin(), partings_.end(), parting) != partings_.end()) return true;
  partings_.push_back(parting);
  return false;
}

}  // namespace ramify

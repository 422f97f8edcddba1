#include "ramify/feature_drawing.hpp"

namespace ramify {

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
  n_constant_ = n_constant;
  next_ = n_constant;
  by_row_ = worth_by_row();
  if (by_row_) list_by_row();
}

/// Is listing the rows' entries less work than drawing columns? The fewer entries a node has, the more columns must be
/// drawn until enough are not constant, so once this holds it holds for the whole subtree.
bool FeatureDrawing::worth_by_row() const {
  const RowEntries* entries = table_.row_entries();
  const std::int64_t n_column_wise = static_cast<std::int64_t>(table_.column_wise().size());
  if (entries == nullptr || 4 * n_column_wise > table_.n_features()) return false;
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

void FeatureDrawing::list_by_row() {
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
      entry_keys_[first_entry_[feature] + n_entries_[feature]++] =
          (static_cast<std::uint64_t>(code) << 32) | static_cast<std::uint64_t>(i);
    }
  }
  candidates_.assign(touched_.begin(), touched_.begin() + static_cast<std::ptrdiff_t>(n_touched_));
  candidates_.insert(candidates_.end(), table_.column_wise().begin(), table_.column_wise().end());
  next_ = 0;
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
    gather(table_, feature_, node_, entries);
    ++next_;
    if (!entries.constant()) return true;
    std::swap(features_[static_cast<std::size_t>(next_ - 1)], features_[static_cast<std::size_t>(n_constant_)]);
    ++n_constant_;
  }
  return false;
}

bool FeatureDrawing::draw_by_row(Random& random, NodeEntries& entries) {
  const auto n_candidates = static_cast<std::int64_t>(candidates_.size());
  while (next_ < n_candidates) {
    const auto at = static_cast<std::size_t>(
        next_ + static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(n_candidates - next_))));
    std::swap(candidates_[static_cast<std::size_t>(next_)], candidates_[at]);
    feature_ = candidates_[static_cast<std::size_t>(next_)];
    ++next_;
    const Column& column = table_.column(feature_);
    if (!table_.by_row(feature_)) {
      gather(table_, feature_, node_, entries);
    } else {
      entries.keys.clear();
      entries.missing.clear();
      const auto first = entry_keys_.begin() + first_entry_[static_cast<std::size_t>(feature_)];
      for (auto key = first; key != first + n_entries_[static_cast<std::size_t>(feature_)]; ++key) {
        if (NodeEntries::code_of(*key) == column.n_codes) {
          entries.missing.push_back(NodeEntries::row_of(*key));
        } else {
          entries.keys.push_back(*key);
        }
      }
      entries.summarise(node_.n, column.default_code);
    }
    if (!entries.constant()) return true;
  }
  return false;
}

}  // namespace ramify

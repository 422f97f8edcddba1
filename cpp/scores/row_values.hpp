/// The values of one row of a feature table, and the path that they take through a tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "features/feature_table.hpp"
#include "forest/forest.hpp"

namespace ramify {

/// The values of one row, each looked up once.
class RowValues {
 public:
  explicit RowValues(const FeatureTable& table)
      : table_(table), values_(static_cast<std::size_t>(table.n_features())), known_for_(values_.size(), 0) {}

  void begin(std::uint32_t row) {
    row_ = row;
    ++stamp_;
    const RowEntries* const entries = table_.row_entries();
    if (entries == nullptr) return;
    for (std::int64_t e = entries->offsets[row]; e < entries->offsets[row + 1]; ++e) {
      const auto at = static_cast<std::size_t>(e);
      const std::uint32_t feature = entries->features[at];
      values_[feature] = table_.column(feature).value_of(entries->codes[at]);
      known_for_[feature] = stamp_;
    }
  }

  double operator()(std::int32_t feature) {
    const auto f = static_cast<std::size_t>(feature);
    if (known_for_[f] != stamp_) {
      const Column& column = table_.column(feature);
      values_[f] = is_listed(feature) ? column.value_of(column.default_code) : column.value(row_);
      known_for_[f] = stamp_;
    }
    return values_[f];
  }

 private:
  /// Would `begin` have found the row's value if it were not the default? Columns kept as bits are not among the
  /// entries.
  bool is_listed(std::int32_t feature) const {
    const RowBits* const bits = table_.row_bits();
    return table_.by_row(feature) && (bits == nullptr || bits->bit_of[static_cast<std::size_t>(feature)] < 0);
  }

  const FeatureTable& table_;
  std::uint32_t row_ = 0;
  std::uint64_t stamp_ = 0;
  std::vector<double> values_;
  std::vector<std::uint64_t> known_for_;  ///< stamp of the row that the value is of
};

/// The nodes of a row's path, the leaf last.
inline void follow(const Tree& tree, RowValues& values, std::vector<std::int32_t>& path) {
  path.assign(1, 0);
  while (tree.feature[static_cast<std::size_t>(path.back())] >= 0)
    path.push_back(tree.next_by(path.back(), [&values](std::int32_t feature) { return values(feature); }));
}

/// The leaf that a row reaches when features for which `is_changed(feature)` holds have the value
/// `value_of(feature)` instead: the same up to the first of their tests on the path that comes out otherwise.
template <class IsChanged, class ValueOf>
std::int32_t leaf_with(const Tree& tree, RowValues& values, const std::vector<std::int32_t>& path, IsChanged is_changed,
                       ValueOf value_of) {
  const auto new_value = [&](std::int32_t feature) {
    return is_changed(feature) ? value_of(feature) : values(feature);
  };
  std::int32_t node = path.back();
  for (std::size_t step = 0; step + 1 < path.size(); ++step) {
    bool any_changed = false;
    tree.each_tested(path[step], [&](std::int32_t feature, double) { any_changed |= is_changed(feature); });
    if (!any_changed) continue;
    node = tree.next_by(path[step], new_value);
    if (node != path[step + 1]) break;
    node = path.back();
  }
  while (tree.feature[static_cast<std::size_t>(node)] >= 0) node = tree.next_by(node, new_value);
  return node;
}

}  // namespace ramify

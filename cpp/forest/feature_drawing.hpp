/// Random features for a node, without those that are constant in it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "features/feature_table.hpp"
#include "forest/node_entries.hpp"

namespace ramify {

/// Draws non-constant features of a node one by one, uniformly without replacement.
///
/// Features found constant are constant in the whole subtree: they move to the front of the list, and a node inherits
/// how many of them its parent knew. In small nodes, the columns that are not constant are found by what the rows hold
/// (RowEntries, RowBits) instead, so that a node never looks at columns that hold nothing for it.
class FeatureDrawing {
 public:
  FeatureDrawing(const FeatureTable& table, std::int64_t max_features);

  void begin_tree();
  void begin_node(const NodeSlice& node, std::int64_t n_constant);

  /// Fill `entries` with the next feature of the node; false when none is left. A feature that parts the rows as an
  /// earlier one did is drawn, too, but not filled in: `repeated` says so.
  bool draw(Random& random, NodeEntries& entries);
  bool repeated() const { return repeated_; }
  std::int64_t feature() const { return feature_; }

  /// Fill `entries` again with a feature that was drawn in this node.
  void read(std::int64_t feature, NodeEntries& entries) const;
  std::int64_t n_constant() const { return n_constant_; }

 private:
  bool worth_by_row() const;
  bool few_entries() const;
  void list_entries();
  void list_bits();
  bool draw_by_column(Random& random, NodeEntries& entries);
  void prefetch_next(Random random) const;
  bool draw_by_row(Random& random, NodeEntries& entries);
  bool parts_as_before();
  std::int32_t bit_of(std::int64_t feature) const;
  void read_entries(std::int64_t feature, NodeEntries& entries) const;
  void read_bits(std::int64_t feature, std::int32_t bit, NodeEntries& entries) const;

  const FeatureTable& table_;
  const std::int64_t max_features_;
  NodeSlice node_{};
  std::vector<std::uint32_t> features_;  ///< known constants, then drawn, then the rest
  std::int64_t n_constant_ = 0, next_ = 0, feature_ = -1;

  // small nodes
  bool by_row_ = false, repeated_ = false;
  std::vector<std::uint32_t> partings_;  ///< of the columns of two values drawn so far, a bit per row
  std::vector<std::uint32_t> candidates_;
  std::vector<std::uint32_t> n_entries_, first_entry_;  ///< by feature; n_entries_ is 0 outside a node
  std::vector<std::uint32_t> touched_;                  ///< the first n_touched_ are features with entries in the node
  std::size_t n_touched_ = 0;
  std::vector<std::uint64_t> entry_keys_;
};

}  // namespace ramify

/// Sums of several features of a node, as candidates for oblique splits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "features/feature_table.hpp"
#include "forest/feature_drawing.hpp"
#include "forest/forest.hpp"
#include "forest/node_entries.hpp"

namespace ramify {

/// Combines features that were drawn for a node. They are drawn in random order, so a combination is made of those that
/// follow each other in it, the first ones after the last: each feature is in as many combinations as there are
/// features in one, and is read from the table once more, not once for each.
class Combining {
 public:
  /// `size` features per combination; 0: none is ever made.
  Combining(const FeatureTable& table, std::int64_t size) : table_(table), size_(static_cast<std::size_t>(size)) {}

  /// A node of n rows, whose weights stay in place.
  void begin_node(std::int64_t n, const double* weights);

  /// Take a feature that was drawn and read, unless it cannot be standardised: it is nominal, has one value beside
  /// missing ones, or is too large to square.
  void take(std::int64_t feature, const NodeEntries& entries);
  std::size_t n_taken() const { return taken_.size(); }

  /// Make the next combination, with random weights, from the features that begin with the `first` one taken; calls
  /// follow each other from 0. False if all rows have the same value.
  bool combine(std::size_t first, const FeatureDrawing& drawing, Random& random, NodeEntries& entries);
  double least() const { return least_; }
  double most() const { return most_; }

  /// Write the combination at hand to `entries`: its ranks as codes, with the column that they are codes of, ...
  const Column& write_ranks(NodeEntries& entries);

  /// ... or 0 up to the threshold and 1 above.
  void write_sides(double threshold, NodeEntries& entries) const;

  /// Keep the combination at hand as the node's best, and its value in each row.
  void keep();
  const std::vector<double>& kept_values() const { return kept_values_; }

  /// Add the combination that was kept to a tree, as the test of a node.
  void write(std::size_t node, Tree& tree) const;

 private:
  static void begin_entries(std::int64_t n, std::int32_t max_code, NodeEntries& entries);
  void read_values(std::int64_t feature, const NodeEntries& entries, std::vector<double>& values) const;
  void read_standardised(std::size_t i, const FeatureDrawing& drawing, NodeEntries& entries);

  const FeatureTable& table_;
  const std::size_t size_;
  std::int64_t n_ = 0;
  const double* weights_ = nullptr;
  std::vector<CombinedFeature> taken_;             ///< without weights
  std::vector<double> values_, kept_values_;       ///< of a feature or combination, per local row
  std::vector<std::vector<double>> standardised_;  ///< the features at hand, the i-th in place i modulo their number
  std::vector<CombinedFeature> combination_, kept_;
  double least_ = 0, most_ = 0;
  Column ranks_;
  std::vector<std::pair<double, std::uint32_t>> order_;
};

}  // namespace ramify

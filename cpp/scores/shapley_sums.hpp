/// What both kinds of Shapley values fill: sums over trees for a few rows, and the entries of leaves that they explain.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "forest/forest.hpp"
#include "forest/predictor.hpp"
#include "scores/shapley_lanes.hpp"

namespace ramify {

/// Columns x used features x lanes, and the numbers of the used features.
struct ShapleySums {
  const std::vector<std::int32_t>& place_of_feature;  ///< -1 where no tree tests the feature
  std::int64_t n_places;
  std::vector<double> cells;

  double* at(std::int64_t column, std::int64_t place) {
    return cells.data() + (column * n_places + place) * shapley_lanes;
  }
};

/// What the leaves of one tree say about the columns, and which nodes lead to such a leaf.
struct LeafEntries {
  struct Entry {
    std::int32_t column;
    double value;
  };
  std::vector<std::int64_t> offsets;  ///< by node
  std::vector<Entry> entries;
  std::vector<std::uint8_t> leads;  ///< by node

  /// `columns_of(output, add)` calls `add(column, factor)` for every column that the output is part of.
  template <class ColumnsOf>
  void collect(const Forest& forest, const Tree& tree, ColumnsOf columns_of) {
    const std::size_t n_nodes = tree.feature.size();
    offsets.assign(n_nodes + 1, 0);
    leads.assign(n_nodes, 0);
    entries.clear();
    for (std::size_t i = 0; i < n_nodes; ++i) {
      if (tree.feature[i] < 0) {
        read_leaf(forest, tree, static_cast<std::int32_t>(i), [&](std::int32_t output, double value) {
          columns_of(output, [&](std::int32_t column, double factor) {
            if (value * factor != 0) entries.push_back({column, value * factor});
          });
        });
      }
      offsets[i + 1] = static_cast<std::int64_t>(entries.size());
      leads[i] = offsets[i + 1] > offsets[i];
    }
    for (std::size_t i = n_nodes; i-- > 0;) {
      if (tree.feature[i] < 0) continue;
      const auto left = static_cast<std::size_t>(tree.child[i]);
      leads[i] = leads[left] | leads[left + 1];
    }
  }
};

/// The weights of many leaves, scattered to the sums column by column: a column's sums stay in the nearest cache, and
/// the weights are read in the order in which they were written.
class LeafWeights {
 public:
  /// Room for the weights of a leaf: `features` x lanes.
  double* next_leaf(const std::vector<std::size_t>& features, ShapleySums& sums);

  /// The leaf says `value` about a column.
  void add(std::int32_t column, double value) { entries_.push_back({column, n_leaves() - 1, value}); }

  void scatter(ShapleySums& sums);

 private:
  struct Entry {
    std::int32_t column, leaf;
    double value;
  };
  std::int32_t n_leaves() const { return static_cast<std::int32_t>(offsets_.size()) - 1; }

  std::vector<std::size_t> offsets_{0};  ///< by leaf, into the places
  std::vector<std::int32_t> places_;     ///< of the features in the sums
  std::vector<double> weights_;          ///< places x lanes
  std::vector<Entry> entries_, sorted_;
  std::vector<std::size_t> starts_;  ///< by column
};

/// Points and weights of Gauss-Legendre quadrature on (0, 1), exact for polynomials of degree 2 n - 1.
struct Quadrature {
  std::vector<double> points, weights;
};
Quadrature gauss_legendre(std::int64_t n_points);

/// The largest number of different features on a path from the root to a leaf.
std::int64_t most_features_on_a_path(const Tree& tree, std::int64_t n_features);

/// Adds one tree's values by the training weights of the nodes, for `shapley_lanes` rows at a time.
class WeightedPaths {
 public:
  WeightedPaths(const Tree& tree, const Quadrature& quadrature, std::int64_t n_features);

  /// `lanes` holds the rows feature by feature: lanes[feature * shapley_lanes + r].
  void add(const double* lanes, const LeafEntries& leaves, LeafWeights& weights, ShapleySums& sums,
           const Control& control);

 private:
  void enter(std::int32_t node, const double* lanes);
  void leave(std::int32_t node);
  void add_leaf(std::int32_t node, const LeafEntries& leaves, LeafWeights& weights, ShapleySums& sums);

  const Tree& tree_;
  const Quadrature& quadrature_;
  std::size_t n_points_;
  std::vector<double> zero_answer_;           ///< per point: weight * (0 - z) / ((1 - t) z)
  std::vector<std::int32_t> parent_, depth_;  ///< by node
  std::vector<std::int32_t> slot_of_;         ///< by feature: its place among the path's features, or -1
  std::vector<std::int32_t> slots_;           ///< depth at which each feature of the path was tested last
  std::vector<std::size_t> slot_features_;    ///< and the features themselves
  // by depth on the path
  std::vector<std::int32_t> before_;      ///< depth of the feature's test before this one, or -1
  std::vector<std::uint8_t> goes_left_;   ///< bit r: row r goes left at the node of this depth
  std::vector<double> share_;             ///< z of the feature tested last
  std::vector<double> answer_;            ///< x lanes: o of the feature tested last
  std::vector<double> inverse_, effect_;  ///< x points: 1 / (t + (1 - t) z), and weight * (1 - z) of it
  std::vector<double> kept_, dropped_;    ///< per point: factors of the product at the node that is entered
  std::vector<double> product_;           ///< x points x lanes: the product over the path's features
};

/// Adds one tree's values of one row against one background row.
void add_against(const Tree& tree, const double* row, const double* other, double share, std::int64_t lane,
                 const LeafEntries& leaves, std::vector<std::int8_t>& side_of, ShapleySums& sums);

}  // namespace ramify

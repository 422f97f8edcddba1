/// Which rows a tree sees: regenerated from the tree's seed, never stored.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace ramify {

/// Which examples take part, their weights, and which of them belong together.
struct Examples {
  std::vector<std::uint32_t> rows;  ///< rows of the table with a positive weight, ascending
  std::vector<double> weights;      ///< by row of the table; empty = 1
  /// The same rows group by group, group g from group_offsets[g] to group_offsets[g + 1]; empty = each is its own
  /// group.
  std::vector<std::uint32_t> grouped_rows;
  std::vector<std::size_t> group_offsets;
};

// The random streams of one tree.
constexpr std::uint64_t bag_stream = 1, growth_stream = 2, permutation_stream = 3;

inline std::uint64_t tree_seed(std::uint64_t forest_seed, std::int64_t tree) {
  return Random(forest_seed, static_cast<std::uint64_t>(tree)).next();
}

/// How often each row is drawn into the bag: as many draws as there are rows, or groups of rows, to draw from.
///
/// A group enters as a whole, so that a row is out of bag only where its whole group is.
void draw_bag(std::uint64_t seed, const Examples& examples, std::vector<std::uint32_t>& draws_of_row);

/// The rows that take part: all, or those whose weight is positive.
///
/// `groups` holds a number per row, the same for rows that belong together; null: every row stands alone.
Examples select_examples(std::int64_t n_rows, const double* weights, const std::int64_t* groups);

}  // namespace ramify

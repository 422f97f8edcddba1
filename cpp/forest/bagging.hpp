/// Which rows a tree sees: regenerated from the tree's seed, never stored.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.hpp"

namespace ramify {

/// Which examples take part, and their weights.
struct Examples {
  std::vector<std::uint32_t> rows;  ///< rows of the table with a positive weight, ascending
  std::vector<double> weights;      ///< by row of the table; empty = 1
};

// The random streams of one tree.
constexpr std::uint64_t bag_stream = 1, growth_stream = 2, permutation_stream = 3;

inline std::uint64_t tree_seed(std::uint64_t forest_seed, std::int64_t tree) {
  return Random(forest_seed, static_cast<std::uint64_t>(tree)).next();
}

/// How often each row is drawn into the bag: as many draws as there are rows to draw from.
inline void draw_bag(std::uint64_t seed, const std::vector<std::uint32_t>& rows,
                     std::vector<std::uint32_t>& draws_of_row) {
  Random random(seed, bag_stream);
  for (std::size_t i = 0; i < rows.size(); ++i) ++draws_of_row[rows[random.below(rows.size())]];
}

/// The rows that take part: those listed (all when `listed` is null) whose weight is positive.
Examples select_examples(std::int64_t n_rows, const std::int64_t* listed, std::int64_t n_listed, const double* weights);

}  // namespace ramify

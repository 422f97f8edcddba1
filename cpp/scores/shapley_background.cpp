#include "scores/shapley_sums.hpp"

namespace ramify {

namespace {

/// (a - 1)! b! / (a + b)!: the weight of each of `a` features that a leaf needs, where it excludes `b` others.
double order_weight(std::int64_t a, std::int64_t b) {
  double weight = 1 / static_cast<double>(b + 1);
  for (std::int64_t i = 2; i <= a; ++i) weight *= static_cast<double>(i - 1) / static_cast<double>(b + i);
  return weight;
}

/// A node where the two rows part, with the feature's side that is being followed.
struct Parting {
  std::int32_t feature, other_child;
  bool with_row;
};

}  // namespace

void add_against(const Tree& tree, const double* row, const double* other, double share, std::int64_t lane,
                 const LeafEntries& leaves, std::vector<std::int8_t>& side_of, ShapleySums& sums) {
  std::vector<Parting> partings;
  std::int64_t n_row = 0, n_other = 0;
  const auto add_leaf = [&](std::int32_t node) {
    if (partings.empty()) return;
    const double needed = n_row > 0 ? share * order_weight(n_row, n_other) : 0;
    const double excluded = n_other > 0 ? share * order_weight(n_other, n_row) : 0;
    const auto at = static_cast<std::size_t>(node);
    for (auto p = leaves.offsets[at]; p < leaves.offsets[at + 1]; ++p) {
      const LeafEntries::Entry entry = leaves.entries[static_cast<std::size_t>(p)];
      for (const Parting& parting : partings) {
        const std::int32_t place = sums.place_of_feature[static_cast<std::size_t>(parting.feature)];
        sums.at(entry.column, place)[lane] += entry.value * (parting.with_row ? needed : -excluded);
      }
    }
  };
  std::int32_t node = 0;
  while (true) {
    while (tree.feature[static_cast<std::size_t>(node)] >= 0 && leaves.leads[static_cast<std::size_t>(node)] != 0) {
      const std::int32_t feature = tree.feature[static_cast<std::size_t>(node)];
      const std::int32_t by_row = tree.next(node, row[feature]), by_other = tree.next(node, other[feature]);
      std::int8_t& side = side_of[static_cast<std::size_t>(feature)];
      if (by_row != by_other && side == 0) {
        partings.push_back({feature, by_other, true});
        side = 1;
        ++n_row;
      }
      node = side < 0 ? by_other : by_row;
    }
    if (tree.feature[static_cast<std::size_t>(node)] < 0) add_leaf(node);
    while (!partings.empty() && !partings.back().with_row) {  // both sides are done
      side_of[static_cast<std::size_t>(partings.back().feature)] = 0;
      --n_other;
      partings.pop_back();
    }
    if (partings.empty()) return;
    Parting& parting = partings.back();
    parting.with_row = false;
    side_of[static_cast<std::size_t>(parting.feature)] = -1;
    --n_row;
    ++n_other;
    node = parting.other_child;
  }
}

}  // namespace ramify

#include "forest/forest.hpp"

#include <stdexcept>

namespace ramify {

namespace {

template <class T>
std::int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.capacity() * sizeof(T));
}

}  // namespace

std::int64_t Tree::n_bytes() const {
  return bytes_of(feature) + bytes_of(threshold) + bytes_of(child) + bytes_of(subset) + bytes_of(missing_left) +
         bytes_of(weight) + bytes_of(decrease) + bytes_of(subset_offsets) + bytes_of(subset_words) +
         bytes_of(combination_offsets) + bytes_of(combined) + bytes_of(leaf_offsets) + bytes_of(leaf_labels) +
         bytes_of(leaf_partial) + bytes_of(leaf_counts) + bytes_of(leaf_values);
}

bool Tree::category_goes_left(std::int32_t node, double value) const {
  const auto s = static_cast<std::size_t>(subset[static_cast<std::size_t>(node)]);
  const std::int64_t n_bits = 64 * (subset_offsets[s + 1] - subset_offsets[s]);
  if (!(value >= 0 && value < static_cast<double>(n_bits))) return missing_left[static_cast<std::size_t>(node)] != 0;
  const auto category = static_cast<std::int64_t>(value);
  return (subset_words[static_cast<std::size_t>(subset_offsets[s] + category / 64)] >> (category % 64)) & 1;
}

std::int64_t Tree::n_leaves(Outcome outcome, std::int64_t n_outputs) const {
  if (outcome != Outcome::numbers) return static_cast<std::int64_t>(leaf_offsets.size()) - 1;
  return n_outputs > 0 ? static_cast<std::int64_t>(leaf_values.size()) / n_outputs : 0;
}

std::int64_t Forest::n_bytes() const {
  std::int64_t total = 0;
  for (const auto& tree : trees) total += tree->n_bytes();
  return total;
}

Forest Forest::first(std::int64_t n) const {
  if (n < 0 || n > n_trees()) throw std::invalid_argument("The forest has fewer trees than asked for.");
  Forest part = *this;
  part.trees.resize(static_cast<std::size_t>(n));
  return part;
}

Forest concatenate(const std::vector<Forest>& forests) {
  if (forests.empty()) throw std::invalid_argument("At least one forest is needed.");
  Forest whole = forests[0];
  for (std::size_t i = 1; i < forests.size(); ++i) {
    const Forest& part = forests[i];
    if (part.outcome != whole.outcome || part.n_outputs != whole.n_outputs || part.n_categories != whole.n_categories) {
      throw std::invalid_argument("Forests to put together must have the same features and outputs.");
    }
    whole.trees.insert(whole.trees.end(), part.trees.begin(), part.trees.end());
  }
  return whole;
}

}  // namespace ramify

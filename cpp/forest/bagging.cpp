#include "forest/bagging.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ramify {

namespace {

/// Sort the rows that take part by their group, in a group by their position.
void group_rows(const std::int64_t* groups, Examples& examples) {
  examples.grouped_rows = examples.rows;
  std::stable_sort(examples.grouped_rows.begin(), examples.grouped_rows.end(),
                   [groups](std::uint32_t a, std::uint32_t b) { return groups[a] < groups[b]; });
  for (std::size_t i = 0; i < examples.grouped_rows.size(); ++i) {
    if (i == 0 || groups[examples.grouped_rows[i]] != groups[examples.grouped_rows[i - 1]])
      examples.group_offsets.push_back(i);
  }
  examples.group_offsets.push_back(examples.grouped_rows.size());
}

}  // namespace

void draw_bag(std::uint64_t seed, const Examples& examples, std::vector<std::uint32_t>& draws_of_row) {
  Random random(seed, bag_stream);
  const std::vector<std::uint32_t>& rows = examples.rows;
  if (examples.group_offsets.empty()) {
    for (std::size_t i = 0; i < rows.size(); ++i) ++draws_of_row[rows[random.below(rows.size())]];
    return;
  }
  const std::size_t n_groups = examples.group_offsets.size() - 1;
  for (std::size_t i = 0; i < n_groups; ++i) {
    const std::size_t group = random.below(n_groups);
    for (std::size_t j = examples.group_offsets[group]; j < examples.group_offsets[group + 1]; ++j)
      ++draws_of_row[examples.grouped_rows[j]];
  }
}

Examples select_examples(std::int64_t n_rows, const double* weights, const std::int64_t* groups) {
  Examples examples;
  if (weights != nullptr) {
    examples.weights.assign(weights, weights + n_rows);
    for (const double weight : examples.weights) {
      if (!(weight >= 0) || std::isinf(weight))
        throw std::invalid_argument("Sample weights must be finite and at least 0.");
    }
  }
  examples.rows.reserve(static_cast<std::size_t>(n_rows));
  for (std::int64_t row = 0; row < n_rows; ++row) {
    if (weights == nullptr || weights[row] > 0) examples.rows.push_back(static_cast<std::uint32_t>(row));
  }
  if (examples.rows.empty()) throw std::invalid_argument("No row has a positive weight.");
  if (groups != nullptr) group_rows(groups, examples);
  return examples;
}

}  // namespace ramify

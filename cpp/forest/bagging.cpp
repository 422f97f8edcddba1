#include "forest/bagging.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ramify {

Examples select_examples(std::int64_t n_rows, const std::int64_t* listed, std::int64_t n_listed,
                         const double* weights) {
  Examples examples;
  if (weights != nullptr) {
    examples.weights.assign(weights, weights + n_rows);
    for (const double weight : examples.weights) {
      if (!(weight >= 0) || std::isinf(weight))
        throw std::invalid_argument("Sample weights must be finite and at least 0.");
    }
  }
  const std::int64_t n_candidates = listed != nullptr ? n_listed : n_rows;
  examples.rows.reserve(static_cast<std::size_t>(n_candidates));
  for (std::int64_t i = 0; i < n_candidates; ++i) {
    const std::int64_t row = listed != nullptr ? listed[i] : i;
    if (row < 0 || row >= n_rows) throw std::invalid_argument("A row to learn from is not in the table.");
    if (weights == nullptr || weights[row] > 0) examples.rows.push_back(static_cast<std::uint32_t>(row));
  }
  std::sort(examples.rows.begin(), examples.rows.end());
  if (std::adjacent_find(examples.rows.begin(), examples.rows.end()) != examples.rows.end()) {
    throw std::invalid_argument("A row to learn from is listed twice; use sample weights instead.");
  }
  if (examples.rows.empty()) throw std::invalid_argument("No row has a positive weight.");
  return examples;
}

}  // namespace ramify

#include "relief/relief.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/bits.hpp"
#include "base/indexing.hpp"
#include "relief/binary_features.hpp"
#include "relief/row_differences.hpp"

namespace ramify {

namespace {

constexpr std::int64_t features_per_task = 16;
constexpr std::int64_t words_per_task = 8;

double one_missing(const FeatureScale& scale, double known) {
  if (scale.nominal) return 1 - 1 / scale.n_values;
  const double place = scale.range > 0 ? (known - scale.low) / scale.range : 0;
  return std::max(place, 1 - place);
}

/// Pairs by the rows that take part in them, so that a sparse feature costs by its non-zeros.
struct PairsOfRows {
  std::vector<std::int64_t> offsets, pairs;

  PairsOfRows(const std::int64_t* rows, std::int64_t n_pairs, std::int64_t n_rows)
      : offsets(at(n_rows + 1), 0), pairs(at(n_pairs)) {
    for (std::int64_t p = 0; p < n_pairs; ++p) ++offsets[at(rows[p] + 1)];
    for (std::int64_t row = 0; row < n_rows; ++row) offsets[at(row + 1)] += offsets[at(row)];
    std::vector<std::int64_t> next(offsets.begin(), offsets.end() - 1);
    for (std::int64_t p = 0; p < n_pairs; ++p) pairs[at(next[at(rows[p])]++)] = p;
  }
};

/// Pairs by their first and by their second rows.
struct PairsOfBoth {
  const PairsOfRows &first, &second;
};

/// The sums of the binary features of a few words, pair by pair.
void sum_binary(const BinaryFeatures& binary, std::int64_t first_word, const WeightedPairs& pairs,
                const Control& control, std::vector<double>& sums) {
  const std::int64_t last_word = std::min(binary.n_words(), first_word + words_per_task);
  std::vector<double> of_places(at((last_word - first_word) * 64 * pairs.n_columns), 0.0);
  for (std::int64_t p = 0; p < pairs.n_pairs; ++p) {
    if (p % 4096 == 0) control.check();
    const std::uint64_t *a = binary.row(pairs.first[p]), *b = binary.row(pairs.second[p]);
    for (std::int64_t word = first_word; word < last_word; ++word) {
      double* const of_word = of_places.data() + (word - first_word) * 64 * pairs.n_columns;
      for (std::uint64_t different = a[word] ^ b[word]; different != 0; different &= different - 1) {
        double* const sum = of_word + static_cast<std::int64_t>(lowest_bit(different)) * pairs.n_columns;
        for (std::int64_t e = pairs.offsets[p]; e < pairs.offsets[p + 1]; ++e)
          sum[pairs.columns[e]] += pairs.coefficients[e];
      }
    }
  }
  const std::int64_t last = std::min<std::int64_t>(static_cast<std::int64_t>(binary.features().size()), last_word * 64);
  for (std::int64_t place = first_word * 64; place < last; ++place) {
    const auto begin = of_places.begin() + (place - first_word * 64) * pairs.n_columns;
    std::copy(begin, begin + pairs.n_columns, sums.begin() + binary.features()[at(place)] * pairs.n_columns);
  }
}

/// The sums of the other features in [first, last), each by its non-zeros.
void sum_columns(const SparseMatrix& X, const Differences& differences, const BinaryFeatures& binary,
                 std::int64_t first, std::int64_t last, const PairsOfBoth& of_rows, const WeightedPairs& pairs,
                 const Control& control, std::vector<double>& sums) {
  std::vector<double> column(at(X.n_rows), 0.0);
  for (std::int64_t f = first; f < last; ++f) {
    if (binary.has(f)) continue;
    control.check();
    double* const own_sums = sums.data() + f * pairs.n_columns;
    const auto add = [&](std::int64_t p) {
      const double difference = differences.between(f, column[at(pairs.first[p])], column[at(pairs.second[p])]);
      for (std::int64_t e = pairs.offsets[p]; e < pairs.offsets[p + 1]; ++e)
        own_sums[pairs.columns[e]] += pairs.coefficients[e] * difference;
    };
    const std::int64_t begin = X.column_offsets[f], end = X.column_offsets[f + 1];
    for (std::int64_t e = begin; e < end; ++e) column[at(X.column_rows[e])] = X.column_values[e];
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int64_t row = X.column_rows[e];
      for (std::int64_t k = of_rows.first.offsets[at(row)]; k < of_rows.first.offsets[at(row + 1)]; ++k)
        add(of_rows.first.pairs[at(k)]);
      for (std::int64_t k = of_rows.second.offsets[at(row)]; k < of_rows.second.offsets[at(row + 1)]; ++k) {
        const std::int64_t p = of_rows.second.pairs[at(k)];
        if (column[at(pairs.first[p])] == 0) add(p);
      }
    }
    for (std::int64_t e = begin; e < end; ++e) column[at(X.column_rows[e])] = 0;
  }
}

/// The sums of `width` features per task; those of a feature are the same whatever the width.
template <int width>
std::vector<double> sums_of_dense(const DenseRows& X, const Differences& differences, const WeightedPairs& pairs,
                                  int n_threads, const Poll& poll) {
  const RowDifferences rows(differences, {X});
  std::vector<double> sums(at(X.n_features * pairs.n_columns), 0.0);
  const auto task = [&](std::int64_t block, int, const Control& control) {
    const std::int64_t first = block * width, last = std::min(X.n_features, first + width);
    std::vector<double> of_columns(at(pairs.n_columns * width), 0.0);
    double difference[width] = {};
    for (std::int64_t p = 0; p < pairs.n_pairs; ++p) {
      if (p % 4096 == 0) control.check();
      rows.between(X.values + pairs.first[p] * X.n_features, X.values + pairs.second[p] * X.n_features, first, last,
                   difference);
      for (std::int64_t e = pairs.offsets[p]; e < pairs.offsets[p + 1]; ++e) {
        const double coefficient = pairs.coefficients[e];
        double* const sum = of_columns.data() + pairs.columns[e] * width;
        for (std::int64_t k = 0; k < width; ++k) sum[k] += coefficient * difference[k];
      }
    }
    for (std::int64_t f = first; f < last; ++f) {
      for (std::int64_t c = 0; c < pairs.n_columns; ++c)
        sums[at(f * pairs.n_columns + c)] = of_columns[at(c * width + f - first)];
    }
  };
  run_tasks((X.n_features + width - 1) / width, n_threads, task, poll);
  return sums;
}

}  // namespace

double Differences::between_any(const FeatureScale& scale, double a, double b) const {
  const bool a_missing = a != a, b_missing = b != b;
  if (a_missing || b_missing)
    return a_missing && b_missing && !scale.nominal ? 1 : one_missing(scale, a_missing ? b : a);
  if (scale.table >= 0) {
    const Table& table = tables[at(scale.table)];
    return table.values[at(static_cast<std::int64_t>(a) * table.n + static_cast<std::int64_t>(b))];
  }
  if (scale.nominal) return a == b ? 0 : 1;
  if (!(scale.range > 0)) return 0;
  const double difference = std::fabs(a - b) / scale.range;
  if (different_above <= 0) return difference;
  return std::clamp((difference - equal_below) / (different_above - equal_below), 0.0, 1.0);
}

std::vector<double> difference_sums_dense(const DenseRows& X, const Differences& differences,
                                          const WeightedPairs& pairs, int n_threads, const Poll& poll) {
  const bool few = X.n_features < 2 * n_threads * features_per_task;
  return few && n_threads > 1 ? sums_of_dense<4>(X, differences, pairs, n_threads, poll)
                              : sums_of_dense<features_per_task>(X, differences, pairs, n_threads, poll);
}

std::vector<double> difference_sums_sparse(const SparseMatrix& X, const Differences& differences,
                                           const WeightedPairs& pairs, int n_threads, const Poll& poll) {
  const BinaryFeatures binary(X, differences);
  const PairsOfRows as_first(pairs.first, pairs.n_pairs, X.n_rows), as_second(pairs.second, pairs.n_pairs, X.n_rows);
  std::vector<double> sums(at(X.n_features * pairs.n_columns), 0.0);
  const std::int64_t n_word_tasks = (binary.n_words() + words_per_task - 1) / words_per_task;
  const std::int64_t n_column_tasks = (X.n_features + features_per_task - 1) / features_per_task;
  const auto task = [&](std::int64_t block, int, const Control& control) {
    if (block < n_word_tasks) {
      sum_binary(binary, block * words_per_task, pairs, control, sums);
    } else {
      const std::int64_t first = (block - n_word_tasks) * features_per_task;
      sum_columns(X, differences, binary, first, std::min(X.n_features, first + features_per_task),
                  {as_first, as_second}, pairs, control, sums);
    }
  };
  run_tasks(n_word_tasks + n_column_tasks, n_threads, task, poll);
  return sums;
}

}  // namespace ramify

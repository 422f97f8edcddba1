#include "relief/relief_neighbors.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "base/indexing.hpp"
#include "relief/approximate_distances.hpp"
#include "relief/binary_features.hpp"
#include "relief/neighbor_selection.hpp"
#include "relief/row_differences.hpp"

namespace ramify {

namespace {

constexpr std::int64_t queries_per_task = 16;
constexpr std::int64_t values_per_block =
    1 << 14;  // of tiles, so that a block stays near the processor for all queries of a task

std::int64_t own_position(const NeighborQuery& query, const GroupedRows& grouped, std::int64_t q) {
  return query.own_rows[q] < 0 ? -1 : grouped.position_of[at(query.own_rows[q])];
}

/// A poll that counts queries, from one that counts tasks.
Poll by_queries(const Poll& poll, std::int64_t n_queries) {
  if (!poll) return {};
  return [&poll, n_queries](std::int64_t n_tasks) { return poll(std::min(n_queries, n_tasks * queries_per_task)); };
}

double exact_distance(const Differences& differences, const SparseMatrix& A, std::int64_t a, const SparseMatrix& B,
                      std::int64_t b) {
  std::int64_t i = A.row_offsets[a], j = B.row_offsets[b];
  const std::int64_t i_end = A.row_offsets[a + 1], j_end = B.row_offsets[b + 1];
  double sum = 0;
  while (i < i_end || j < j_end) {
    const std::int32_t fi = i < i_end ? A.row_features[i] : std::numeric_limits<std::int32_t>::max();
    const std::int32_t fj = j < j_end ? B.row_features[j] : std::numeric_limits<std::int32_t>::max();
    const double x = fi <= fj ? A.row_values[i++] : 0;
    const double y = fj <= fi ? B.row_values[j++] : 0;
    sum += differences.term(std::min(fi, fj), x, y);
  }
  return sum;
}

/// Distances of queries to all rows of a sparse matrix, each within a tiny bound of the exact one: the distance to the
/// row of zeros, corrected for the features that both have; features of one value are compared as bits. Where all are
/// known categories the sums are whole numbers, so exact.
class SparseDistances {
 public:
  SparseDistances(const SparseMatrix& rows, const SparseMatrix& queries, const Differences& differences)
      : rows_(rows),
        differences_(differences),
        binary_(rows, differences),
        to_zero_(at(rows.n_rows), 0.0),
        has_missing_(at(rows.n_features), 0),
        column_to_zero_(at(rows.column_offsets[rows.n_features])),
        are_exact_(!differences.squared) {
    for (std::int64_t f = 0; f < rows.n_features; ++f) {
      size_ += differences.squared ? differences.weights[at(f)] : 1;
      for (std::int64_t k = rows.column_offsets[f]; k < rows.column_offsets[f + 1]; ++k) {
        column_to_zero_[at(k)] = differences.term(f, rows.column_values[k], 0);
        if (!binary_.has(f)) to_zero_[at(rows.column_rows[k])] += column_to_zero_[at(k)];
        if (rows.column_values[k] != rows.column_values[k]) has_missing_[at(f)] = 1;
      }
      are_exact_ = are_exact_ && differences.scales[at(f)].nominal && differences.scales[at(f)].table < 0 &&
                   !has_missing_[at(f)];
    }
    const std::int64_t n_query_values = queries.row_offsets[queries.n_rows];
    for (std::int64_t e = 0; e < n_query_values; ++e)
      are_exact_ = are_exact_ && queries.row_values[e] == queries.row_values[e];
  }

  bool are_exact() const { return are_exact_; }
  Tolerance tolerance() const { return are_exact_ ? Tolerance{0, 0} : Tolerance{size_ * 0x1.0p-45, 0x1.0p-40}; }

  /// Distances of queries [first, first + n) to all rows.
  void of_queries(const SparseMatrix& queries, std::int64_t first, int n, std::vector<double>* distances) const {
    std::vector<std::uint64_t> bits[queries_at_once];
    for (int q = 0; q < n; ++q) {
      bits[q].assign(at(binary_.n_words()), 0);
      binary_.set_bits(queries, first + q, bits[q].data());
      std::copy(to_zero_.begin(), to_zero_.end(), distances[q].begin());
      correct(queries, first + q, distances[q]);
    }
    binary_.add_differences(bits, n, distances);
  }

 private:
  void correct(const SparseMatrix& queries, std::int64_t query, std::vector<double>& distances) const {
    double own_to_zero = 0;
    for (std::int64_t e = queries.row_offsets[query]; e < queries.row_offsets[query + 1]; ++e) {
      const std::int32_t f = queries.row_features[e];
      const double value = queries.row_values[e];
      if (binary_.has(f) && binary_.is_the_value(f, value)) continue;
      const double from_zero = differences_.term(f, value, 0);
      own_to_zero += from_zero;
      const std::int64_t begin = rows_.column_offsets[f], end = rows_.column_offsets[f + 1];
      const FeatureScale& scale = differences_.scales[at(f)];
      if (scale.nominal && scale.table < 0 && !differences_.squared && !has_missing_[at(f)] && value == value &&
          value != 0) {
        for (std::int64_t k = begin; k < end; ++k)
          distances[at(rows_.column_rows[k])] -= rows_.column_values[k] == value ? 2 : 1;
        continue;
      }
      for (std::int64_t k = begin; k < end; ++k) {
        distances[at(rows_.column_rows[k])] +=
            differences_.term(f, value, rows_.column_values[k]) - column_to_zero_[at(k)] - from_zero;
      }
    }
    for (double& distance : distances) distance += own_to_zero;
  }

  const SparseMatrix& rows_;
  const Differences& differences_;
  BinaryFeatures binary_;
  std::vector<double> to_zero_;    ///< per row, over the features that are not binary
  std::vector<char> has_missing_;  ///< per feature
  std::vector<double> column_to_zero_;
  double size_ = 0;
  bool are_exact_;
};

}  // namespace

std::vector<std::int64_t> nearest_dense(const DenseRows& rows, const DenseRows& queries, const Differences& differences,
                                        const NeighborQuery& query, int n_threads, const Poll& poll) {
  const GroupedRows grouped(query, rows.n_rows);
  const ApproximateDistances approximate(rows, differences, grouped.row_at);
  const RowDifferences exact(differences, {rows, queries});
  const bool are_exact = approximate.are_exact() && !exact.any_missing();
  const Tolerance tolerance = are_exact ? Tolerance{0, 0} : approximate.tolerance();
  const std::int64_t width = query.n_groups * query.n_neighbors, n_features = rows.n_features;
  const std::int64_t tiles_per_block =
      std::max<std::int64_t>(8, values_per_block / rows_per_tile / std::max<std::int64_t>(1, n_features));
  std::vector<std::int64_t> nearest(at(queries.n_rows * width));
  const auto task = [&](std::int64_t block, int, const Control& control) {
    const std::int64_t begin = block * queries_per_task, n = std::min(queries.n_rows - begin, queries_per_task);
    std::vector<NearestRows<float>> lists(at(n), NearestRows<float>(grouped, query.n_neighbors, tolerance));
    std::vector<ApproximateDistances::Queries> ready(at((n + queries_at_once - 1) / queries_at_once));
    for (std::int64_t q = 0; q < n; q += queries_at_once) {
      const double* values[queries_at_once];
      const int n_ready = static_cast<int>(std::min<std::int64_t>(queries_at_once, n - q));
      for (int k = 0; k < n_ready; ++k) values[k] = queries.values + (begin + q + k) * n_features;
      approximate.prepare(values, n_ready, ready[at(q / queries_at_once)]);
    }
    for (std::int64_t q = 0; q < n; ++q) lists[at(q)].restart(own_position(query, grouped, begin + q));
    std::vector<float> distances(at(queries_at_once * tiles_per_block * rows_per_tile));
    for (std::int64_t first = 0; first < approximate.n_tiles(); first += tiles_per_block) {
      control.check();
      const std::int64_t last = std::min(approximate.n_tiles(), first + tiles_per_block);
      const std::int64_t first_row = first * rows_per_tile, last_row = std::min(rows.n_rows, last * rows_per_tile);
      for (std::int64_t q = 0; q < n; ++q) {
        if (q % queries_at_once == 0)
          approximate.to_tiles(ready[at(q / queries_at_once)], first, last, distances.data());
        lists[at(q)].look(distances.data() + q % queries_at_once * (last - first) * rows_per_tile, first_row, last_row);
      }
    }
    for (std::int64_t q = 0; q < n; ++q) {
      control.check();
      const double* const own = queries.values + (begin + q) * n_features;
      const auto compare = [&](const std::int64_t* ids, std::int64_t n_ids, double* out) {
        exact.distances(own, rows, ids, n_ids, out);
      };
      std::int64_t* const out = nearest.data() + (begin + q) * width;
      are_exact ? lists[at(q)].finish(out) : lists[at(q)].finish(compare, out);
    }
  };
  run_tasks((queries.n_rows + queries_per_task - 1) / queries_per_task, n_threads, task,
            by_queries(poll, queries.n_rows));
  return nearest;
}

std::vector<std::int64_t> nearest_sparse(const SparseMatrix& rows, const SparseMatrix& queries,
                                         const Differences& differences, const NeighborQuery& query, int n_threads,
                                         const Poll& poll) {
  const GroupedRows grouped(query, rows.n_rows);
  const SparseDistances approximate(rows, queries, differences);
  const std::int64_t width = query.n_groups * query.n_neighbors;
  std::vector<std::int64_t> nearest(at(queries.n_rows * width));
  const auto task = [&](std::int64_t block, int, const Control& control) {
    NearestRows<double> list(grouped, query.n_neighbors, approximate.tolerance());
    std::vector<double> distances[queries_at_once], in_groups(at(rows.n_rows));
    for (auto& own : distances) own.resize(at(rows.n_rows));
    const std::int64_t end = std::min(queries.n_rows, (block + 1) * queries_per_task);
    for (std::int64_t first = block * queries_per_task; first < end; first += queries_at_once) {
      control.check();
      const int n = static_cast<int>(std::min<std::int64_t>(queries_at_once, end - first));
      approximate.of_queries(queries, first, n, distances);
      for (int k = 0; k < n; ++k) {
        control.check();
        const std::int64_t q = first + k;
        for (std::int64_t position = 0; position < rows.n_rows; ++position)
          in_groups[at(position)] = distances[k][at(grouped.row_at[at(position)])];
        list.restart(own_position(query, grouped, q));
        list.look(in_groups.data(), 0, rows.n_rows);
        const auto compare = [&](const std::int64_t* ids, std::int64_t n_ids, double* out) {
          for (std::int64_t i = 0; i < n_ids; ++i) out[i] = exact_distance(differences, queries, q, rows, ids[i]);
        };
        std::int64_t* const out = nearest.data() + q * width;
        approximate.are_exact() ? list.finish(out) : list.finish(compare, out);
      }
    }
  };
  run_tasks((queries.n_rows + queries_per_task - 1) / queries_per_task, n_threads, task,
            by_queries(poll, queries.n_rows));
  return nearest;
}

}  // namespace ramify

/// Nearest neighbours by the distance of features: for Relief, and for predicting by weighted neighbours.
#pragma once

#include <cstdint>
#include <vector>

#include "base/parallel.hpp"
#include "relief/relief.hpp"

namespace ramify {

/// Which rows may be neighbours of which query.
struct NeighborQuery {
  const std::int64_t* own_rows;  ///< per query the row that it is itself, which is no neighbour of it, or -1
  const std::int32_t* groups;    ///< group of each row: neighbours are found per group
  std::int32_t n_groups;
  std::int64_t n_neighbors;
};

/// The nearest rows of each query and group, nearest first: n_queries x n_groups x n_neighbors, -1 where a group has
/// too few rows.
///
/// Distances are sums in double in the order of the features, ties go to the lower row. Candidates are found by faster
/// arithmetic whose error is bounded, then compared exactly, so the result does not depend on how they were found, and
/// is the same for dense and sparse storage and every `n_threads`. `poll` is told how many queries are done.
std::vector<std::int64_t> nearest_dense(const DenseRows& rows, const DenseRows& queries, const Differences& differences,
                                        const NeighborQuery& query, int n_threads, const Poll& poll);
std::vector<std::int64_t> nearest_sparse(const SparseMatrix& rows, const SparseMatrix& queries,
                                         const Differences& differences, const NeighborQuery& query, int n_threads,
                                         const Poll& poll);

}  // namespace ramify

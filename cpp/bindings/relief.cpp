#include "relief/relief.hpp"

#include <nanobind/stl/pair.h>

#include <cmath>

#include "arrays.hpp"
#include "checks.hpp"
#include "relief/furthest_sets.hpp"
#include "relief/relief_neighbors.hpp"

namespace {

using RowMajor = nb::ndarray<nb::numpy, const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require_feature(const ramify::Differences& differences, std::int64_t feature) {
  require(feature >= 0 && feature < static_cast<std::int64_t>(differences.scales.size()), "There is no such feature.");
}

/// A value of a feature with a table of differences is one of its rows, or missing.
void require_value(const ramify::Differences& differences, std::int64_t feature, double value) {
  const std::int32_t table = differences.scales[static_cast<std::size_t>(feature)].table;
  if (table < 0 || std::isnan(value)) return;
  const auto n = static_cast<double>(differences.tables[static_cast<std::size_t>(table)].n);
  require(value >= 0 && value < n, "A value is not in its table of differences.");
}

void require_scales(const ramify::Differences& differences, std::int64_t n_features) {
  require(n_features == static_cast<std::int64_t>(differences.scales.size()), "There must be one scale per feature.");
}

void require_rows(const ramify::Differences& differences, const ramify::DenseRows& rows) {
  require_scales(differences, rows.n_features);
  for (std::int64_t f = 0; f < rows.n_features; ++f) {
    if (differences.scales[static_cast<std::size_t>(f)].table < 0) continue;
    for (std::int64_t i = 0; i < rows.n_rows; ++i) require_value(differences, f, rows.values[i * rows.n_features + f]);
  }
}

void require_rows(const ramify::Differences& differences, const ramify::SparseMatrix& rows) {
  require_scales(differences, rows.n_features);
  if (differences.tables.empty()) return;
  for (std::int64_t e = 0; e < rows.row_offsets[rows.n_rows]; ++e)
    require_value(differences, rows.row_features[e], rows.row_values[e]);
}

void require_query(const InArray<std::int64_t>& own_rows, const InArray<std::int32_t>& groups, std::int32_t n_groups,
                   std::int64_t n_neighbors, std::int64_t n_rows, std::int64_t n_queries) {
  require(static_cast<std::int64_t>(own_rows.shape(0)) == n_queries, "There must be one own row per query.");
  require_within(own_rows, -1, n_rows, "own_rows");
  require(static_cast<std::int64_t>(groups.shape(0)) == n_rows, "There must be one group per row.");
  require_within(groups, 0, n_groups, "groups");
  require(n_groups >= 1 && n_neighbors >= 1, "There must be a group and a neighbour to look for.");
  require_memory(n_queries, n_groups, n_neighbors);
}

void require_pairs(const InArray<std::int64_t>& first, const InArray<std::int64_t>& second,
                   const InArray<std::int64_t>& offsets, const InArray<std::int32_t>& columns,
                   const InArray<double>& coefficients, std::int64_t n_columns, std::int64_t n_rows,
                   std::int64_t n_features) {
  require(first.shape(0) == second.shape(0) && offsets.shape(0) == first.shape(0) + 1,
          "There must be two rows and a piece of the coefficients per pair.");
  require(columns.shape(0) == coefficients.shape(0), "There must be one column per coefficient.");
  require_within(first, 0, n_rows, "first");
  require_within(second, 0, n_rows, "second");
  require_offsets(offsets, columns.shape(0), "offsets");
  require_within(columns, 0, n_columns, "columns");
  require_memory(n_features, n_columns, 64);
}

void bind_differences(nb::module_& m) {
  nb::class_<ramify::Differences>(m, "Differences", "How feature values differ, and how differences sum to a distance.")
      .def(
          "__init__",
          [](ramify::Differences* self, InArray<bool> nominal, InArray<double> low, InArray<double> range,
             InArray<double> n_values, double equal_below, double different_above, bool squared,
             InArray<double> weights) {
            const std::size_t n = nominal.shape(0);
            require(low.shape(0) == n && range.shape(0) == n && n_values.shape(0) == n,
                    "There must be one scale per feature.");
            require(weights.shape(0) == n || (!squared && weights.shape(0) == 0),
                    "There must be one weight per feature.");
            new (self) ramify::Differences();
            for (std::size_t f = 0; f < nominal.shape(0); ++f)
              self->scales.push_back({nominal(f), low(f), range(f), n_values(f), -1});
            self->equal_below = equal_below;
            self->different_above = different_above;
            self->squared = squared;
            self->weights.assign(weights.data(), weights.data() + weights.shape(0));
          },
          nb::kw_only(), "nominal"_a.noconvert(), "low"_a.noconvert(), "range"_a.noconvert(), "n_values"_a.noconvert(),
          "equal_below"_a, "different_above"_a, "squared"_a, "weights"_a.noconvert())
      .def(
          "set_table",
          [](ramify::Differences& self, std::int64_t feature, RowMajor table) {
            require_feature(self, feature);
            require(table.shape(0) == table.shape(1) && table.shape(0) > 0, "A table of differences is square.");
            self.scales[static_cast<std::size_t>(feature)].table = static_cast<std::int32_t>(self.tables.size());
            self.tables.push_back(
                {static_cast<std::int64_t>(table.shape(0)), {table.data(), table.data() + table.size()}});
          },
          "feature"_a, "table"_a.noconvert(), "Differences of the values 0 .. n - 1 of a nominal feature.")
      .def(
          "between",
          [](const ramify::Differences& self, std::int64_t feature, double a, double b) {
            require_feature(self, feature);
            require_value(self, feature, a);
            require_value(self, feature, b);
            return self.between(feature, a, b);
          },
          "feature"_a, "a"_a, "b"_a, "Difference of two values of a feature.");
}

struct SparseArrays {
  ramify::SparseMatrix matrix;
  InArray<double> row_values, column_values;
  InArray<std::int32_t> row_features, column_rows;
  InArray<std::int64_t> row_offsets, column_offsets;
};

void bind_sparse_matrix(nb::module_& m) {
  nb::class_<SparseArrays>(m, "SparseMatrix", "The CSR and CSC arrays of one matrix.")
      .def(
          "__init__",
          [](SparseArrays* self, InArray<double> row_values, InArray<std::int32_t> row_features,
             InArray<std::int64_t> row_offsets, InArray<double> column_values, InArray<std::int32_t> column_rows,
             InArray<std::int64_t> column_offsets) {
            const auto n_rows = static_cast<std::int64_t>(row_offsets.shape(0)) - 1;
            const auto n_features = static_cast<std::int64_t>(column_offsets.shape(0)) - 1;
            require(row_values.shape(0) == row_features.shape(0) && column_values.shape(0) == column_rows.shape(0),
                    "There must be one position per value.");
            require_compressed(row_offsets, row_features, n_features, "the rows");
            require_compressed(column_offsets, column_rows, n_rows, "the columns");
            new (self) SparseArrays{{n_rows, n_features, row_values.data(), row_features.data(), row_offsets.data(),
                                     column_values.data(), column_rows.data(), column_offsets.data()},
                                    row_values,
                                    column_values,
                                    row_features,
                                    column_rows,
                                    row_offsets,
                                    column_offsets};
          },
          nb::kw_only(), "row_values"_a.noconvert(), "row_features"_a.noconvert(), "row_offsets"_a.noconvert(),
          "column_values"_a.noconvert(), "column_rows"_a.noconvert(), "column_offsets"_a.noconvert());
}

}  // namespace

void bind_relief(nb::module_& m) {
  bind_differences(m);
  bind_sparse_matrix(m);
  m.def(
      "nearest",
      [](RowMajor rows, RowMajor queries, const ramify::Differences& differences, InArray<std::int64_t> own_rows,
         InArray<std::int32_t> groups, std::int32_t n_groups, std::int64_t n_neighbors, int n_threads,
         std::optional<nb::callable> progress) {
        const auto n_features = static_cast<std::int64_t>(rows.shape(1));
        const ramify::DenseRows all{rows.data(), static_cast<std::int64_t>(rows.shape(0)), n_features};
        const ramify::DenseRows asked{queries.data(), static_cast<std::int64_t>(queries.shape(0)), n_features};
        require(queries.shape(1) == rows.shape(1), "Rows and queries must have the same features.");
        require_rows(differences, all);
        require_rows(differences, asked);
        require_query(own_rows, groups, n_groups, n_neighbors, all.n_rows, asked.n_rows);
        const ramify::NeighborQuery query{own_rows.data(), groups.data(), n_groups, n_neighbors};
        auto found = Patience(std::move(progress)).run([&](const ramify::Poll& poll) {
          return ramify::nearest_dense(all, asked, differences, query, threads(n_threads), poll);
        });
        return to_numpy(std::move(found), queries.shape(0), n_groups, n_neighbors);
      },
      "rows"_a.noconvert(), "queries"_a.noconvert(), nb::kw_only(), "differences"_a, "own_rows"_a.noconvert(),
      "groups"_a.noconvert(), "n_groups"_a, "n_neighbors"_a, "n_threads"_a, "progress"_a.none(),
      R"(Nearest rows of each query and group, nearest first, ties by row: (queries, groups, neighbours), -1 = none.

``own_rows`` is a query's own row, or -1; ``groups`` the group of each row.)");
  m.def(
      "nearest",
      [](const SparseArrays& rows, const SparseArrays& queries, const ramify::Differences& differences,
         InArray<std::int64_t> own_rows, InArray<std::int32_t> groups, std::int32_t n_groups, std::int64_t n_neighbors,
         int n_threads, std::optional<nb::callable> progress) {
        require_rows(differences, rows.matrix);
        require_rows(differences, queries.matrix);
        require_query(own_rows, groups, n_groups, n_neighbors, rows.matrix.n_rows, queries.matrix.n_rows);
        const ramify::NeighborQuery query{own_rows.data(), groups.data(), n_groups, n_neighbors};
        auto found = Patience(std::move(progress)).run([&](const ramify::Poll& poll) {
          return ramify::nearest_sparse(rows.matrix, queries.matrix, differences, query, threads(n_threads), poll);
        });
        return to_numpy(std::move(found), static_cast<std::size_t>(queries.matrix.n_rows), n_groups, n_neighbors);
      },
      "rows"_a, "queries"_a, nb::kw_only(), "differences"_a, "own_rows"_a.noconvert(), "groups"_a.noconvert(),
      "n_groups"_a, "n_neighbors"_a, "n_threads"_a, "progress"_a.none(), "For sparse rows.");
  m.def(
      "difference_sums",
      [](RowMajor X, const ramify::Differences& differences, InArray<std::int64_t> first, InArray<std::int64_t> second,
         InArray<std::int64_t> offsets, InArray<std::int32_t> columns, InArray<double> coefficients,
         std::int64_t n_columns, int n_threads) {
        const ramify::WeightedPairs pairs{first.data(),   second.data(),  static_cast<std::int64_t>(first.shape(0)),
                                          offsets.data(), columns.data(), coefficients.data(),
                                          n_columns};
        const ramify::DenseRows rows{X.data(), static_cast<std::int64_t>(X.shape(0)),
                                     static_cast<std::int64_t>(X.shape(1))};
        require_rows(differences, rows);
        require_pairs(first, second, offsets, columns, coefficients, n_columns, rows.n_rows, rows.n_features);
        auto sums = Patience().run([&](const ramify::Poll& poll) {
          return ramify::difference_sums_dense(rows, differences, pairs, threads(n_threads), poll);
        });
        return to_numpy(std::move(sums), X.shape(1), static_cast<std::size_t>(n_columns));
      },
      "X"_a.noconvert(), nb::kw_only(), "differences"_a, "first"_a.noconvert(), "second"_a.noconvert(),
      "offsets"_a.noconvert(), "columns"_a.noconvert(), "coefficients"_a.noconvert(), "n_columns"_a, "n_threads"_a,
      "Sum over pairs of rows of coefficient * difference: (n_features, n_columns).");
  m.def(
      "difference_sums",
      [](const SparseArrays& X, const ramify::Differences& differences, InArray<std::int64_t> first,
         InArray<std::int64_t> second, InArray<std::int64_t> offsets, InArray<std::int32_t> columns,
         InArray<double> coefficients, std::int64_t n_columns, int n_threads) {
        const ramify::WeightedPairs pairs{first.data(),   second.data(),  static_cast<std::int64_t>(first.shape(0)),
                                          offsets.data(), columns.data(), coefficients.data(),
                                          n_columns};
        require_rows(differences, X.matrix);
        require_pairs(first, second, offsets, columns, coefficients, n_columns, X.matrix.n_rows, X.matrix.n_features);
        auto sums = Patience().run([&](const ramify::Poll& poll) {
          return ramify::difference_sums_sparse(X.matrix, differences, pairs, threads(n_threads), poll);
        });
        return to_numpy(std::move(sums), static_cast<std::size_t>(X.matrix.n_features),
                        static_cast<std::size_t>(n_columns));
      },
      "X"_a, nb::kw_only(), "differences"_a, "first"_a.noconvert(), "second"_a.noconvert(), "offsets"_a.noconvert(),
      "columns"_a.noconvert(), "coefficients"_a.noconvert(), "n_columns"_a, "n_threads"_a, "For sparse rows.");
  m.def(
      "furthest_sets",
      [](InArray<std::int64_t> indptr, InArray<std::int32_t> indices, InArray<double> weights, int n_threads) {
        const auto n_labels = static_cast<std::int64_t>(weights.shape(0));
        require_compressed(indptr, indices, n_labels, "the label sets");
        for (std::size_t label = 0; label < weights.shape(0); ++label)
          require(weights(label) >= 0, "Weights of labels must not be negative.");
        const ramify::LabelSets sets{indptr.data(), indices.data(), static_cast<std::int64_t>(indptr.shape(0)) - 1,
                                     n_labels};
        return Patience().run([&](const ramify::Poll& poll) {
          return ramify::furthest_sets(sets, weights.data(), threads(n_threads), poll);
        });
      },
      "indptr"_a.noconvert(), "indices"_a.noconvert(), "weights"_a.noconvert(), nb::kw_only(), "n_threads"_a,
      "The two rows whose labels that only one of the two has weigh most; of several pairs the first.");
}

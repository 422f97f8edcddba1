#include "ramify/relief.hpp"

#include "arrays.hpp"

namespace {

using RowMajor = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_differences(nb::module_& m) {
  nb::class_<ramify::Differences>(m, "Differences", "How feature values differ, and how differences sum to a distance.")
      .def(
          "__init__",
          [](ramify::Differences* self, InArray<bool> nominal, InArray<double> low, InArray<double> range, InArray<double> n_values,
             double equal_below, double different_above, bool squared, InArray<double> weights) {
            new (self) ramify::Differences();
            for (std::size_t f = 0; f < nominal.shape(0); ++f) self->scales.push_back({nominal(f), low(f), range(f), n_values(f), -1});
            self->equal_below = equal_below;
            self->different_above = different_above;
            self->squared = squared;
            self->weights.assign(weights.data(), weights.data() + weights.shape(0));
          },
          nb::kw_only(), "nominal"_a.noconvert(), "low"_a.noconvert(), "range"_a.noconvert(), "n_values"_a.noconvert(), "equal_below"_a,
          "different_above"_a, "squared"_a, "weights"_a.noconvert())
      .def(
          "set_table",
          [](ramify::Differences& self, std::int64_t feature, RowMajor table) {
            if (feature < 0 || feature >= static_cast<std::int64_t>(self.scales.size())) throw nb::index_error("There is no such feature.");
            if (table.shape(0) != table.shape(1) || table.shape(0) == 0) throw nb::value_error("A table of differences is square.");
            self.scales[static_cast<std::size_t>(feature)].table = static_cast<std::int32_t>(self.tables.size());
            self.tables.push_back({static_cast<std::int64_t>(table.shape(0)), {table.data(), table.data() + table.size()}});
          },
          "feature"_a, "table"_a.noconvert(), "Differences of the values 0 .. n - 1 of a nominal feature.")
      .def("between", &ramify::Differences::between, "feature"_a, "a"_a, "b"_a, "Difference of two values of a feature.");
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
          [](SparseArrays* self, InArray<double> row_values, InArray<std::int32_t> row_features, InArray<std::int64_t> row_offsets,
             InArray<double> column_values, InArray<std::int32_t> column_rows, InArray<std::int64_t> column_offsets) {
            const auto n_rows = static_cast<std::int64_t>(row_offsets.shape(0)) - 1;
            const auto n_features = static_cast<std::int64_t>(column_offsets.shape(0)) - 1;
            new (self) SparseArrays{{n_rows, n_features, row_values.data(), row_features.data(), row_offsets.data(),
                                     column_values.data(), column_rows.data(), column_offsets.data()},
                                    row_values, column_values, row_features, column_rows, row_offsets, column_offsets};
          },
          nb::kw_only(), "row_values"_a.noconvert(), "row_features"_a.noconvert(), "row_offsets"_a.noconvert(),
          "column_values"_a.noconvert(), "column_rows"_a.noconvert(), "column_offsets"_a.noconvert());
}

OutArray<std::int64_t> neighbours(std::vector<std::int64_t>&& found, std::size_t n_queries, std::int32_t n_groups, std::int64_t n_neighbours) {
  auto* owned = new std::vector<std::int64_t>(std::move(found));
  nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
  return OutArray<std::int64_t>(owned->data(), {n_queries, static_cast<std::size_t>(n_groups), static_cast<std::size_t>(n_neighbours)}, owner);
}

}  // namespace

void bind_relief(nb::module_& m) {
  bind_differences(m);
  bind_sparse_matrix(m);
  m.def(
      "nearest_dense",
      [](RowMajor rows, RowMajor queries, const ramify::Differences& differences, InArray<std::int64_t> own_rows,
         InArray<std::int32_t> groups, std::int32_t n_groups, std::int64_t n_neighbours, int n_threads,
         std::optional<nb::callable> progress) {
        const auto n_features = static_cast<std::int64_t>(rows.shape(1));
        const ramify::DenseRows all{rows.data(), static_cast<std::int64_t>(rows.shape(0)), n_features};
        const ramify::DenseRows asked{queries.data(), static_cast<std::int64_t>(queries.shape(0)), n_features};
        const ramify::NeighbourQuery query{own_rows.data(), groups.data(), n_groups, n_neighbours};
        auto found = Patience(std::move(progress)).run([&](const ramify::Poll& poll) { return ramify::nearest_dense(all, asked, differences, query, threads(n_threads), poll); });
        return neighbours(std::move(found), queries.shape(0), n_groups, n_neighbours);
      },
      "rows"_a.noconvert(), "queries"_a.noconvert(), nb::kw_only(), "differences"_a, "own_rows"_a.noconvert(), "groups"_a.noconvert(),
      "n_groups"_a, "n_neighbours"_a, "n_threads"_a, "progress"_a.none(), "Nearest rows of each query and group, nearest first, -1 where there are too few.");
  m.def(
      "nearest_sparse",
      [](const SparseArrays& rows, const SparseArrays& queries, const ramify::Differences& differences, InArray<std::int64_t> own_rows,
         InArray<std::int32_t> groups, std::int32_t n_groups, std::int64_t n_neighbours, int n_threads,
         std::optional<nb::callable> progress) {
        const ramify::NeighbourQuery query{own_rows.data(), groups.data(), n_groups, n_neighbours};
        auto found = Patience(std::move(progress)).run([&](const ramify::Poll& poll) { return ramify::nearest_sparse(rows.matrix, queries.matrix, differences, query, threads(n_threads), poll); });
        return neighbours(std::move(found), static_cast<std::size_t>(queries.matrix.n_rows), n_groups, n_neighbours);
      },
      "rows"_a, "queries"_a, nb::kw_only(), "differences"_a, "own_rows"_a.noconvert(), "groups"_a.noconvert(), "n_groups"_a,
      "n_neighbours"_a, "n_threads"_a, "progress"_a.none(), "As nearest_dense, for sparse rows.");
  m.def(
      "difference_sums_dense",
      [](RowMajor X, const ramify::Differences& differences, InArray<std::int64_t> first, InArray<std::int64_t> second,
         InArray<std::int64_t> offsets, InArray<std::int32_t> columns, InArray<double> coefficients, std::int64_t n_columns, int n_threads) {
        const ramify::WeightedPairs pairs{first.data(),   second.data(),       static_cast<std::int64_t>(first.shape(0)), offsets.data(),
                                          columns.data(), coefficients.data(), n_columns};
        const ramify::DenseRows rows{X.data(), static_cast<std::int64_t>(X.shape(0)), static_cast<std::int64_t>(X.shape(1))};
        auto sums = Patience().run([&](const ramify::Poll& poll) { return ramify::difference_sums_dense(rows, differences, pairs, threads(n_threads), poll); });
        return to_numpy(std::move(sums), X.shape(1), static_cast<std::size_t>(n_columns));
      },
      "X"_a.noconvert(), nb::kw_only(), "differences"_a, "first"_a.noconvert(), "second"_a.noconvert(), "offsets"_a.noconvert(),
      "columns"_a.noconvert(), "coefficients"_a.noconvert(), "n_columns"_a, "n_threads"_a,
      "Per feature and column, the sum over pairs of coefficient * difference.");
  m.def(
      "difference_sums_sparse",
      [](const SparseArrays& X, const ramify::Differences& differences, InArray<std::int64_t> first, InArray<std::int64_t> second,
         InArray<std::int64_t> offsets, InArray<std::int32_t> columns, InArray<double> coefficients, std::int64_t n_columns, int n_threads) {
        const ramify::WeightedPairs pairs{first.data(),   second.data(),       static_cast<std::int64_t>(first.shape(0)), offsets.data(),
                                          columns.data(), coefficients.data(), n_columns};
        auto sums = Patience().run([&](const ramify::Poll& poll) { return ramify::difference_sums_sparse(X.matrix, differences, pairs, threads(n_threads), poll); });
        return to_numpy(std::move(sums), static_cast<std::size_t>(X.matrix.n_features), static_cast<std::size_t>(n_columns));
      },
      "X"_a, nb::kw_only(), "differences"_a, "first"_a.noconvert(), "second"_a.noconvert(), "offsets"_a.noconvert(),
      "columns"_a.noconvert(), "coefficients"_a.noconvert(), "n_columns"_a, "n_threads"_a, "As difference_sums_dense, for sparse rows.");
}

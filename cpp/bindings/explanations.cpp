// Shapley values of forests.
#include <nanobind/stl/tuple.h>

#include "checks.hpp"
#include "held.hpp"
#include "scores/shapley.hpp"

using namespace ramify;

namespace {

OutputColumns output_columns(const Forest& forest, const InArray<std::int64_t>& offsets,
                             const InArray<std::int32_t>& columns, const InArray<double>& factors,
                             std::int64_t n_columns) {
  require(static_cast<std::int64_t>(offsets.shape(0)) == forest.n_outputs + 1, "offsets need one entry per output.");
  require(columns.shape(0) == factors.shape(0), "Each column needs a factor.");
  require_offsets(offsets, columns.shape(0), "offsets");
  require_within(columns, 0, n_columns, "columns");
  return {offsets.data(), columns.data(), factors.data(), n_columns};
}

const FeatureRows* rows_of(const HeldFeatures* held) { return held == nullptr ? nullptr : held->rows.get(); }

OutArray<double> bind_shapley_base(const Forest& forest, const InArray<std::int64_t>& offsets,
                                   const InArray<std::int32_t>& columns, const InArray<double>& factors,
                                   std::int64_t n_columns) {
  require_memory(n_columns, 1, 1);
  return to_numpy(shapley_base(forest, output_columns(forest, offsets, columns, factors, n_columns)));
}

OutArray<double> bind_shapley(const Forest& forest, const HeldFeatures& rows, const HeldFeatures* background,
                              const InArray<std::int64_t>& offsets, const InArray<std::int32_t>& columns,
                              const InArray<double>& factors, std::int64_t n_columns, int n_threads) {
  const OutputColumns wanted = output_columns(forest, offsets, columns, factors, n_columns);
  const std::int64_t n_rows = rows.rows->n_rows();
  require_memory(n_rows, forest.n_features(), n_columns);
  std::vector<double> out(static_cast<std::size_t>(n_rows * forest.n_features() * n_columns), 0.0);
  Patience().run([&](const Poll& poll) {
    shapley(forest, *rows.rows, rows_of(background), wanted, threads(n_threads), poll, out.data());
    return 0;
  });
  return to_numpy(std::move(out), n_rows, forest.n_features(), n_columns);
}

/// Values, features and offsets of a CSR matrix with a line per wanted output.
std::tuple<OutArray<double>, OutArray<std::int32_t>, OutArray<std::int64_t>> bind_sparse_shapley(
    const Forest& forest, const HeldFeatures& rows, const HeldFeatures* background, const InArray<std::int64_t>& indptr,
    const InArray<std::int32_t>& outputs, std::int64_t top, int n_threads) {
  require(static_cast<std::int64_t>(indptr.shape(0)) == rows.rows->n_rows() + 1, "indptr needs one entry per row.");
  require_offsets(indptr, outputs.shape(0), "indptr");
  require_within(outputs, 0, forest.n_outputs, "outputs");
  require(top >= 0, "top must be at least 0.");
  SparseShapley found = Patience().run([&](const Poll& poll) {
    return shapley_sparse(forest, *rows.rows, rows_of(background), {indptr.data(), outputs.data()}, top,
                          threads(n_threads), poll);
  });
  return {to_numpy(std::move(found.values)), to_numpy(std::move(found.features)), to_numpy(std::move(found.offsets))};
}

}  // namespace

void bind_explanations(nb::module_& m) {
  m.def("shapley_base", &bind_shapley_base, "forest"_a, nb::kw_only(), "offsets"_a.noconvert(), "columns"_a.noconvert(),
        "factors"_a.noconvert(), "n_columns"_a,
        "Every column where no feature is known. Output o adds factors[p] times itself to columns[p] for p from "
        "offsets[o] to offsets[o + 1].");
  m.def("shapley", &bind_shapley, "forest"_a, "rows"_a, nb::kw_only(), "background"_a.none(), "offsets"_a.noconvert(),
        "columns"_a.noconvert(), "factors"_a.noconvert(), "n_columns"_a, "n_threads"_a,
        "Shapley values (n_rows, n_features, n_columns); with the base they add up to the prediction.");
  m.def("shapley", &bind_sparse_shapley, "forest"_a, "rows"_a, nb::kw_only(), "background"_a.none(),
        "indptr"_a.noconvert(), "outputs"_a.noconvert(), "top"_a, "n_threads"_a,
        "Of each row's own outputs, the top features (0: all): CSR (data, indices, indptr) with a line per output.");
}

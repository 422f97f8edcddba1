// What is learnt from: tables of coded columns, and rows to send through trees.
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "checks.hpp"
#include "features/coding.hpp"
#include "held.hpp"

using namespace ramify;

namespace {

template <class T>
MatrixView<T> view(const InMatrix<T>& X) {
  return {X.data(), static_cast<std::int64_t>(X.shape(0)), static_cast<std::int64_t>(X.shape(1)), X.stride(0),
          X.stride(1)};
}

std::vector<std::int32_t> to_vector(const InArray<std::int32_t>& values) {
  return {values.data(), values.data() + values.size()};
}

template <class T>
FeatureTable coded_dense(const InMatrix<T>& X, const InArray<std::int32_t>& n_categories, std::int32_t max_bins,
                         int n_threads) {
  const std::vector<std::int32_t> categories = to_vector(n_categories);
  return Patience().run(
      [&](const Poll& poll) { return code_dense(view(X), categories, max_bins, threads(n_threads), poll); });
}

template <class T, class Index>
FeatureTable coded_sparse(const InArray<T>& data, const InArray<Index>& indices, const InArray<Index>& indptr,
                          std::int64_t n_rows, const InArray<std::int32_t>& n_categories, std::int32_t max_bins,
                          int n_threads) {
  require(data.size() == indices.size(), "There must be one position per value.");
  require_compressed(indptr, indices, n_rows, "the sparse matrix");
  const CompressedView<T, Index> X{data.data(), indices.data(), indptr.data(),
                                   static_cast<std::int64_t>(indptr.size()) - 1, n_rows};
  const std::vector<std::int32_t> categories = to_vector(n_categories);
  return Patience().run(
      [&](const Poll& poll) { return code_sparse(X, categories, max_bins, threads(n_threads), poll); });
}

template <class T>
HeldFeatures held_dense(InMatrix<T> X) {
  return HeldFeatures{nb::make_tuple(nb::cast(X)), dense_rows(view(X))};
}

template <class T, class Index>
HeldFeatures held_csr(InArray<T> data, InArray<Index> indices, InArray<Index> indptr, std::int64_t n_features) {
  require(data.size() == indices.size(), "There must be one position per value.");
  require_compressed(indptr, indices, n_features, "the sparse matrix");
  const CompressedView<T, Index> X{data.data(), indices.data(), indptr.data(),
                                   static_cast<std::int64_t>(indptr.size()) - 1, n_features};
  return HeldFeatures{nb::make_tuple(nb::cast(data), nb::cast(indices), nb::cast(indptr)), compressed_rows(X)};
}

template <class T>
void def_dense(nb::class_<FeatureTable>& table, nb::class_<HeldFeatures>& rows) {
  table.def(
      "__init__",
      [](FeatureTable* self, const InMatrix<T>& X, const InArray<std::int32_t>& n_categories, std::int32_t max_bins,
         int n_threads) { new (self) FeatureTable(coded_dense(X, n_categories, max_bins, n_threads)); },
      "X"_a.noconvert(), nb::kw_only(), "n_categories"_a.noconvert(), "max_bins"_a, "n_threads"_a,
      R"(Code a matrix of any strides.

``n_categories`` is per column: 0 = numeric, k = nominal with codes 0 .. k - 1 in the cells (k <= 4096). NaN is
missing. ``max_bins`` = 0 keeps every distinct value, 2 .. 65535 bins by quantiles.)");
  rows.def(
      "__init__", [](HeldFeatures* self, InMatrix<T> X) { new (self) HeldFeatures(held_dense(std::move(X))); },
      "X"_a.noconvert(), "Rows of a matrix of any strides.");
}

template <class T, class Index>
void def_sparse(nb::class_<FeatureTable>& table, nb::class_<HeldFeatures>& rows) {
  table.def(
      "__init__",
      [](FeatureTable* self, const InArray<T>& data, const InArray<Index>& indices, const InArray<Index>& indptr,
         std::int64_t n_rows, const InArray<std::int32_t>& n_categories, std::int32_t max_bins, int n_threads) {
        new (self) FeatureTable(coded_sparse(data, indices, indptr, n_rows, n_categories, max_bins, n_threads));
      },
      "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), nb::kw_only(), "n_rows"_a,
      "n_categories"_a.noconvert(), "max_bins"_a, "n_threads"_a,
      "Code the columns of a CSC matrix (sorted indices, no duplicates).");
  rows.def(
      "__init__",
      [](HeldFeatures* self, InArray<T> data, InArray<Index> indices, InArray<Index> indptr, std::int64_t n_features) {
        new (self) HeldFeatures(held_csr(std::move(data), std::move(indices), std::move(indptr), n_features));
      },
      "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), nb::kw_only(), "n_features"_a,
      "Rows of a CSR matrix.");
}

}  // namespace

void bind_features(nb::module_& m) {
  nb::class_<FeatureTable> table(
      m, "FeatureTable", "Columns coded by rank, coded once and shared by every forest grown on them. Immutable.");
  nb::class_<HeldFeatures> rows(m, "FeatureRows",
                                "Rows to send through trees. Keeps its arrays alive, copies nothing.");
  def_dense<float>(table, rows);
  def_dense<double>(table, rows);
  def_sparse<float, std::int32_t>(table, rows);
  def_sparse<float, std::int64_t>(table, rows);
  def_sparse<double, std::int32_t>(table, rows);
  def_sparse<double, std::int64_t>(table, rows);
  table.def_prop_ro("n_rows", &FeatureTable::n_rows)
      .def_prop_ro("n_features", &FeatureTable::n_features)
      .def_prop_ro("n_bytes", &FeatureTable::n_bytes)
      .def_prop_ro(
          "n_categories", [](const FeatureTable& self) { return to_numpy(self.n_categories()); }, nb::rv_policy::move,
          "Per feature, 0 = numeric.")
      .def("append", &FeatureTable::append, "other"_a, "fixed"_a,
           "Both tables' columns side by side, sharing memory: how chains add label columns. ``fixed``: trees look at "
           "the other's in every node, before columns are drawn.")
      .def(
          "take",
          [](const FeatureTable& self, const InArray<std::int64_t>& features) {
            return self.take({features.data(), features.data() + features.size()});
          },
          "features"_a.noconvert(), "The columns ``features``, sharing memory.");
  rows.def(
          "__init__",
          [](HeldFeatures* self, const FeatureTable& from) {
            new (self) HeldFeatures{nb::make_tuple(), table_rows(from)};
          },
          "table"_a, "The coded rows themselves: for out-of-bag work without the original matrix.")
      .def_prop_ro("n_rows", [](const HeldFeatures& self) { return self.rows->n_rows(); })
      .def_prop_ro("n_features", [](const HeldFeatures& self) { return self.rows->n_features(); });
}

// Feature tables and rows.
#include <nanobind/stl/vector.h>

#include "arrays.hpp"
#include "features/feature_table.hpp"
#include "forests.hpp"

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
FeatureTable bind_code_dense(const InMatrix<T>& X, const InArray<std::int32_t>& n_categories, std::int32_t max_bins,
                             int n_threads) {
  const std::vector<std::int32_t> categories = to_vector(n_categories);
  return Patience().run(
      [&](const Poll& poll) { return code_dense(view(X), categories, max_bins, threads(n_threads), poll); });
}

template <class T, class Index>
void check_compressed(const InArray<T>& data, const InArray<Index>& indices, const InArray<Index>& indptr) {
  if (indptr.size() == 0 || data.size() != indices.size())
    throw nb::value_error("The arrays of the sparse matrix do not fit together.");
  if (indptr(0) != 0 || static_cast<std::size_t>(indptr(indptr.size() - 1)) != data.size())
    throw nb::value_error("The pointers of the sparse matrix do not span its data.");
  for (std::size_t i = 1; i < indptr.size(); ++i) {
    if (indptr(i) < indptr(i - 1)) throw nb::value_error("The pointers of the sparse matrix must ascend.");
  }
}

template <class T, class Index>
FeatureTable bind_code_sparse(const InArray<T>& data, const InArray<Index>& indices, const InArray<Index>& indptr,
                              std::int64_t n_rows, const InArray<std::int32_t>& n_categories, std::int32_t max_bins,
                              int n_threads) {
  check_compressed(data, indices, indptr);
  const CompressedView<T, Index> X{data.data(), indices.data(), indptr.data(),
                                   static_cast<std::int64_t>(indptr.size()) - 1, n_rows};
  const std::vector<std::int32_t> categories = to_vector(n_categories);
  return Patience().run(
      [&](const Poll& poll) { return code_sparse(X, categories, max_bins, threads(n_threads), poll); });
}

template <class T>
HeldRows bind_dense_rows(InMatrix<T> X) {
  return HeldRows{nb::make_tuple(nb::cast(X)), dense_rows(view(X))};
}

template <class T, class Index>
HeldRows bind_csr_rows(InArray<T> data, InArray<Index> indices, InArray<Index> indptr, std::int64_t n_features) {
  check_compressed(data, indices, indptr);
  const CompressedView<T, Index> X{data.data(), indices.data(), indptr.data(),
                                   static_cast<std::int64_t>(indptr.size()) - 1, n_features};
  return HeldRows{nb::make_tuple(nb::cast(data), nb::cast(indices), nb::cast(indptr)), compressed_rows(X)};
}

template <class T>
void bind_dense(nb::module_& m) {
  m.def("code_dense", &bind_code_dense<T>, "X"_a.noconvert(), nb::kw_only(), "n_categories"_a.noconvert(), "max_bins"_a,
        "n_threads"_a);
  m.def("dense_rows", &bind_dense_rows<T>, "X"_a.noconvert());
}

template <class T, class Index>
void bind_sparse(nb::module_& m) {
  m.def("code_sparse", &bind_code_sparse<T, Index>, "data"_a.noconvert(), "indices"_a.noconvert(),
        "indptr"_a.noconvert(), nb::kw_only(), "n_rows"_a, "n_categories"_a.noconvert(), "max_bins"_a, "n_threads"_a);
  m.def("csr_rows", &bind_csr_rows<T, Index>, "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(),
        nb::kw_only(), "n_features"_a);
}

}  // namespace

void bind_tables(nb::module_& m) {
  nb::class_<FeatureTable>(m, "FeatureTable", "Columns coded by rank, shared by every forest grown on them.")
      .def_prop_ro("n_rows", &FeatureTable::n_rows)
      .def_prop_ro("n_features", &FeatureTable::n_features)
      .def_prop_ro("n_bytes", &FeatureTable::n_bytes)
      .def_prop_ro(
          "n_categories", [](const FeatureTable& table) { return to_numpy(table.n_categories()); }, nb::rv_policy::move)
      .def("append", &FeatureTable::append, "other"_a)
      .def(
          "take",
          [](const FeatureTable& table, const InArray<std::int64_t>& features) {
            return table.take({features.data(), features.data() + features.size()});
          },
          "features"_a.noconvert());
  nb::class_<HeldRows>(m, "FeatureRows", "Rows to send through trees.")
      .def_prop_ro("n_rows", [](const HeldRows& rows) { return rows.rows->n_rows(); })
      .def_prop_ro("n_features", [](const HeldRows& rows) { return rows.rows->n_features(); });
  bind_dense<float>(m);
  bind_dense<double>(m);
  bind_sparse<float, std::int32_t>(m);
  bind_sparse<float, std::int64_t>(m);
  bind_sparse<double, std::int32_t>(m);
  bind_sparse<double, std::int64_t>(m);
  m.def(
      "table_rows", [](const FeatureTable& table) { return HeldRows{nb::make_tuple(), table_rows(table)}; }, "table"_a);
}

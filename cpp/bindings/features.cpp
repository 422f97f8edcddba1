// What is learnt from: tables of coded columns, and rows to send through trees.
#include <nanobind/stl/vector.h>

#include <algorithm>

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

template <class Code>
using CodeArray = nb::ndarray<nb::numpy, const Code, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<ColumnCuts> to_cuts(const std::vector<InArray<double>>& edges, const InArray<std::int32_t>& n_categories) {
  require(edges.size() == n_categories.size(), "There must be edges and a number of categories per column.");
  std::vector<ColumnCuts> cuts;
  for (std::size_t f = 0; f < edges.size(); ++f) {
    ColumnCuts own;
    own.n_categories = n_categories.data()[f];
    own.edges.assign(edges[f].data(), edges[f].data() + edges[f].size());
    const auto out_of_order = [](double a, double b) { return !(a < b); };
    require(std::adjacent_find(own.edges.begin(), own.edges.end(), out_of_order) == own.edges.end(),
            "The edges of bins must ascend.");
    require(own.n_categories >= 0 && own.n_codes() < 65535, "A column has at most 65,534 codes.");
    cuts.push_back(std::move(own));
  }
  return cuts;
}

nb::list edges_of_bins(const InMatrix<double>& X, std::int32_t max_bins, int n_threads) {
  require(max_bins >= 2, "max_bins must be at least 2.");
  auto found =
      Patience().run([&](const Poll& poll) { return find_edges(view(X), max_bins, threads(n_threads), poll); });
  nb::list arrays;
  for (std::vector<double>& edges : found) arrays.append(nb::cast(to_numpy(std::move(edges)), nb::rv_policy::move));
  return arrays;
}

using OwnArray = nb::ndarray<nb::numpy, double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

OutArray<std::uint16_t> coded_rows(const InMatrix<double>& X, const std::vector<InArray<double>>& edges,
                                   const InArray<std::int32_t>& n_categories, const std::vector<OwnArray>& lower,
                                   const std::vector<OwnArray>& upper, int n_threads) {
  const std::vector<ColumnCuts> cuts = to_cuts(edges, n_categories);
  require(cuts.size() == X.shape(1) && lower.size() == cuts.size() && upper.size() == cuts.size(),
          "There must be cuts and bounds per column.");
  std::vector<double*> low, high;
  for (std::size_t f = 0; f < cuts.size(); ++f) {
    const std::size_t n_codes = cuts[f].n_categories > 0 ? 0 : static_cast<std::size_t>(cuts[f].n_codes());
    require(lower[f].size() == n_codes && upper[f].size() == n_codes, "Bounds need one entry per bin.");
    low.push_back(lower[f].data());
    high.push_back(upper[f].data());
  }
  auto codes =
      Patience().run([&](const Poll& poll) { return code_rows(view(X), cuts, low, high, threads(n_threads), poll); });
  return to_numpy(std::move(codes), X.shape(1), X.shape(0));
}

/// Codes that numpy holds, for as long as a column needs them.
template <class Code>
std::shared_ptr<const std::uint8_t> held_codes(CodeArray<Code> codes) {
  const auto* const data = reinterpret_cast<const std::uint8_t*>(codes.data());
  return {data, [held = std::make_unique<CodeArray<Code>>(std::move(codes))](const std::uint8_t*) mutable {
            const nb::gil_scoped_acquire gil;
            held.reset();
          }};
}

FeatureTable table_of_codes(const nb::list& codes, std::int64_t n_rows, const std::vector<InArray<double>>& edges,
                            const InArray<std::int32_t>& n_categories, const std::vector<InArray<double>>& lower,
                            const std::vector<InArray<double>>& upper, int n_threads) {
  const std::vector<ColumnCuts> cuts = to_cuts(edges, n_categories);
  require(codes.size() == cuts.size() && lower.size() == cuts.size() && upper.size() == cuts.size(),
          "There must be codes, cuts and bounds per column.");
  require(n_rows >= 0 && n_rows < std::int64_t(0xFFFFFFFF), "A table has at most 4294967294 rows.");
  std::vector<std::shared_ptr<const std::uint8_t>> held;
  std::vector<int> widths;
  for (std::size_t f = 0; f < cuts.size(); ++f) {
    const std::size_t n_codes = cuts[f].n_categories > 0 ? 0 : static_cast<std::size_t>(cuts[f].n_codes());
    require(lower[f].size() == n_codes && upper[f].size() == n_codes, "Bounds need one entry per bin.");
    require(cuts[f].n_categories <= max_categories, "A nominal column has at most 4,096 categories.");
    CodeArray<std::uint8_t> narrow;
    CodeArray<std::uint16_t> wide;
    if (nb::try_cast(codes[f], narrow, false)) {
      require(static_cast<std::int64_t>(narrow.size()) == n_rows, "There must be one code per row.");
      held.push_back(held_codes(std::move(narrow)));
      widths.push_back(1);
    } else if (nb::try_cast(codes[f], wide, false)) {
      require(static_cast<std::int64_t>(wide.size()) == n_rows, "There must be one code per row.");
      held.push_back(held_codes(std::move(wide)));
      widths.push_back(2);
    } else {
      throw nb::type_error("Codes must be arrays of uint8 or uint16.");
    }
  }
  return Patience().run([&](const Poll& poll) {
    std::vector<std::shared_ptr<const Column>> columns(cuts.size());
    run_tasks(
        static_cast<std::int64_t>(cuts.size()), threads(n_threads),
        [&](std::int64_t task, int, const Control&) {
          const auto f = static_cast<std::size_t>(task);
          columns[f] =
              column_of_codes(held[f], widths[f], n_rows, cuts[f], {lower[f].data(), lower[f].data() + lower[f].size()},
                              {upper[f].data(), upper[f].data() + upper[f].size()});
        },
        poll);
    return FeatureTable(n_rows, std::move(columns));
  });
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
      .def_static(
          "of_codes", &table_of_codes, "codes"_a, nb::kw_only(), "n_rows"_a, "edges"_a, "n_categories"_a, "lower"_a,
          "upper"_a, "n_threads"_a,
          "Columns that were coded before, as uint8 or uint16 that stay where they are: numbers of edges below a "
          "value, or categories; the number of codes is missing. ``lower``, ``upper``: per numeric column the "
          "values of each code.")
      .def(
          "take",
          [](const FeatureTable& self, const InArray<std::int64_t>& features) {
            return self.take({features.data(), features.data() + features.size()});
          },
          "features"_a.noconvert(), "The columns ``features``, sharing memory.");
  m.def(
      "edges_of_bins", &edges_of_bins, "X"_a.noconvert(), nb::kw_only(), "max_bins"_a, "n_threads"_a,
      "Per column of a matrix, the edges of at most ``max_bins`` bins: an edge at each distinct value but the last, or "
      "quantiles where there are more. NaN is missing.");
  m.def("code_rows", &coded_rows, "X"_a.noconvert(), nb::kw_only(), "edges"_a, "n_categories"_a.noconvert(), "lower"_a,
        "upper"_a, "n_threads"_a,
        "Codes of rows, columns x rows; ``lower`` and ``upper`` are widened by the values of each code.");
  rows.def(
          "__init__",
          [](HeldFeatures* self, const FeatureTable& from) {
            new (self) HeldFeatures{nb::make_tuple(), table_rows(from)};
          },
          "table"_a, "The coded rows themselves: for out-of-bag work without the original matrix.")
      .def_prop_ro("n_rows", [](const HeldFeatures& self) { return self.rows->n_rows(); })
      .def_prop_ro("n_features", [](const HeldFeatures& self) { return self.rows->n_features(); });
}

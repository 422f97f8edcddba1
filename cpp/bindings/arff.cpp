#include "ramify/arff.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings.hpp"

namespace {

template <typename T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <typename T>
nb::object owned(std::vector<T>&& values) {
  auto holder = std::make_unique<std::vector<T>>(std::move(values));
  T* data = holder->data();
  const std::size_t size = holder->size();
  nb::capsule owner(holder.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {size}, owner));
}

nb::dict rows_of(Vector<std::uint8_t> text, Vector<std::uint8_t> kinds, Vector<std::int32_t> domain_of,
                 Vector<std::uint8_t> domain_text, Vector<std::int64_t> value_offsets,
                 Vector<std::int64_t> domain_offsets, std::int64_t index_base) {
  ramify::ArffRows rows;
  {
    nb::gil_scoped_release release;
    const char* bytes = reinterpret_cast<const char*>(domain_text.data());
    ramify::ArffColumns columns{kinds.data(), domain_of.data(), kinds.shape(0), {}};
    for (std::size_t d = 0; d + 1 < domain_offsets.shape(0); ++d) {
      auto& values = columns.domains.emplace_back();
      for (std::int64_t v = domain_offsets(d); v < domain_offsets(d + 1); ++v) {
        const auto at = static_cast<std::size_t>(v);
        values.emplace_back(bytes + value_offsets(at), static_cast<std::size_t>(value_offsets(at + 1) - value_offsets(at)));
      }
    }
    rows = ramify::arff_rows({reinterpret_cast<const char*>(text.data()), text.shape(0)}, columns, index_base);
  }
  nb::dict result;
  result["indptr"] = owned(std::move(rows.indptr));
  result["indices"] = owned(std::move(rows.indices));
  result["values"] = owned(std::move(rows.values));
  result["text_starts"] = owned(std::move(rows.text_starts));
  result["text_ends"] = owned(std::move(rows.text_ends));
  result["text_quoted"] = owned(std::move(rows.text_quoted));
  result["lines"] = owned(std::move(rows.lines));
  result["weights"] = owned(std::move(rows.weights));
  result["n_lines"] = rows.n_lines;
  result["smallest_index"] = rows.smallest_index;
  result["largest_index"] = rows.largest_index;
  result["fault"] = static_cast<std::int32_t>(rows.fault);
  result["fault_line"] = rows.fault_line;
  result["fault_line_start"] = rows.fault_line_start;
  result["fault_start"] = rows.fault_start;
  result["fault_end"] = rows.fault_end;
  result["fault_column"] = rows.fault_column;
  result["fault_count"] = rows.fault_count;
  return result;
}

}  // namespace

void bind_arff(nb::module_& m) {
  m.def("arff_rows", &rows_of, "text"_a.noconvert(), nb::kw_only(), "kinds"_a.noconvert(), "domain_of"_a.noconvert(),
        "domain_text"_a.noconvert(), "value_offsets"_a.noconvert(), "domain_offsets"_a.noconvert(), "index_base"_a,
        "Rows of a piece of an ARFF data section as CSR arrays and spans of text.");
}

#include "text/arff.hpp"

#include <utility>

#include "arrays.hpp"
#include "checks.hpp"

namespace {

nb::dict rows_of(InArray<std::uint8_t> text, InArray<std::uint8_t> kinds, InArray<std::int32_t> domain_of,
                 InArray<std::uint8_t> domain_text, InArray<std::int64_t> value_offsets,
                 InArray<std::int64_t> domain_offsets, std::int64_t index_base) {
  require_offsets(value_offsets, domain_text.shape(0), "value_offsets");
  require_offsets(domain_offsets, value_offsets.shape(0) - 1, "domain_offsets");
  require(domain_of.shape(0) == kinds.shape(0), "There must be one domain per column.");
  for (std::size_t j = 0; j < kinds.shape(0); ++j) {
    const bool nominal = kinds(j) == static_cast<std::uint8_t>(ramify::ArffKind::nominal);
    require(kinds(j) <= static_cast<std::uint8_t>(ramify::ArffKind::text), "A column is of an unknown kind.");
    require(!nominal || (domain_of(j) >= 0 && domain_of(j) + std::size_t{1} < domain_offsets.shape(0)),
            "A nominal column has no domain.");
  }
  ramify::ArffRows rows;
  {
    nb::gil_scoped_release release;
    const char* bytes = reinterpret_cast<const char*>(domain_text.data());
    ramify::ArffColumns columns{kinds.data(), domain_of.data(), kinds.shape(0), {}};
    for (std::size_t d = 0; d + 1 < domain_offsets.shape(0); ++d) {
      auto& values = columns.domains.emplace_back();
      for (std::int64_t v = domain_offsets(d); v < domain_offsets(d + 1); ++v) {
        const auto at = static_cast<std::size_t>(v);
        const auto size = static_cast<std::size_t>(value_offsets(at + 1) - value_offsets(at));
        values.emplace_back(bytes + value_offsets(at), size);
      }
    }
    rows = ramify::arff_rows({reinterpret_cast<const char*>(text.data()), text.shape(0)}, columns, index_base);
  }
  nb::dict result;
  result["indptr"] = to_numpy(std::move(rows.indptr));
  result["indices"] = to_numpy(std::move(rows.indices));
  result["values"] = to_numpy(std::move(rows.values));
  result["text_starts"] = to_numpy(std::move(rows.text_starts));
  result["text_ends"] = to_numpy(std::move(rows.text_ends));
  result["text_quoted"] = to_numpy(std::move(rows.text_quoted));
  result["lines"] = to_numpy(std::move(rows.lines));
  result["weights"] = to_numpy(std::move(rows.weights));
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

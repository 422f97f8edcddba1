#include "text/delimited.hpp"

#include <utility>

#include "arrays.hpp"
#include "checks.hpp"

namespace {

nb::dict columns_of(InArray<std::uint8_t> text, std::uint8_t separator, InArray<std::uint8_t> as_text,
                    InArray<std::uint8_t> missing_text, InArray<std::int64_t> missing_offsets) {
  require_offsets(missing_offsets, missing_text.shape(0), "missing_offsets");
  ramify::DelimitedColumns columns;
  {
    nb::gil_scoped_release release;
    ramify::DelimitedLayout layout{static_cast<char>(separator), as_text.shape(0), as_text.data(), {}};
    const char* bytes = reinterpret_cast<const char*>(missing_text.data());
    for (std::size_t k = 0; k + 1 < missing_offsets.shape(0); ++k) {
      const auto size = static_cast<std::size_t>(missing_offsets(k + 1) - missing_offsets(k));
      layout.missing.emplace_back(bytes + missing_offsets(k), size);
    }
    columns = ramify::delimited_columns({reinterpret_cast<const char*>(text.data()), text.shape(0)}, layout);
  }
  nb::list numbers;
  for (auto& column : columns.numbers) numbers.append(to_numpy(std::move(column)));
  nb::list texts;
  for (auto& column : columns.texts) {
    texts.append(nb::make_tuple(to_numpy(std::move(column.codes)), to_numpy(std::move(column.starts)),
                                to_numpy(std::move(column.ends)), to_numpy(std::move(column.quoted))));
  }
  nb::dict result;
  result["is_regular"] = columns.is_regular;
  result["numbers"] = numbers;
  result["is_text"] = to_numpy(std::move(columns.is_text));
  result["texts"] = texts;
  result["lines"] = to_numpy(std::move(columns.lines));
  return result;
}

}  // namespace

void bind_delimited(nb::module_& m) {
  m.def("delimited_columns", &columns_of, "text"_a.noconvert(), nb::kw_only(), "separator"_a, "as_text"_a.noconvert(),
        "missing_text"_a.noconvert(), "missing_offsets"_a.noconvert(),
        "Columns of delimited text: numbers where every cell is one, elsewhere codes of the spans of text.");
}

// Delimited text (CSV): whole columns of numbers where every cell is one, values and codes of text elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ramify {

/// What a table looks like. A cell that is one of `missing` is NaN in a column of numbers.
struct DelimitedLayout {
  char separator;
  std::size_t n_columns;
  const std::uint8_t* as_text;  // per column, 1 to keep it as text even if all its cells are numbers
  std::vector<std::string_view> missing;
};

/// A column of text: its values, each once, and which of them each row has.
struct TextCodes {
  std::vector<std::int64_t> codes;   // per row
  std::vector<std::int64_t> starts;  // per value, byte offsets into the text, quotes left out
  std::vector<std::int64_t> ends;
  std::vector<std::uint8_t> quoted;  // 1 where a quote inside may be doubled; the same text not quoted is another value
};

/// Columns of a table. `numbers[j]` is empty where column j is text, `texts[j]` where it is numbers.
struct DelimitedColumns {
  bool is_regular = true;  // false: some row has another number of cells or a stray quote, and nothing else is set
  std::vector<std::vector<double>> numbers;
  std::vector<std::uint8_t> is_text;
  std::vector<TextCodes> texts;
  std::vector<std::int64_t> lines;  // line on which each row ends, the first line of the text is 0
};

/// Reads the rows after the header. Blank lines are skipped and blanks around cells are left out.
///
/// A column is text if a cell is neither missing nor a number that survives the conversion: zero-padded codes and
/// integers beyond 2^53 do not.
DelimitedColumns delimited_columns(std::string_view text, const DelimitedLayout& layout);

}  // namespace ramify

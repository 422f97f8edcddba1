// The data section of an ARFF file: text in, sparse rows of numbers and spans of text out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ramify {

/// How the cells of a column are read.
enum class ArffKind : std::uint8_t { number = 0, nominal = 1, text = 2 };

/// What the header declares. Nominal columns name their domain, so that equal domains are stored once.
struct ArffColumns {
  const std::uint8_t* kinds;      // one ArffKind per column
  const std::int32_t* domain_of;  // per column, -1 unless nominal
  std::size_t n_columns;
  std::vector<std::vector<std::string_view>> domains;  // values in declared order
};

/// What is wrong with a row.
enum class ArffFault : std::int32_t {
  none = 0,
  too_few_values,
  too_many_values,
  not_a_number,
  not_finite,
  not_in_domain,
  empty_value,
  open_quote,
  text_after_quote,
  bad_index,
  index_out_of_range,
  repeated_index,
  open_row,
  text_after_row,
  bad_weight,
};

/// The rows of a piece of text. Cells that are 0 (for nominals: the first value) are left out of the CSR arrays;
/// a missing cell is stored as NaN.
struct ArffRows {
  std::vector<std::int64_t> indptr{0};
  std::vector<std::int32_t> indices;
  std::vector<double> values;
  std::vector<std::int64_t> text_starts;  // n_rows x n_text_columns, byte offsets into the text;
  std::vector<std::int64_t> text_ends;    // start -1: missing, start -2: absent from a sparse row
  std::vector<std::uint8_t> text_quoted;  // 1 where the span was quoted and may hold escapes
  std::vector<std::int64_t> lines;        // line of each row, the first line of the text is 0
  std::vector<double> weights;            // empty unless some row has a weight; NaN where a row has none
  std::int64_t n_lines = 0;
  std::int64_t smallest_index = -1;  // over all sparse rows, as written; -1 without any
  std::int64_t largest_index = -1;

  ArffFault fault = ArffFault::none;  // the first fault, if any, and where it stands
  std::int64_t fault_line = 0;
  std::int64_t fault_start = 0;  // byte span within the text
  std::int64_t fault_end = 0;
  std::int64_t fault_line_start = 0;
  std::int64_t fault_column = -1;  // position of the column, -1 unless known
  std::int64_t fault_count = 0;    // values found, for the faults that count them
};

/// Reads whole lines of an ARFF data section in one pass; stops at the first fault.
///
/// `index_base` is the number that sparse rows give to the first column; with a negative one only the smallest and the
/// largest index are looked for and values are not read.
ArffRows arff_rows(std::string_view text, const ArffColumns& columns, std::int64_t index_base);

}  // namespace ramify

#include <string>

#include "base/random.hpp"
#include "check.hpp"
#include "text/arff.hpp"

using namespace ramify;

namespace {

/// Columns of the small files below: number, nominal {0,1}, nominal {no,yes,maybe}, text.
struct Table {
  std::uint8_t kinds[4] = {0, 1, 1, 2};
  std::int32_t domain_of[4] = {-1, 0, 1, -1};
  ArffColumns columns{kinds, domain_of, 4, {{"0", "1"}, {"no", "yes", "maybe"}}};
};

ArffRows read(std::string_view text, std::int64_t index_base = 0) {
  static Table table;
  return arff_rows(text, table.columns, index_base);
}

double number(std::string_view text) {
  static std::uint8_t kind = 0;
  static std::int32_t domain = -1;
  const ArffColumns columns{&kind, &domain, 1, {}};
  const ArffRows rows = arff_rows(text, columns, 0);
  if (rows.fault != ArffFault::none) return -12345;
  return rows.values.empty() ? 0 : rows.values[0];
}

void dense_rows() {
  const ArffRows rows = read("1.5, 1,maybe,abc\r\n\n% comment\n0,0,no,?\n-2,?,'yes','a b'");
  CHECK(rows.fault == ArffFault::none);
  CHECK(rows.indptr.size() == 4 && rows.n_lines == 5);
  CHECK(rows.indptr[1] == 3 && rows.indptr[2] == 3 && rows.indptr[3] == 6);
  CHECK(rows.values[0] == 1.5 && rows.values[1] == 1 && rows.values[2] == 2);
  CHECK(rows.values[3] == -2 && std::isnan(rows.values[4]) && rows.values[5] == 1);
  CHECK(rows.text_starts[0] == 13 && rows.text_ends[0] == 16 && rows.text_starts[1] == -1);
  CHECK(rows.text_quoted[2] == 1 && rows.lines[2] == 4);
}

void values_that_need_quotes() {
  std::uint8_t kinds[2] = {1, 1};
  std::int32_t domain_of[2] = {0, 0};
  const ArffColumns columns{kinds, domain_of, 2, {{"a", "?", "'", " ", ",x"}}};
  const ArffRows rows = arff_rows("?,'?'\n'\\'',' '\n',x',a\n", columns, 0);
  CHECK(rows.fault == ArffFault::none && rows.values.size() == 5);
  CHECK(std::isnan(rows.values[0]) && rows.values[1] == 1 && rows.values[2] == 2 && rows.values[3] == 3);
  CHECK(rows.values[4] == 4);
  CHECK(arff_rows(" ,a", columns, 0).fault == ArffFault::empty_value);
}

void sparse_rows() {
  const ArffRows rows = read("{0 3,2 yes}\n{}\n{2 maybe, 0 1}, {2.5}\n");
  CHECK(rows.fault == ArffFault::none);
  CHECK(rows.indptr[3] == 4 && rows.indices[2] == 0 && rows.values[3] == 2);
  CHECK(rows.weights.size() == 3 && std::isnan(rows.weights[0]) && rows.weights[2] == 2.5);
  CHECK(rows.smallest_index == 0 && rows.largest_index == 2 && rows.text_starts[0] == -2);
  const ArffRows scanned = read("{1 ?,4 'x, y'}\n{2 anything}", -1);
  CHECK(scanned.fault == ArffFault::none && scanned.smallest_index == 1 && scanned.largest_index == 4);
}

void faults() {
  CHECK(read("1,0,no").fault == ArffFault::too_few_values);
  CHECK(read("1,0,no,a,b").fault == ArffFault::too_many_values);
  CHECK(read("1,0,no,a,").fault == ArffFault::too_many_values);
  CHECK(read("1,0,no,a,{-1}").fault == ArffFault::bad_weight);
  CHECK(read("x,0,no,a").fault == ArffFault::not_a_number);
  CHECK(read("1e999,0,no,a").fault == ArffFault::not_finite);
  CHECK(read("1,2,no,a").fault == ArffFault::not_in_domain);
  CHECK(read("1,,no,a").fault == ArffFault::empty_value);
  CHECK(read("1,0,no,'a").fault == ArffFault::open_quote);
  CHECK(read("1,0,no,'a'b").fault == ArffFault::text_after_quote);
  CHECK(read("{a 1}").fault == ArffFault::bad_index);
  CHECK(read("{4 1}").fault == ArffFault::index_out_of_range);
  CHECK(read("{0 1,0 2}").fault == ArffFault::repeated_index);
  CHECK(read("{0 1").fault == ArffFault::open_row);
  CHECK(read("{0 1} x").fault == ArffFault::text_after_row);
  const ArffRows rows = read("1,0,no,a\n1,0,never,a\n");
  CHECK(rows.fault_line == 1 && rows.fault_column == 2 && rows.fault_start - rows.fault_line_start == 4);
}

void numbers() {
  CHECK(number("1") == 1 && number("+1.") == 1 && number("-.5") == -0.5 && number("1E+2") == 100);
  CHECK(number("0.1") == 0.1 && number("123456789012345678901234567890") == 123456789012345678901234567890.0);
  CHECK(number("5e-324") == 5e-324 && number("1e-400") == 0 &&
        number("1.7976931348623157e308") == 1.7976931348623157e308);
  CHECK(number("0.00000000000000000000000000000000001234567890123456789") == 1.234567890123456789e-35);
  CHECK(number("9007199254740993") == 9007199254740992.0 &&
        number("2.2250738585072011e-308") == 2.2250738585072011e-308);
  CHECK(number("0e999999999999999999999") == 0 && std::signbit(number("-0")));
  for (const char* text : {"", "e5", ".", "1e", "1e+", "0x1", "nan", "inf", "1 2", "--1", "1,5", "1.2.3"}) {
    if (*text) CHECK(number(text) == -12345);
  }
  CHECK(number("1e309") == -12345 && number("1e99999999999999999999") == -12345);
}

/// Whatever the bytes, the result is consistent and spans lie within the text (sanitizers watch the rest).
void mutants() {
  const std::string good = "1.5,1,maybe,'a \\' b'\n{0 3,2 yes, 3 'x'}, {2}\n% c\n-2e-5,?,'no',t,{1}\r\n{}\n0,0,no,?\n";
  const std::string pieces = ",{}'\"\\?%\n\r\t 01e-.+x";
  for (std::uint64_t k = 0; k < 20000; ++k) {
    Random random(1, k);
    std::string text = good;
    for (std::uint64_t change = 0; change < 1 + random.below(4); ++change) {
      const std::size_t at = random.below(text.size());
      if (random.below(2) == 0) {
        text[at] = pieces[random.below(pieces.size())];
      } else if (random.below(2) == 0) {
        text.insert(at, 1, pieces[random.below(pieces.size())]);
      } else {
        text.resize(at + 1);
      }
    }
    for (std::int64_t base = -1; base <= 1; ++base) {
      const ArffRows rows = read(text, base);
      const auto size = static_cast<std::int64_t>(text.size());
      bool sound = rows.indptr.back() <= static_cast<std::int64_t>(rows.indices.size());
      sound = sound && rows.indices.size() == rows.values.size();
      sound = sound && (base < 0 || rows.lines.size() + 1 == rows.indptr.size());
      sound = sound && rows.fault_start >= 0 && rows.fault_start <= rows.fault_end && rows.fault_end <= size;
      for (std::size_t t = 0; t < rows.text_starts.size(); ++t) {
        sound = sound && rows.text_starts[t] >= -2 && rows.text_starts[t] <= size && rows.text_ends[t] <= size;
      }
      for (std::int32_t index : rows.indices) sound = sound && index >= 0 && index < 4;
      if (!sound) CHECK(sound);
    }
  }
  CHECK(true);
}

}  // namespace

int main() {
  dense_rows();
  values_that_need_quotes();
  sparse_rows();
  faults();
  numbers();
  mutants();
  return check::finish();
}

#include <string>

#include "base/random.hpp"
#include "check.hpp"
#include "text/decimal.hpp"
#include "text/delimited.hpp"

using namespace ramify;

namespace {

DelimitedColumns read(std::string_view text, std::size_t n_columns, char separator = ',') {
  static const std::uint8_t none[8] = {};
  return delimited_columns(text, {separator, n_columns, none, {"", "?", "NA"}});
}

std::string_view cell(std::string_view text, const TextCodes& column, std::size_t row) {
  const auto value = static_cast<std::size_t>(column.codes[row]);
  const auto start = static_cast<std::size_t>(column.starts[value]);
  return text.substr(start, static_cast<std::size_t>(column.ends[value]) - start);
}

void numbers_and_text() {
  const std::string text = "1, x ,NA\r\n\n-2.5e1,\"a,\"\"b\",7\n,\"l1\nl2\",?";
  const DelimitedColumns columns = read(text, 3);
  CHECK(columns.is_regular && columns.lines.size() == 3);
  CHECK(columns.is_text[0] == 0 && columns.is_text[1] == 1 && columns.is_text[2] == 0);
  CHECK(columns.numbers[0][0] == 1 && columns.numbers[0][1] == -25 && std::isnan(columns.numbers[0][2]));
  CHECK(std::isnan(columns.numbers[2][0]) && columns.numbers[2][1] == 7);
  const TextCodes& texts = columns.texts[1];
  CHECK(cell(text, texts, 0) == "x" && cell(text, texts, 1) == "a,\"\"b" && cell(text, texts, 2) == "l1\nl2");
  CHECK(texts.quoted[0] == 0 && texts.quoted[1] == 1);
  CHECK(columns.lines[0] == 0 && columns.lines[1] == 2 && columns.lines[2] == 4);
}

void codes_stay_text() {
  for (const char* text : {"007", "-01", "9007199254740992", "1_0", "0x1", "inf", "nan", "1e999", "1 2"}) {
    CHECK(read(text, 1).is_text[0] == 1);
  }
  for (const char* text : {"0", "-0.5", "0.5", "1e22", "9007199254740991", "00x"}) {
    CHECK(read(text, 1).is_text[0] == (text[1] == '0' && text[2] == 'x'));
  }
  const std::uint8_t forced[1] = {1};
  CHECK(delimited_columns("1\n2\n", {',', 1, forced, {}}).texts[0].codes.size() == 2);
}

void values_have_codes() {
  std::string text;
  for (int row = 0; row < 5000; ++row) text += "v" + std::to_string(row * row % 1009) + (row % 2 ? "\n" : " \n");
  const TextCodes column = read(text, 1).texts[0];
  CHECK(column.codes.size() == 5000 && column.starts.size() == 505);  // squares modulo a prime p: (p + 1) / 2
  bool right = true;
  for (int row = 0; row < 5000; ++row) {
    right = right && cell(text, column, static_cast<std::size_t>(row)) == "v" + std::to_string(row * row % 1009);
  }
  CHECK(right);
  const std::string late = "1\n2\n1\nx\n2\nx\n?\n";  // a column that turns out to be text
  const TextCodes turned = read(late, 1).texts[0];
  const char* expected[] = {"1", "2", "1", "x", "2", "x", "?"};
  CHECK(turned.codes.size() == 7 && turned.starts.size() == 4);
  for (std::size_t row = 0; row < 7; ++row) CHECK(cell(late, turned, row) == expected[row]);
  const TextCodes quoted = read("a\n\"a\"\na\n", 1).texts[0];
  CHECK(quoted.codes[0] == 0 && quoted.codes[1] == 1 && quoted.codes[2] == 0);
}

void irregular_rows() {
  for (const char* text : {"1\n", "1,2,3\n", "1,2\n3\n", "\"1,2\n", "\"1\"x,2\n", "1,2,\n"})
    CHECK(!read(text, 2).is_regular);
  CHECK(read("1\t2\n", 2, '\t').is_regular);
  CHECK(read("", 2).is_regular && read("\n \n", 2).lines.empty());
}

void mutants() {
  const std::string good = "1,x,\"a,b\"\r\n\n?,\"q\"\"q\",-1.5e3\n2,y,\"l\n\"\n";
  const std::string pieces = ",\"\n\r\t 01e-.?x";
  for (std::uint64_t k = 0; k < 20000; ++k) {
    Random random(2, k);
    std::string text = good;
    for (std::uint64_t change = 0; change < 1 + random.below(4); ++change) {
      const std::size_t at = random.below(text.size());
      if (random.below(2) == 0) {
        text[at] = pieces[random.below(pieces.size())];
      } else {
        text.insert(at, 1, pieces[random.below(pieces.size())]);
      }
    }
    const DelimitedColumns columns = read(text, 3);
    if (!columns.is_regular) continue;
    bool sound = true;
    for (std::size_t j = 0; j < 3; ++j) {
      const TextCodes& column = columns.texts[j];
      sound = sound && columns.numbers[j].size() == (columns.is_text[j] ? 0 : columns.lines.size());
      sound = sound && column.codes.size() == (columns.is_text[j] ? columns.lines.size() : 0);
      for (std::int64_t code : column.codes) sound = sound && code < static_cast<std::int64_t>(column.starts.size());
      for (std::size_t t = 0; t < column.starts.size(); ++t) {
        sound = sound && column.starts[t] <= column.ends[t];
        sound = sound && column.ends[t] <= static_cast<std::int64_t>(text.size());
      }
    }
    if (!sound) CHECK(sound);
  }
  CHECK(true);
}

}  // namespace

int main() {
  numbers_and_text();
  codes_stay_text();
  values_have_codes();
  irregular_rows();
  mutants();
  return check::finish();
}

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

std::string_view span(std::string_view text, const DelimitedColumns& columns, std::size_t k) {
  const auto start = static_cast<std::size_t>(columns.text_starts[k]);
  return text.substr(start, static_cast<std::size_t>(columns.text_ends[k]) - start);
}

void numbers_and_text() {
  const std::string text = "1, x ,NA\r\n\n-2.5e1,\"a,\"\"b\",7\n,\"l1\nl2\",?";
  const DelimitedColumns columns = read(text, 3);
  CHECK(columns.is_regular && columns.lines.size() == 3);
  CHECK(columns.is_text[0] == 0 && columns.is_text[1] == 1 && columns.is_text[2] == 0);
  CHECK(columns.numbers[0][0] == 1 && columns.numbers[0][1] == -25 && std::isnan(columns.numbers[0][2]));
  CHECK(std::isnan(columns.numbers[2][0]) && columns.numbers[2][1] == 7);
  CHECK(span(text, columns, 0) == "x" && span(text, columns, 1) == "a,\"\"b" && span(text, columns, 2) == "l1\nl2");
  CHECK(columns.text_quoted[0] == 0 && columns.text_quoted[1] == 1);
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
  CHECK(delimited_columns("1\n2\n", {',', 1, forced, {}}).text_starts.size() == 2);
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
    std::size_t n_text = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      n_text += columns.is_text[j];
      sound = sound && columns.numbers[j].size() == (columns.is_text[j] ? 0 : columns.lines.size());
    }
    sound = sound && columns.text_starts.size() == n_text * columns.lines.size();
    for (std::size_t t = 0; t < columns.text_starts.size(); ++t) {
      sound = sound && columns.text_starts[t] <= columns.text_ends[t];
      sound = sound && columns.text_ends[t] <= static_cast<std::int64_t>(text.size());
    }
    if (!sound) CHECK(sound);
  }
  CHECK(true);
}

}  // namespace

int main() {
  numbers_and_text();
  codes_stay_text();
  irregular_rows();
  mutants();
  return check::finish();
}

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "base/random.hpp"
#include "check.hpp"
#include "text/exact_decimal.hpp"

using namespace ramify;

namespace {

double exact(const std::string& text) { return exact_decimal(text.data(), text.data() + text.size()); }

void check_as_the_library(const std::string& text) {
  const double found = exact(text), expected = std::strtod(text.c_str(), nullptr);
  if (found != expected) std::fprintf(stderr, "%s: %a, not %a\n", text.c_str(), found, expected);
  CHECK(found == expected);
}

/// 800 digits: the middle between a double and the next, and a little to either side.
void check_middles(double low) {
  char text[1600];
  const double high = std::nextafter(low, std::numeric_limits<double>::infinity());
  for (const double value : {low, high}) {
    std::snprintf(text, sizeof text, "%.17e", value);
    check_as_the_library(text);
    std::snprintf(text, sizeof text, "%.780e", value);
    check_as_the_library(text);
  }
  if (low < 1e-290 || low > 1e290) return;
  const long double middle = (static_cast<long double>(low) + static_cast<long double>(high)) / 2;
  std::snprintf(text, sizeof text, "%.900Le", middle);
  check_as_the_library(text);
  char* const last = std::strchr(text, 'e') - 1;
  *last = '1';  // far behind, a digit that breaks the tie
  check_as_the_library(text);
}

void the_nearest_double_of_any_text() {
  Random random(7, 0);
  for (int i = 0; i < 1500; ++i) {
    std::uint64_t bits = random.next() >> 1;
    if (i % 3 == 0) bits &= (std::uint64_t{1} << 52) - 1;      // subnormal
    if (i % 50 == 0) bits &= ~((std::uint64_t{1} << 52) - 1);  // a power of two, or 0
    double value;
    std::memcpy(&value, &bits, sizeof value);
    if (std::isfinite(value)) check_middles(value);
  }
  for (int i = 0; i < 1500; ++i) {
    std::string text;
    const std::uint64_t n_digits = 1 + random.below(40), point = random.below(n_digits);
    for (std::uint64_t d = 0; d < n_digits; ++d) {
      if (d == point && d > 0) text += '.';
      text += static_cast<char>('0' + random.below(10));
    }
    text += "e" + std::to_string(static_cast<int>(random.below(700)) - 360);
    check_as_the_library(text);
  }
}

void the_ends_of_the_range() {
  for (const char* text :
       {"0", "0.000e5", "4.9406564584124654e-324", "2.4703282292062327e-324", "2.4703282292062328e-324",
        "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308", "1.7976931348623158e308",
        "1.7976931348623159e308", "179769313486231580793e289", "1e400", "1e-400", "0.1e-99999999999999", "1E+5",
        "00012.50", "9007199254740993"})
    check_as_the_library(text);
  CHECK(exact("1e99999999999999999999") == std::numeric_limits<double>::infinity());
  CHECK(exact("0." + std::string(5000, '0') + "1e5001") == 1.0);
  CHECK(exact("1" + std::string(5000, '0') + "e-5000") == 1.0);
}

}  // namespace

int main() {
  the_nearest_double_of_any_text();
  the_ends_of_the_range();
  return check::finish();
}

#include "text/decimal.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace ramify {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The nearest double of a text that is known to be a well-formed decimal number.
double nearest_double(const char* begin, const char* end) {
#if defined(__cpp_lib_to_chars)
  double value = 0;
  std::from_chars(begin, end, value);
  return value;
#else
  return std::strtod(std::string(begin, end).c_str(), nullptr);  // Python keeps numbers in the C locale
#endif
}

constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

/// Reads at most 15 digits with or without a point, as most cells are: both numbers below are exact, so one rounding
/// gives the nearest. False for anything else.
bool read_short_number(const char* begin, const char* end, double& value) {
  if (end - begin > 16) return false;
  std::uint64_t mantissa = 0;
  const char* point = nullptr;
  for (const char* p = begin; p < end; ++p) {
    if (is_digit(*p)) {
      mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p - '0');
    } else if (*p == '.' && !point) {
      point = p;
    } else {
      return false;
    }
  }
  const std::ptrdiff_t n_digits = end - begin - (point != nullptr);
  if (n_digits == 0 || n_digits > 15) return false;
  value = static_cast<double>(mantissa);
  if (point) value /= powers[end - point - 1];
  return true;
}

}  // namespace

NumberState read_number(const char* begin, const char* end, double& value) {
  const char* p = begin;
  const bool negative = p < end && *p == '-';
  if (p < end && (*p == '-' || *p == '+')) ++p;
  const char* digits = p;
  if (read_short_number(digits, end, value)) {
    if (negative) value = -value;
    return NumberState::good;
  }

  std::uint64_t mantissa = 0;
  int n_significant = 0;      // digits after leading zeros
  std::int64_t scale = 0;     // power of ten of the last digit kept in `mantissa`
  std::int64_t leading = -1;  // power of ten of the first significant digit, relative to the point
  std::size_t n_digits = 0;
  const auto take = [&](char c) {
    ++n_digits;
    if (n_significant == 0 && c == '0') return false;
    if (n_significant < 18) mantissa = mantissa * 10 + static_cast<std::uint64_t>(c - '0');
    ++n_significant;
    return n_significant <= 18;
  };
  std::int64_t n_integer = 0;  // significant digits before the point
  for (; p < end && is_digit(*p); ++p) {
    if (!take(*p) && n_significant > 0) ++scale;
    if (n_significant > 0) ++n_integer;
  }
  if (n_integer > 0) leading = n_integer;
  if (p < end && *p == '.') {
    std::int64_t place = 0;
    for (++p; p < end && is_digit(*p); ++p) {
      --place;
      const bool kept = take(*p);
      if (kept || n_significant == 0) --scale;
      if (n_significant == 1 && n_integer == 0) leading = place + 1;
    }
  }
  if (n_digits == 0) return NumberState::malformed;
  const bool is_zero = n_significant == 0;
  std::int64_t exponent = 0;
  if (p < end && (*p == 'e' || *p == 'E')) {
    ++p;
    const bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    if (p == end || !is_digit(*p)) return NumberState::malformed;
    for (; p < end && is_digit(*p); ++p) exponent = std::min<std::int64_t>(exponent * 10 + (*p - '0'), 1000000000000);
    if (minus) exponent = -exponent;
  }
  if (p != end) return NumberState::malformed;

  if (is_zero) {
    value = 0;
  } else if (leading + exponent > 310) {
    return NumberState::infinite;
  } else if (leading + exponent < -330) {
    value = 0;
  } else if (n_significant <= 18 && mantissa <= (std::uint64_t{1} << 53) && scale + exponent >= -22 &&
             scale + exponent <= 22) {
    const double exact = static_cast<double>(mantissa);  // both factors are exact, so one rounding is the nearest
    const std::int64_t power = scale + exponent;
    value = power < 0 ? exact / powers[-power] : exact * powers[power];
  } else {
    value = nearest_double(digits, end);
    if (value == 0 && leading + exponent > 0) return NumberState::infinite;  // out of range leaves 0 behind
  }
  if (std::isinf(value)) return NumberState::infinite;
  if (negative) value = -value;
  return NumberState::good;
}

}  // namespace ramify

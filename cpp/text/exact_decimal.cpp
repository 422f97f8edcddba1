#include "text/exact_decimal.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ramify {

namespace {

/// A whole number of any length, least significant part first, without leading zeros.
class Whole {
 public:
  explicit Whole(std::uint64_t value) {
    for (; value != 0; value >>= 32) parts_.push_back(static_cast<std::uint32_t>(value));
  }

  /// this * factor + addend
  void multiply(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = addend;
    for (std::uint32_t& part : parts_) {
      carry += static_cast<std::uint64_t>(part) * factor;
      part = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) parts_.push_back(static_cast<std::uint32_t>(carry));
  }

  void multiply_by_tens(std::int64_t exponent) {
    for (; exponent > 0; --exponent) multiply(10, 0);
  }

  void multiply_by_twos(std::int64_t exponent) {
    if (exponent <= 0) return;
    multiply(std::uint32_t{1} << (exponent % 32), 0);
    parts_.insert(parts_.begin(), static_cast<std::size_t>(exponent / 32), 0);
  }

  /// -1, 0 or 1 as this is less than, equal to or greater than the other.
  int compare(const Whole& other) const {
    if (parts_.size() != other.parts_.size()) return parts_.size() < other.parts_.size() ? -1 : 1;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      if (parts_[i] != other.parts_[i]) return parts_[i] < other.parts_[i] ? -1 : 1;
    }
    return 0;
  }

 private:
  std::vector<std::uint32_t> parts_;
};

/// digits * 10^exponent, and nearly the same in doubles.
struct Decimal {
  Whole digits{0};
  std::int64_t exponent = 0;
  double first_digits = 0;
  std::int64_t first_exponent = 0;
};

Decimal parsed(const char* p, const char* end) {
  constexpr int most = 800, first = 17;  // a digit beyond `most` can only say that the number is larger than those
  Decimal number;
  int n_digits = 0;
  bool after_point = false, any_beyond = false;
  std::int64_t n_beyond = 0, n_beyond_first = 0;
  for (; p < end && *p != 'e' && *p != 'E'; ++p) {
    if (*p == '.') {
      after_point = true;
      continue;
    }
    const auto digit = static_cast<std::uint32_t>(*p - '0');
    number.exponent -= after_point;
    n_digits += n_digits > 0 || digit > 0;
    if (n_digits <= first) {
      number.first_digits = number.first_digits * 10 + digit;
    } else {
      ++n_beyond_first;
    }
    if (n_digits <= most) {
      number.digits.multiply(10, digit);
    } else {
      ++n_beyond;
      any_beyond = any_beyond || digit > 0;
    }
  }
  if (p < end) {
    const bool minus = *++p == '-';
    if (*p == '-' || *p == '+') ++p;
    std::int64_t exponent = 0;
    for (; p < end; ++p) exponent = std::min<std::int64_t>(exponent * 10 + (*p - '0'), 1000000000000);
    number.exponent += minus ? -exponent : exponent;
  }
  number.first_exponent = number.exponent + n_beyond_first;
  number.exponent += n_beyond;
  if (any_beyond) {
    number.digits.multiply(10, 1);
    --number.exponent;
  }
  return number;
}

/// -1, 0 or 1 as the number is less than, equal to or greater than `whole` * 2^exponent.
int compare(const Decimal& number, std::uint64_t whole, std::int64_t exponent) {
  Whole left = number.digits, right(whole);
  left.multiply_by_tens(number.exponent);
  right.multiply_by_tens(-number.exponent);
  left.multiply_by_twos(-exponent);
  right.multiply_by_twos(exponent);
  return left.compare(right);
}

}  // namespace

double exact_decimal(const char* begin, const char* end) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr int smallest_exponent = -1074;
  const Decimal number = parsed(begin, end);
  if (number.first_digits == 0 || number.first_exponent < -400) return 0;
  if (number.first_exponent > 400) return infinity;
  const auto half = static_cast<double>(number.first_exponent / 2);
  double guess = number.first_digits * std::pow(10.0, half);
  guess *= std::pow(10.0, static_cast<double>(number.first_exponent) - half);
  guess = std::min(guess, std::numeric_limits<double>::max());
  // The guess is a few steps away at most: step on while the number is beyond the middle to the next double.
  while (guess < infinity) {
    int binary_exponent = smallest_exponent;
    if (guess > 0) std::frexp(guess, &binary_exponent);
    const int exponent = std::max(binary_exponent - 53, smallest_exponent);
    const auto whole = static_cast<std::uint64_t>(std::ldexp(guess, -exponent));
    const int tie = whole % 2 == 0 ? 1 : 0;  // an even double keeps what lies in the middle
    const bool smaller_below = whole == std::uint64_t{1} << 52 && exponent > smallest_exponent;
    const std::uint64_t below = smaller_below ? 4 * whole - 1 : 2 * whole - 1;
    if (guess > 0 && compare(number, below, exponent - (smaller_below ? 2 : 1)) < 1 - tie) {
      guess = std::nextafter(guess, 0.0);
    } else if (compare(number, 2 * whole + 1, exponent - 1) > tie - 1) {
      guess = std::nextafter(guess, infinity);
    } else {
      return guess;
    }
  }
  return guess;
}

}  // namespace ramify

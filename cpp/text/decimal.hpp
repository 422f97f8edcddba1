// Decimal numbers as text.
#pragma once

namespace ramify {

enum class NumberState { good, malformed, infinite };

/// Reads `[+-]digits[.digits][e[+-]digits]`, the whole of [begin, end), rounded to the nearest double.
///
/// A number too small becomes 0, one too large is `infinite`; names such as inf and nan are malformed.
NumberState read_number(const char* begin, const char* end, double& value);

}  // namespace ramify

/// Decimal numbers to the nearest double by whole numbers of any length: slow, exact, and the same on every machine.
#pragma once

namespace ramify {

/// The double nearest to `digits[.digits][e[+-]digits]`, which must be well-formed, ties to even: infinity if it is too
/// large, 0 if too small, subnormal in between.
double exact_decimal(const char* begin, const char* end);

}  // namespace ramify

/// Sums of numbers that are the same in any order.
#pragma once

#include <cmath>

namespace ramify {

/// Rounds numbers to multiples of a power of two, so coarse that adding up multiples rounds nothing: the sum of rows
/// does not depend on the order of the rows, nor on how they are parted among threads or machines. A sum of n terms is
/// off by at most n times half a multiple, which is about 2^-51 of its bound.
class Grid {
 public:
  /// `bound` is at least the sum of the absolute values of all terms that are ever added up.
  explicit Grid(double bound) {
    int exponent = 0;
    std::frexp(bound, &exponent);                  // bound < 2^exponent
    magic_ = 1.5 * std::ldexp(1.0, exponent + 1);  // its last bit is 2^(exponent - 51)
  }

  double rounded(double value) const { return (value + magic_) - magic_; }

 private:
  double magic_;
};

}  // namespace ramify
